// Removes every trace of a run: properties and labels of the nodes it touched, its relationships and itself.
// Parameters: $run, $node (the prefix's properties, all null), $labels.
// Plan: a unique index seek and the run's own relationships. Cost: one write transaction; grows with the run's history.
MATCH (r:GraphboRun {name: $run})
CALL (r) {
  MATCH (r)-[:GRAPHBO_OBSERVED|GRAPHBO_PENDING|GRAPHBO_FAILED|GRAPHBO_REGION]->(n)
  WITH DISTINCT n
  SET n += $node
  FOREACH (label IN $labels | REMOVE n:$(label))
}
WITH DISTINCT r
DETACH DELETE r
