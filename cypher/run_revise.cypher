// Notes something beside what was asked for or told at a step, such as values that came late. The run's lock is held.
// Parameters: $run, $step, $properties (null removes one).
// Plan: unique index seeks and the run's pending and failed relationships. Cost: one trip of a write transaction.
MATCH (r:GraphboRun {name: $run})
OPTIONAL MATCH ()-[observed:GRAPHBO_OBSERVED {run: $run, step: $step}]->()
OPTIONAL MATCH (r)-[other:GRAPHBO_PENDING|GRAPHBO_FAILED {step: $step}]->()
SET observed += $properties, other += $properties
SET r.updatedAt = datetime.realtime()
