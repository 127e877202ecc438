"""Find the best node of a graph that lives in Neo4j when judging a node is expensive."""

__version__ = "0.1.0"
