// Nodes that are not proposed any more. The run's lock is held; nodes that are excluded already are not among the rows.
// Parameters: $run, $rows, a list of {id (an element id, from run_known.cypher), properties (of GRAPHBO_EXCLUDED)}, $counters (of
// the run).
// Plan: a unique index seek, and a seek by id for each row. Cost: one trip of a write transaction; grows with the rows.
MATCH (r:GraphboRun {name: $run})
SET r += $counters, r.updatedAt = datetime.realtime()
WITH r
UNWIND $rows AS row
MATCH (n) WHERE elementId(n) = row.id
CREATE (r)-[x:GRAPHBO_EXCLUDED]->(n)
SET x = row.properties, x.at = datetime.realtime()
