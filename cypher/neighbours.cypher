// Distinct nodes one hop from a set of nodes, neither in the set nor excluded, in seeded order.
// Parameters: $keys, $exclude, $limit, and the seeded order's $p, $a, $b, $c.
// Plan: unique index seeks, one expansion per key, Top. Cost: one round trip and the degrees of the nodes.
CALL () { UNWIND $exclude AS key MATCH (n:{{labels}}) WHERE {{key n}} = key RETURN collect(n) AS excluded }
CALL () { UNWIND $keys AS key MATCH (n:{{labels}}) WHERE {{key n}} = key RETURN collect(n) AS nodes }
WITH excluded, nodes, size(nodes) AS found
CALL (excluded, nodes) {
  UNWIND nodes AS n
  MATCH (n){{hop}}(m:{{labels}}) WHERE NOT m IN nodes AND NOT m IN excluded
  WITH DISTINCT m
  WITH m, (id(m) % $p * $a + $b) % $p AS x
  ORDER BY (x * x + $c) % $p, x LIMIT $limit
  RETURN collect(m) AS neighbours
}
RETURN found, [n IN neighbours | [id(n), {{key n}}]] AS neighbours
