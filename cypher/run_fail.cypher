// Turns what is pending into what has failed. The run's lock is held.
// Parameters: $run, $step, $properties (of GRAPHBO_FAILED), $node (properties; null removes one), $counters (of the run).
// Plan: a unique index seek and the run's pending relationships. Cost: one trip of a write transaction.
MATCH (r:GraphboRun {name: $run})-[p:GRAPHBO_PENDING {step: $step}]->(n)
CREATE (r)-[o:GRAPHBO_FAILED]->(n)
SET o = $properties, o.at = datetime.realtime()
FOREACH (label IN CASE WHEN p.label IS NULL THEN [] ELSE [p.label] END | REMOVE n:$(label))
DELETE p
SET n += $node
SET r += $counters, r.updatedAt = datetime.realtime()
RETURN o.at AS at
