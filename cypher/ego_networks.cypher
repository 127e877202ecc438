// The ego-networks of one or several centres, and the relationships among all their nodes (Algorithm 2 of the paper).
// Each grows hop by hop while it has room. Of the hop that does not fit, the nodes in $first are taken first, then the
// others, in seeded order. Never more than $limit nodes of a hop leave the database's Top operator, so a hub with a million
// neighbours sends no more than its share to the client.
// Parameters: $egos, a list of {centre (its key), size}; $first (keys); $limit, the largest size; the seeded order's $p, $a,
// $b, $c; unless $everywhere, $through: the keys of the nodes that may be expanded, one of which each relationship has to
// touch (a graph that is still being revealed); and $keys: all the keys that there are in these.
// Answer: one row.
// Plan: unique index seeks, then one expansion per selected node and hop; no scan. A hop is planned once and walked as often
// as there is room: a server plans a statement anew for each view, for seconds if its hops are written out one by one. The
// relationships of a node of high degree are looked up pair by pair (Expand(Into)) instead of being walked.
// A degree is the database's own counter of a node's relationships: who is at their other ends is not looked at.
// Cost: one round trip; hops after the one that filled an ego-network find their condition false.
UNWIND $keys AS key
MATCH (n:{{labels}}) WHERE {{key n}} = key
WITH collect(n) AS known
WITH [ego IN $egos | [n IN known WHERE {{key n}} = ego.centre]] AS centres,
     [n IN known WHERE {{key n}} IN $first] AS firsts, [n IN known WHERE {{key n}} IN $through] AS throughs
WITH throughs, [i IN range(0, size($egos) - 1) |
  reduce(grown = [centres[i], centres[i]], hop IN range(1, $egos[i].size) |
    CASE WHEN size(grown[0]) >= $egos[i].size OR size(grown[1]) = 0 THEN grown ELSE head([found IN [COLLECT {
      UNWIND grown[1] AS n
      MATCH (n){{hop}}(m:{{labels}}) WHERE NOT m IN grown[0] AND ($everywhere OR n IN throughs)
      WITH DISTINCT m
      WITH m, NOT m IN firsts AS later, (id(m) % $p * $a + $b) % $p AS x
      RETURN m ORDER BY later, (x * x + $c) % $p, x LIMIT $limit
    }[..$egos[i].size - size(grown[0])]] | [grown[0] + found, found]]) END)[0]] AS egos
WITH throughs, egos, reduce(nodes = [], ego IN egos | nodes + [n IN ego WHERE NOT n IN nodes]) AS nodes
CALL (nodes, throughs) {
  CALL (nodes, throughs) {
    UNWIND nodes AS a
    WITH nodes, throughs, a WHERE COUNT { (a)-[:{{types}}]->() } <= 500
    MATCH (a)-[r:{{types}}]->(b) WHERE b IN nodes AND ($everywhere OR a IN throughs OR b IN throughs)
    RETURN a, b, r
    UNION ALL
    UNWIND nodes AS a
    WITH nodes, throughs, a WHERE COUNT { (a)-[:{{types}}]->() } > 500
    UNWIND nodes AS b
    MATCH (a)-[r:{{types}}]->(b) WHERE $everywhere OR a IN throughs OR b IN throughs
    RETURN a, b, r
  }
  WITH a, b, {{weights r}} AS weights ORDER BY id(a), id(b)
  RETURN collect([id(a), id(b), weights]) AS relationships
}
RETURN [ego IN egos | [n IN ego | id(n)]] AS egos, relationships,
       [n IN nodes | [id(n), {{key n}}, COUNT { (n){{hop}}() }{{read n}}]] AS nodes
