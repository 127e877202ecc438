// The names of the properties on a sample of the view's nodes: the first ones, and some that are drawn as random_nodes.cypher
// draws them.
// Parameters: $draws, integers uniform in 0 … 2⁶²-1.
// Plan: label scans that end after their first nodes (LIMIT), then a seek by element id for each draw. Unavoidable: a name has no
// index, and the store of names keeps those that nobody uses any more. Cost: one round trip, whatever the size of the graph.
CALL () { MATCH (n:{{labels}}) RETURN n AS lowest ORDER BY n LIMIT 1 }
CALL () { MATCH (n:{{labels}}) RETURN n AS highest ORDER BY n DESC LIMIT 1 }
WITH id(lowest) AS low, id(highest) AS high,
     substring(elementId(lowest), 0, size(elementId(lowest)) - size(toString(id(lowest)))) AS prefix
CALL (low, high, prefix) {
  UNWIND $draws AS draw
  MATCH (n) WHERE elementId(n) = prefix + toString(low + draw % (high - low + 1)) AND n:{{labels}}
  RETURN n
UNION
  MATCH (n:{{labels}}) RETURN n LIMIT 200
}
UNWIND keys(n) AS name
RETURN collect(DISTINCT name) AS names
