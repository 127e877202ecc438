// Records values that were known before. The run's lock is held; nodes that have a value already are not among the rows.
// Parameters: $run, $rows, a list of {id (an element id, from run_known.cypher), properties (of GRAPHBO_OBSERVED), node
// (properties)}, $labels, $counters.
// Plan: a unique index seek, and a seek by id for each row: by key, all nodes would be held for each row where the index is
// gone. Cost: one trip of a write transaction; grows with the rows.
MATCH (r:GraphboRun {name: $run})
SET r += $counters, r.updatedAt = datetime.realtime()
WITH r
UNWIND $rows AS row
MATCH (n) WHERE elementId(n) = row.id
CREATE (r)-[o:GRAPHBO_OBSERVED]->(n)
SET o = row.properties, o.at = datetime.realtime(), n += row.node
FOREACH (label IN $labels | SET n:$(label))
