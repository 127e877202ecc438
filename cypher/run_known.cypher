// Which of these nodes the run has a value, a failure or a request for.
// Parameters: $run, $keys.
// Plan: unique index seeks, Expand(Into). Cost: one trip of a write transaction.
MATCH (r:GraphboRun {name: $run})
UNWIND $keys AS key
MATCH (n:{{labels}}) WHERE {{key n}} = key
RETURN key, EXISTS { (r)-[:GRAPHBO_OBSERVED|GRAPHBO_PENDING|GRAPHBO_FAILED]->(n) } AS known
