// Nodes that are proposed again. The run's lock is held.
// Parameters: $run, $ids (element ids, from run_known.cypher), $counters (of the run).
// Plan: a unique index seek and the run's excluded relationships. Cost: one trip of a write transaction; grows with what is
// excluded.
MATCH (r:GraphboRun {name: $run})
SET r += $counters, r.updatedAt = datetime.realtime()
WITH r
MATCH (r)-[x:GRAPHBO_EXCLUDED]->(n) WHERE elementId(n) IN $ids
DELETE x
