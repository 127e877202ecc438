// A uniform sample of the view's nodes that are not excluded, in seeded order.
// Parameters: $exclude (keys), $limit, and the seeded order's $p, $a, $b, $c.
// Where the view has a filter, $values is what it compares with.
// Plan: scans the label. Unavoidable: used only where random_nodes.cypher hits next to nothing, because nearly every node is
// excluded or the label is so rare among the database's nodes that draws would cost more. Cost: grows with the nodes of the label.
MATCH (n:{{labels}}) WHERE NOT {{key n}} IN $exclude{{andwhere n}}
WITH n, (id(n) % $p * $a + $b) % $p AS x
ORDER BY (x * x + $c) % $p, x LIMIT $limit
RETURN {{key n}} AS key
