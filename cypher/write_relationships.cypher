// Creates the nodes and relationships that are missing and sets the relationships' properties.
// Parameters: $rows, each pair once, a list of {source, target, properties}.
// Plan: locking unique index seeks, Expand(Into). Cost: one write transaction; `python benchmarks/stores.py` prints the rate.
UNWIND $rows AS row
MERGE (a:{{label}} { {{key}}: row.source })
MERGE (b:{{to label}} { {{to key}}: row.target })
MERGE (a)-[r:{{type}}]->(b)
// Only what differs is written, so that loading a graph again writes nothing.
WITH r, row
WHERE any(name IN keys(row.properties) WHERE coalesce(r[name] <> row.properties[name], true))
SET r += row.properties
