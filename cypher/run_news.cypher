// A run, what is being measured, what is excluded, and what was told since. Run state is read where it is written: a follower may lag.
// Parameters: $run, $since (a seq).
// Plan: a unique index seek, then the run's own relationships. Cost: one round trip; grows with the run's history, not
// with the graph.
MATCH (r:GraphboRun {name: $run})
RETURN properties(r) AS run,
  {{use pending}}
  {{use excluded}}
  {{use news}}
