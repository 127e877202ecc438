// Records values that were known before. The run's lock is held; nodes that have a value already are not among the rows.
// Parameters: $run, $rows, a list of {key, properties (of GRAPHBO_OBSERVED), node (properties)}, $labels, $counters.
// Plan: unique index seeks. Cost: one trip of a write transaction.
MATCH (r:GraphboRun {name: $run})
SET r += $counters, r.updatedAt = datetime.realtime()
WITH r
UNWIND $rows AS row
MATCH (n:{{labels}}) WHERE {{key n}} = row.key
CREATE (r)-[o:GRAPHBO_OBSERVED]->(n)
SET o = row.properties, o.at = datetime.realtime(), n += row.node
FOREACH (label IN $labels | SET n:$(label))
