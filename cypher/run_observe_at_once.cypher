// Takes the run's write lock, looks at it as run_lock.cypher does, and turns what is pending into what is observed as
// run_observe.cypher does: for a worker that is alone with its run and knows what it will find. The transaction is committed only
// if the rules, given what was found, would have recorded just that.
// Parameters: $run, $token, $since (a seq), $step, $properties (of GRAPHBO_OBSERVED), $node (properties), $labels, $counters (of
// the run), $best (a list of no or one label), $old (a step, or null).
// Plan: unique index seeks and the run's own relationships. Cost: one trip, and one to commit.
MATCH (r:GraphboRun {name: $run})
SET r.lockedBy = $token
WITH r, properties(r) AS run,
  {{use pending}}
  {{use news}}
CALL (r) {
  MATCH (r)-[p:GRAPHBO_PENDING {step: $step}]->(n)
  OPTIONAL MATCH ()-[:GRAPHBO_OBSERVED {run: $run, step: $old}]->(before)
  FOREACH (label IN $best | REMOVE before:$(label))
  CREATE (r)-[o:GRAPHBO_OBSERVED]->(n)
  SET o = $properties, o.at = datetime.realtime()
  FOREACH (label IN CASE WHEN p.label IS NULL THEN [] ELSE [p.label] END | REMOVE n:$(label))
  DELETE p
  SET n += $node
  FOREACH (label IN $labels + $best | SET n:$(label))
  SET r += $counters, r.updatedAt = datetime.realtime()
  RETURN count(o) AS written, max(o.at) AS at
}
RETURN run, pending, news, written, at
