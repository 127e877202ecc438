// Every node that a run has to do with, with the names of its labels and properties. The run's lock is held.
// Parameters: $run.
// Plan: a unique index seek and the run's own relationships. Cost: one trip of a write transaction; grows with the run's history.
MATCH (r:GraphboRun {name: $run})-[o:GRAPHBO_OBSERVED|GRAPHBO_PENDING|GRAPHBO_FAILED|GRAPHBO_RETRIED|GRAPHBO_RETRACTED|GRAPHBO_REGION]->(n)
RETURN type(o) AS type, properties(o) AS record, elementId(n) AS id, labels(n) + keys(n) AS held
