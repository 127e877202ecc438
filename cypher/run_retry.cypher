// Gives failures back for another try: their nodes may be asked for again, and the record of what failed stays. The run's lock is
// held.
// Parameters: $run, $steps, $counters (of the run).
// Plan: a unique index seek and the run's failed relationships. Cost: one trip of a write transaction; grows with the failures.
MATCH (r:GraphboRun {name: $run})
SET r += $counters, r.updatedAt = datetime.realtime()
WITH r
MATCH (r)-[failed:GRAPHBO_FAILED]->(n) WHERE failed.step IN $steps
CREATE (r)-[kept:GRAPHBO_RETRIED]->(n)
SET kept = properties(failed), kept.retriedAt = datetime.realtime()
DELETE failed
