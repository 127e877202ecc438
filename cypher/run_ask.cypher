// Hands a node out. The run's lock is held.
// Parameters: $run, $key, $properties (of GRAPHBO_PENDING), $lease (milliseconds, or null), $counters (of the run).
// Plan: two unique index seeks. Cost: one trip of a write transaction.
MATCH (r:GraphboRun {name: $run})
MATCH (n:{{labels}}) WHERE {{key n}} = $key
CREATE (r)-[p:GRAPHBO_PENDING]->(n)
SET p = $properties, p.leaseUntil = datetime.realtime().epochMillis + $lease, p.at = datetime.realtime()
FOREACH (label IN CASE WHEN p.label IS NULL THEN [] ELSE [p.label] END | SET n:$(label))
SET r += $counters, r.updatedAt = datetime.realtime()
