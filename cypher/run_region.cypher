// Writes what is believed now onto the nodes of the current region, in place of what was there. The run's lock is held.
// Parameters: $run, $rows, a list of {key, node (properties)}, $node (the same properties, all null), $labels.
// Plan: unique index seeks and the run's own relationships. Cost: one trip of a write transaction; grows with the region.
MATCH (r:GraphboRun {name: $run})
CALL (r) {
  MATCH (r)-[old:GRAPHBO_REGION]->(n)
  SET n += $node
  FOREACH (label IN $labels | REMOVE n:$(label))
  DELETE old
}
WITH DISTINCT r
UNWIND $rows AS row
MATCH (n:{{labels}}) WHERE {{key n}} = row.key
CREATE (r)-[g:GRAPHBO_REGION]->(n)
SET g = {run: $run, seq: r.seq, at: datetime.realtime()}, n += row.node
FOREACH (label IN $labels | SET n:$(label))
