// Takes the run's write lock for the rest of the transaction, then looks at all that asking and telling depend on. The SET
// comes first: two clients that both looked before either wrote would be handed the same node.
// Parameters: $run, $token; $candidates (keys, best first); $steps and $keys, of what is told; $since (a seq).
// Plan: unique index seeks and the run's own relationships. Cost: one trip of a write transaction; does not grow with the
// graph, and with the history only when somebody else has told something.
MATCH (r:GraphboRun {name: $run})
SET r.lockedBy = $token
WITH r,
  COLLECT {
    UNWIND range(0, size($candidates) - 1) AS i
    MATCH (n:{{labels}}) WHERE {{key n}} = $candidates[i]
      AND NOT EXISTS { (r)-[:GRAPHBO_OBSERVED|GRAPHBO_PENDING|GRAPHBO_FAILED|GRAPHBO_EXCLUDED]->(n) }
    RETURN i ORDER BY i LIMIT 1
  } AS free
RETURN properties(r) AS run,
  {{use pending}}
  free,
  COLLECT {
    UNWIND free AS i
    MATCH (n:{{labels}}) WHERE {{key n}} = $candidates[i]
    RETURN {id: elementId(n), labels: labels(n), properties: keys(n)}
  } AS found,
  COLLECT {
    UNWIND $steps AS step
    MATCH ()-[o:GRAPHBO_OBSERVED {run: $run, step: step}]->(n)
    RETURN {properties: properties(o), key: {{key n}}, held: labels(n) + keys(n)}
  } + COLLECT {
    UNWIND $steps AS step
    MATCH (r)-[o:GRAPHBO_FAILED {step: step}]->(n)
    RETURN {properties: properties(o), key: {{key n}}, held: labels(n) + keys(n)}
  } + COLLECT {
    UNWIND $keys AS key
    MATCH (n:{{labels}}) WHERE {{key n}} = key
    MATCH (r)-[o:GRAPHBO_OBSERVED|GRAPHBO_FAILED]->(n)
    RETURN {properties: properties(o), key: {{key n}}, held: labels(n) + keys(n)}
  } AS told,
  {{use news}}
