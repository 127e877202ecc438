// What relationships lead from nodes, of whatever type: in which direction, to nodes with which labels, with which properties.
// Parameters: $keys, $limit, the relationships that are looked at around each node.
// Plan: a unique index seek per key, then an expansion that ends after the limit. Cost: one round trip, whatever the degrees.
UNWIND $keys AS key
MATCH (n:{{labels}}) WHERE {{key n}} = key
CALL (n) {
  MATCH (n)-[r]-(other) WHERE NOT type(r) STARTS WITH 'GRAPHBO_'
  RETURN r, other LIMIT $limit
}
WITH type(r) AS type, startNode(r) = n AS outgoing, labels(other) AS labels, n, keys(r) AS names
RETURN type, outgoing, labels, count(DISTINCT n) AS nodes, collect(DISTINCT names) AS properties
ORDER BY type, outgoing, labels
