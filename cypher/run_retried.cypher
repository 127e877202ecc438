// The failures of a run that were given back for another try, and the values that were retracted.
// Parameters: $run.
// Plan: a unique index seek and the run's own relationships. Cost: one round trip; grows with what was given back.
MATCH (r:GraphboRun {name: $run})-[o:GRAPHBO_RETRIED|GRAPHBO_RETRACTED]->(n)
RETURN properties(o) AS properties, {{key n}} AS key
ORDER BY o.seq
