// Deletes a run with its whole record. The run's lock is held, and nothing of it is on other nodes any more.
// Parameters: $run.
// Plan: a unique index seek and the run's own relationships. Cost: one trip of a write transaction; grows with the run's history.
MATCH (r:GraphboRun {name: $run})
DETACH DELETE r
