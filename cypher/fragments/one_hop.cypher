// One hop of every ego-network that still has room: from its frontier to nodes that it has not selected yet.
CALL (selected, frontier, size, firsts, throughs) {
  WITH * WHERE size(selected) < size
  UNWIND frontier AS n
  WITH * WHERE $everywhere OR n IN throughs
  MATCH (n){{hop}}(m:{{labels}}) WHERE NOT m IN selected
  WITH DISTINCT m, firsts
  WITH m, NOT m IN firsts AS later, (id(m) % $p * $a + $b) % $p AS x
  ORDER BY later, (x * x + $c) % $p, x LIMIT $limit
  RETURN collect(m) AS found
}
WITH i, firsts, throughs, size, selected, found[..size - size(selected)] AS frontier
WITH i, firsts, throughs, size, selected + frontier AS selected, frontier
