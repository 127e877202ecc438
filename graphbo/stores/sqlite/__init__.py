"""An embedded SQLite file that behaves as Neo4j does: for a first try, and for everything in memory."""
