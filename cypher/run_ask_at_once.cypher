// Takes the run's write lock, looks at it as run_lock.cypher does, and hands a node out as run_ask.cypher does, if nobody has
// it: for a worker that is alone with its run and knows what it will find. The transaction is committed only if the rules, given
// what was found, would have handed out just that.
// Parameters: $run, $token, $since (a seq), $key, $properties (of GRAPHBO_PENDING), $lease (milliseconds, or null), $counters
// (of the run).
// Plan: unique index seeks and the run's own relationships. Cost: one trip, and one to commit.
MATCH (r:GraphboRun {name: $run})
SET r.lockedBy = $token
WITH r, properties(r) AS run,
  {{use pending}}
  {{use news}}
CALL (r) {
  MATCH (n:{{labels}}) WHERE {{key n}} = $key
    AND NOT EXISTS { (r)-[:GRAPHBO_OBSERVED|GRAPHBO_PENDING|GRAPHBO_FAILED|GRAPHBO_EXCLUDED]->(n) }
  WITH r, n, {id: elementId(n), labels: labels(n), properties: keys(n)} AS before
  CREATE (r)-[p:GRAPHBO_PENDING]->(n)
  SET p = $properties, p.leaseUntil = datetime.realtime().epochMillis + $lease, p.at = datetime.realtime()
  FOREACH (label IN CASE WHEN p.label IS NULL THEN [] ELSE [p.label] END | SET n:$(label))
  SET r += $counters, r.updatedAt = datetime.realtime()
  RETURN count(p) AS written, collect(before) AS found
}
RETURN run, pending, news, written, found
