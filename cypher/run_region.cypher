// Notes which nodes are marked as the current region, and what was written there, in place of what was noted before. The run's lock
// is held.
// Parameters: $run, $rows, a list of {id (an element id), properties (of GRAPHBO_REGION)}.
// Plan: a unique index seek, the run's own relationships, and a seek by id for each row. Cost: one trip of a write transaction;
// grows with the region.
MATCH (r:GraphboRun {name: $run})
CALL (r) {
  MATCH (r)-[old:GRAPHBO_REGION]->()
  DELETE old
}
WITH DISTINCT r
UNWIND $rows AS row
MATCH (n) WHERE elementId(n) = row.id
CREATE (r)-[g:GRAPHBO_REGION]->(n)
SET g = row.properties, g.run = $run, g.seq = r.seq, g.at = datetime.realtime()
