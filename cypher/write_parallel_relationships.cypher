// Creates the nodes and relationships that are missing; one relationship for each different set of properties of a pair.
// Parameters: $rows, each once, a list of {source, target, properties}.
// Plan: locking unique index seeks, Expand(Into). Cost: one write transaction; grows with the relationships of a pair.
UNWIND $rows AS row
MERGE (a:{{label}} { {{key}}: row.source })
MERGE (b:{{to label}} { {{to key}}: row.target })
WITH a, b, row
WHERE NOT EXISTS { MATCH (a)-[r:{{type}}]->(b) WHERE properties(r) = row.properties }
CREATE (a)-[r:{{type}}]->(b)
SET r = row.properties
