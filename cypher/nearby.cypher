// The nodes one hop from a set of nodes along relationships and paths, in a view with connectors, paths or a filter, apart from
// those in the set.
// Candidates come in seeded order; if $nearest, the nearest along paths first. Connectors come in seeded order; those with too many
// neighbours, by the database's own counter, are skipped.
// Parameters: $keys (of candidates), $connectors (element ids), $exclude (keys), $first (keys of those that come before
// the others), $passed (element ids of connectors), $nearest, $limit (of
// candidates), $most (of connectors), the seeded order's $p, $a, $b, $c, and $values: what the view's conditions compare
// with, if it has any.
// Plan: unique index seeks and seeks by id, one expansion per node and step of a path, Top. Cost: one round trip and the degrees
// of the nodes.
CALL () { UNWIND $exclude AS key MATCH (n:{{labels}}) WHERE {{key n}} = key RETURN collect(n) AS excluded }
CALL () { UNWIND $keys AS key MATCH (n:{{labels}}) WHERE {{key n}} = key RETURN collect(n) AS nodes }
CALL () { UNWIND $connectors AS one MATCH (n) WHERE elementId(n) = one RETURN collect(n) AS connectors }
WITH excluded, nodes, connectors, size(nodes) AS found
WITH excluded, nodes, found, COLLECT {
  {{nearby start}}
} AS reached
RETURN found, COLLECT {
  UNWIND reached AS one
  WITH one[0] AS m, CASE WHEN $nearest THEN sum(one[1]) ELSE 0.0 END AS ways
  WITH m, ways, NOT {{key m}} IN $first AS later, (id(m) % $p * $a + $b) % $p AS x
  WHERE {{candidate m}} AND NOT m IN nodes AND NOT m IN excluded
  RETURN [id(m), {{key m}}, ways] ORDER BY later, round(ways, 9) DESC, (x * x + $c) % $p, x LIMIT $limit
} AS neighbours, COLLECT {
  UNWIND reached AS one
  WITH DISTINCT one[0] AS m
  WITH m, (id(m) % $p * $a + $b) % $p AS x WHERE {{connector m}} AND NOT elementId(m) IN $passed
  RETURN elementId(m) ORDER BY (x * x + $c) % $p, x LIMIT $most
} AS connectors
