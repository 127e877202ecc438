// Turns what is pending, or has failed, into what is observed, and writes the node's properties and labels. The run's lock is held.
// Parameters: $run, $step, $properties (of GRAPHBO_OBSERVED), $node (properties), $labels, $counters (of the run); $best, the
// label that moves here if this is the best so far, in a list, and $old, the step of the node that has it, or null.
// Plan: unique index seeks and the run's pending and failed relationships. Cost: one trip of a write transaction.
MATCH (r:GraphboRun {name: $run})-[p:GRAPHBO_PENDING|GRAPHBO_FAILED {step: $step}]->(n)
OPTIONAL MATCH ()-[:GRAPHBO_OBSERVED {run: $run, step: $old}]->(before)
FOREACH (label IN $best | REMOVE before:$(label))
CREATE (r)-[o:GRAPHBO_OBSERVED]->(n)
SET o = $properties, o.at = datetime.realtime()
FOREACH (label IN CASE WHEN p.label IS NULL THEN [] ELSE [p.label] END | REMOVE n:$(label))
DELETE p
SET n += $node
FOREACH (label IN $labels + $best | SET n:$(label))
SET r += $counters, r.updatedAt = datetime.realtime()
RETURN o.at AS at
