"""The tables of a SQLite file."""

__all__ = ["APPLICATION_ID", "SCHEMA", "SCHEMA_VERSION"]

#: "graphbo" in the file's header tells our files from other SQLite databases.
APPLICATION_ID = 0x67626F31
SCHEMA_VERSION = 1

# A node has one label, as `load` gives it. Its rowid is its internal id. Each relationship has a row at both of its
# ends, so that both directions are one index range. Counts are kept, since counting would be a scan.
GRAPH_SCHEMA = """
CREATE TABLE label (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, key TEXT, nodes INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE type (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, relationships INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE node (
  id INTEGER PRIMARY KEY, label INTEGER NOT NULL REFERENCES label, key NOT NULL,
  properties TEXT NOT NULL, UNIQUE (label, key)
);
CREATE INDEX node_label ON node (label);
CREATE TABLE relationship (
  node INTEGER NOT NULL, type INTEGER NOT NULL, outgoing INTEGER NOT NULL, other INTEGER NOT NULL,
  properties TEXT NOT NULL, PRIMARY KEY (node, type, outgoing, other)
) WITHOUT ROWID;
CREATE TRIGGER node_deleted AFTER DELETE ON node BEGIN
  UPDATE label SET nodes = nodes - 1 WHERE id = old.label;
END;
CREATE TRIGGER relationship_deleted AFTER DELETE ON relationship WHEN old.outgoing BEGIN
  UPDATE type SET relationships = relationships - 1 WHERE id = old.type;
END;
"""

# The properties are those that Neo4j would have on the run and its relationships. Labels are left out: there is
# no Browser to colour by them.
RUN_SCHEMA = """
CREATE TABLE run (name TEXT PRIMARY KEY, prefix TEXT NOT NULL UNIQUE, properties TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE event (
  run TEXT NOT NULL, step INTEGER NOT NULL, kind TEXT NOT NULL, seq INTEGER, node INTEGER NOT NULL,
  properties TEXT NOT NULL, PRIMARY KEY (run, step), UNIQUE (run, node)
) WITHOUT ROWID;
CREATE INDEX event_seq ON event (run, seq);
"""

SCHEMA = GRAPH_SCHEMA + RUN_SCHEMA
