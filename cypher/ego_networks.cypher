// The ego-networks of one or several centres, and the relationships among all their nodes (Algorithm 2 of the paper).
// Each grows hop by hop while it has room. Of the hop that does not fit, the nodes in $first are taken first, then the
// others, in seeded order. Never more than $limit nodes of a hop leave the database's Top operator, so a hub with a million
// neighbours sends no more than its share to the client.
// Parameters: $egos, a list of {size, selected (keys, at first the centre), frontier (keys, at first the centre)};
// $first (keys); $limit, the largest size; the seeded order's $p, $a, $b, $c; and, unless $everywhere, $through: the keys
// of the nodes that may be expanded, one of which each relationship has to touch (a graph that is still being revealed).
// Answer: one row. An ego-network that still has room and a frontier after eight hops (a path, a tree) goes on from there
// in another call, with its nodes as `selected`.
// Plan: unique index seeks, then one expansion per selected node and hop; no scan. The relationships of a node of high
// degree are looked up pair by pair (Expand(Into)) instead of being walked.
// A degree is the database's own counter of a node's relationships: who is at their other ends is not looked at.
// Cost: one round trip; 8 hops cost no more than 4 where 4 suffice, since the others find their condition false.
CALL () { UNWIND $first AS key MATCH (n:{{labels}}) WHERE {{key n}} = key RETURN collect(n) AS firsts }
CALL () { UNWIND $through AS key MATCH (n:{{labels}}) WHERE {{key n}} = key RETURN collect(n) AS throughs }
UNWIND range(0, size($egos) - 1) AS i
CALL (i) {
  UNWIND $egos[i].selected AS key MATCH (n:{{labels}}) WHERE {{key n}} = key RETURN collect(n) AS selected
}
CALL (i) {
  UNWIND $egos[i].frontier AS key MATCH (n:{{labels}}) WHERE {{key n}} = key RETURN collect(n) AS frontier
}
WITH i, firsts, throughs, $egos[i].size AS size, selected, frontier

{{use one_hop 8 times}}
WITH i, selected, frontier, throughs ORDER BY i
WITH throughs, collect([n IN selected | id(n)]) AS egos, collect([n IN frontier | id(n)]) AS frontiers,
     collect(selected) AS selections
CALL (selections) {
  UNWIND selections AS selection UNWIND selection AS n WITH DISTINCT n RETURN collect(n) AS nodes
}
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
RETURN egos, frontiers, [n IN nodes | [id(n), {{key n}}]] AS nodes, relationships,
       [n IN nodes | COUNT { (n){{hop}}() }] AS degrees
