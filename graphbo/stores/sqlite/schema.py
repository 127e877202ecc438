"""The tables of a SQLite file."""

__all__ = ["APPLICATION_ID", "SCHEMA", "SCHEMA_VERSION", "UPGRADES"]

#: "graphbo" in the file's header tells our files from other SQLite databases.
APPLICATION_ID = 0x67626F31
SCHEMA_VERSION = 5

# The first label of a node is in its row; its rowid is its internal id. Each relationship has a row at both of its
# ends, so that both directions are one index range; parallel ones of a type are numbered. Counts are kept, since
# counting would be a scan.
NODE_SCHEMA = """
CREATE TABLE label (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, key TEXT, nodes INTEGER NOT NULL DEFAULT 0,
  further INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE type (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, relationships INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE node (
  id INTEGER PRIMARY KEY, label INTEGER NOT NULL REFERENCES label, key NOT NULL,
  properties TEXT NOT NULL, UNIQUE (label, key)
);
CREATE INDEX node_label ON node (label);
CREATE TRIGGER node_deleted AFTER DELETE ON node BEGIN
  UPDATE label SET nodes = nodes - 1 WHERE id = old.label;
END;
"""

# The labels of a node beside its first, with the value that the label's key property has there. How many nodes have a
# label so is counted, since for a label that no node has so nobody need look here.
FURTHER_SCHEMA = """
CREATE TABLE further (
  node INTEGER NOT NULL, label INTEGER NOT NULL, key, PRIMARY KEY (node, label)
) WITHOUT ROWID;
CREATE INDEX further_label ON further (label, node);
CREATE INDEX further_key ON further (label, key) WHERE key IS NOT NULL;
CREATE TRIGGER further_inserted AFTER INSERT ON further BEGIN
  UPDATE label SET nodes = nodes + 1, further = further + 1 WHERE id = new.label;
END;
CREATE TRIGGER further_deleted AFTER DELETE ON further BEGIN
  UPDATE label SET nodes = nodes - 1, further = further - 1 WHERE id = old.label;
END;
CREATE TRIGGER node_deleted_further AFTER DELETE ON node BEGIN
  DELETE FROM further WHERE node = old.id;
END;
"""

RELATIONSHIP_SCHEMA = """
CREATE TABLE relationship (
  node INTEGER NOT NULL, type INTEGER NOT NULL, outgoing INTEGER NOT NULL, other INTEGER NOT NULL,
  number INTEGER NOT NULL DEFAULT 0, properties TEXT NOT NULL,
  PRIMARY KEY (node, type, outgoing, other, number)
) WITHOUT ROWID;
CREATE TRIGGER relationship_deleted AFTER DELETE ON relationship WHEN old.outgoing BEGIN
  UPDATE type SET relationships = relationships - 1 WHERE id = old.type;
END;
"""

# The properties are those that Neo4j would have on the run and its relationships. Labels are left out: there is
# no Browser to colour by them.
RUN_SCHEMA = """
CREATE TABLE run (name TEXT PRIMARY KEY, prefix TEXT NOT NULL UNIQUE, properties TEXT NOT NULL) WITHOUT ROWID;
"""

# A node occurs once in a run, but for failures of it that were given back for another try, and for values that were
# retracted.
EVENT_SCHEMA = """
CREATE TABLE event (
  run TEXT NOT NULL, step INTEGER NOT NULL, kind TEXT NOT NULL, seq INTEGER, node INTEGER NOT NULL,
  properties TEXT NOT NULL, PRIMARY KEY (run, step)
) WITHOUT ROWID;
CREATE UNIQUE INDEX event_node ON event (run, node) WHERE kind NOT IN ('retried', 'retracted');
CREATE INDEX event_seq ON event (run, seq);
"""

# The nodes that are not proposed in a run, whatever else it has to do with them.
EXCLUSION_SCHEMA = """
CREATE TABLE exclusion (
  run TEXT NOT NULL, node INTEGER NOT NULL, properties TEXT NOT NULL, PRIMARY KEY (run, node)
) WITHOUT ROWID;
"""

# Values may be retracted.
INDEX_EVENTS_ANEW = """
DROP INDEX event_node;
CREATE UNIQUE INDEX event_node ON event (run, node) WHERE kind NOT IN ('retried', 'retracted');
"""

# The first tables of events let a node occur once and for all, which cannot be taken back from a table.
MOVE_EVENTS = f"""
DROP INDEX event_seq;
ALTER TABLE event RENAME TO old_event;
{EVENT_SCHEMA}
INSERT INTO event (run, step, kind, seq, node, properties)
SELECT run, step, kind, seq, node, properties FROM old_event;
DROP TABLE old_event;
"""

# How many relationships a node has: counting a hub's would take longer than all else. A relationship from a node to
# itself is one of each kind, but one neighbour only.
DEGREE_TABLE = """
CREATE TABLE degree (
  node INTEGER NOT NULL, type INTEGER NOT NULL,
  outgoing INTEGER NOT NULL, incoming INTEGER NOT NULL, loops INTEGER NOT NULL, PRIMARY KEY (node, type)
) WITHOUT ROWID;
"""

DEGREE_TRIGGERS = """
CREATE TRIGGER degree_grows AFTER INSERT ON relationship BEGIN
  INSERT INTO degree
  VALUES (new.node, new.type, new.outgoing, NOT new.outgoing, new.outgoing AND new.other = new.node)
  ON CONFLICT DO UPDATE SET outgoing = outgoing + excluded.outgoing,
    incoming = incoming + excluded.incoming, loops = loops + excluded.loops;
END;
CREATE TRIGGER degree_shrinks AFTER DELETE ON relationship BEGIN
  UPDATE degree SET outgoing = outgoing - old.outgoing, incoming = incoming - NOT old.outgoing,
    loops = loops - (old.outgoing AND old.other = old.node)
  WHERE node = old.node AND type = old.type;
END;
"""

COUNT_DEGREES = """
INSERT INTO degree
SELECT node, type, sum(outgoing), sum(NOT outgoing), sum(outgoing AND other = node)
FROM relationship GROUP BY node, type;
"""

# A table's primary key cannot be changed. The counts of degrees stay: their triggers are made anew last.
MOVE_RELATIONSHIPS = f"""
DROP TRIGGER relationship_deleted;
DROP TRIGGER degree_grows;
DROP TRIGGER degree_shrinks;
ALTER TABLE relationship RENAME TO old_relationship;
{RELATIONSHIP_SCHEMA}
INSERT INTO relationship (node, type, outgoing, other, number, properties)
SELECT node, type, outgoing, other, 0, properties FROM old_relationship ORDER BY node, type, outgoing, other;
DROP TABLE old_relationship;
ALTER TABLE label ADD COLUMN further INTEGER NOT NULL DEFAULT 0;
"""

SCHEMA = (
    NODE_SCHEMA
    + FURTHER_SCHEMA
    + RELATIONSHIP_SCHEMA
    + RUN_SCHEMA
    + EVENT_SCHEMA
    + EXCLUSION_SCHEMA
    + DEGREE_TABLE
    + DEGREE_TRIGGERS
)

#: What makes a file of an earlier version one of the next.
UPGRADES = {
    1: DEGREE_TABLE + DEGREE_TRIGGERS + COUNT_DEGREES,
    2: MOVE_EVENTS,
    3: MOVE_RELATIONSHIPS + FURTHER_SCHEMA + DEGREE_TRIGGERS,
    4: INDEX_EVENTS_ANEW + EXCLUSION_SCHEMA,
}
