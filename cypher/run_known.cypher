// The nodes that have these keys, with the names of their labels and properties, which of them the run has a value, a failure
// or a request for, and which are excluded from it.
// Parameters: $run, $keys.
// Plan: unique index seeks for the whole list at once, and the run's own relationships, once. A plan for each key would be as
// quick with an index, but a scan for each key without one. Cost: one trip of a write transaction; grows with the keys and with
// the run's history.
MATCH (r:GraphboRun {name: $run})
RETURN
  COLLECT {
    MATCH (n:{{labels}}) WHERE {{key n}} IN $keys
    RETURN {key: {{key n}}, id: elementId(n), labels: labels(n), properties: keys(n)}
  } AS found,
  COLLECT {
    MATCH (r)-[:GRAPHBO_OBSERVED|GRAPHBO_PENDING|GRAPHBO_FAILED]->(n) WHERE {{key n}} IN $keys
    RETURN elementId(n)
  } AS known,
  COLLECT {
    MATCH (r)-[:GRAPHBO_EXCLUDED]->(n) WHERE {{key n}} IN $keys
    RETURN elementId(n)
  } AS excluded
