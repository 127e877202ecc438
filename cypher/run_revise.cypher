// Notes something beside what was asked for or told at a step, such as values that came late. The run's lock is held.
// Parameters: $run, $step, $properties and $node, properties of the node (null removes one), $counters (of the run).
// Plan: unique index seeks and the run's pending and failed relationships. Cost: one trip of a write transaction.
MATCH (r:GraphboRun {name: $run})
OPTIONAL MATCH ()-[observed:GRAPHBO_OBSERVED {run: $run, step: $step}]->(n)
OPTIONAL MATCH (r)-[other:GRAPHBO_PENDING|GRAPHBO_FAILED {step: $step}]->(m)
SET observed += $properties, other += $properties, n += $node, m += $node
SET r += $counters, r.updatedAt = datetime.realtime()
