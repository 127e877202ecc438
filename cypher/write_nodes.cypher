// Creates the nodes that are missing and sets their properties.
// Parameters: $rows, each node once, a list of {key, properties}; $labels, which all of them get as well.
// Plan: a locking unique index seek per row. Cost: one write transaction; `python benchmarks/stores.py` prints the rate.
UNWIND $rows AS row
MERGE (n:{{label}} { {{key}}: row.key })
FOREACH (label IN $labels | SET n:$(label))
// Only what differs is written, so that loading a graph again writes nothing.
WITH n, row
WHERE any(name IN keys(row.properties) WHERE coalesce(n[name] <> row.properties[name], true))
SET n += row.properties
