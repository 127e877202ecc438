"""Neo4j: the graph is read by Cypher, and runs are kept as nodes and relationships."""
