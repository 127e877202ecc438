// Takes back a node that was handed out. The run's lock is held.
// Parameters: $run, $step, $node (properties of the node; null removes one).
// Plan: a unique index seek and the run's pending relationships. Cost: one trip of a write transaction.
MATCH (r:GraphboRun {name: $run})-[p:GRAPHBO_PENDING {step: $step}]->(n)
FOREACH (label IN CASE WHEN p.label IS NULL THEN [] ELSE [p.label] END | REMOVE n:$(label))
DELETE p
SET n += $node
SET r.updatedAt = datetime.realtime()
