// The ego-networks of one or several centres in a view with connectors, paths or a filter, and what connects all their nodes.
// Each grows hop by hop, along relationships and paths, while it has room for candidates; as many connectors as candidates come
// on top. Of the hop that does not fit, the nodes in $first are taken first, then the others, the nearest along paths first, and
// equally near ones in seeded order. Connectors with
// too many neighbours, by the database's own counters, are skipped, and so are those inside of paths.
// Parameters: $egos, a list of {centre (its key), size}; $first (keys); $limit, the largest size; the seeded order's $p, $a,
// $b, $c; unless $everywhere, $through: the keys of the candidates that may be expanded; $keys: all the keys that there are in
// these; and $values: what the view's conditions compare with, if it has any.
// Answer: one row. Where paths meet is told by the connector in their middle, with the weights of the ways that lead there: there
// are as many as relationships, not as pairs of nodes.
// Plan: unique index seeks, then one expansion per selected node, step of a path and hop; no scan. A hop is planned once and walked
// as often as there is room.
// Cost: one round trip.
UNWIND $keys AS key
MATCH (n:{{labels}}) WHERE {{key n}} = key
WITH collect(n) AS known
WITH [ego IN $egos | [n IN known WHERE {{key n}} = ego.centre]] AS centres,
     [n IN known WHERE {{key n}} IN $first] AS firsts, [n IN known WHERE {{key n}} IN $through] AS throughs
WITH throughs, [i IN range(0, size($egos) - 1) |
  reduce(grown = [centres[i], [], centres[i], []], hop IN range(1, 2 * $egos[i].size) |
    CASE WHEN size(grown[0]) >= $egos[i].size OR size(grown[2]) = 0 THEN grown ELSE
      head([reached IN [[one IN COLLECT {
        {{nearby grown}}
      } WHERE NOT one[0] IN grown[0] AND NOT one[0] IN grown[1]]] | head([found IN [[COLLECT {
        UNWIND {{summed reached}} AS one
        WITH one[0] AS m, one[1] AS ways
        WITH m, ways, NOT m IN firsts AS later, (id(m) % $p * $a + $b) % $p AS x WHERE {{candidate m}}
        RETURN m ORDER BY later, round(ways, 9) DESC, (x * x + $c) % $p, x LIMIT $limit
      }[..$egos[i].size - size(grown[0])], COLLECT {
        UNWIND reached AS one
        WITH DISTINCT one[0] AS m
        WITH m, (id(m) % $p * $a + $b) % $p AS x WHERE {{connector m}}
        RETURN m ORDER BY (x * x + $c) % $p, x LIMIT $limit
      }[..$egos[i].size - size(grown[1])], [m IN [one IN reached | one[0]] WHERE {{hub m}} AND NOT m IN grown[3]]]] |
        [grown[0] + found[0], grown[1] + found[1], found[0] + found[1], grown[3] + found[2]]])]) END)] AS grown
WITH throughs, [ego IN grown | ego[0]] AS egos, grown,
     reduce(nodes = [], ego IN grown | nodes + [n IN ego[0] WHERE NOT n IN nodes]) AS nodes
WITH throughs, egos, grown, nodes AS candidates,
     reduce(all = [], ego IN grown | all + [n IN ego[1] WHERE NOT n IN all AND NOT n IN nodes]) AS connectors
WITH egos, grown, candidates, connectors, [n IN throughs | id(n)] AS throughs, candidates + connectors AS nodes
{{use connecting}}
RETURN [ego IN egos | [n IN ego | id(n)]] AS egos, relationships, meetings, throughs,
       [n IN candidates | [id(n), {{key n}}, {{degree n}}{{read n}}]] AS nodes, [n IN connectors | [id(n), elementId(n)]] AS connectors,
       hubs + reduce(all = [], ego IN grown | all + [n IN ego[3] | elementId(n)]) AS hubs
