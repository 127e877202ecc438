// Keeps values that came late beside what was observed at a step, or beside its failure. The run's lock is held.
// Parameters: $run, $step, $late (all of them).
// Plan: unique index seeks and the run's failed relationships. Cost: one trip of a write transaction.
MATCH (r:GraphboRun {name: $run})
OPTIONAL MATCH ()-[observed:GRAPHBO_OBSERVED {run: $run, step: $step}]->()
OPTIONAL MATCH (r)-[failed:GRAPHBO_FAILED {step: $step}]->()
SET observed.late = $late, failed.late = $late
SET r.updatedAt = datetime.realtime()
