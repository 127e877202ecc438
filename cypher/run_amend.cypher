// Changes what was observed at a step. The run's lock is held.
// Parameters: $run, $step, $properties (of GRAPHBO_OBSERVED), $node (properties), $counters (of the run).
// Plan: two unique index seeks. Cost: one trip of a write transaction.
MATCH (r:GraphboRun {name: $run})
MATCH ()-[o:GRAPHBO_OBSERVED {run: $run, step: $step}]->(n)
SET o += $properties, n += $node
SET r += $counters, r.updatedAt = datetime.realtime()
