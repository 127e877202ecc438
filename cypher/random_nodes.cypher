// The nodes of the view among ids drawn uniformly between its lowest and its highest: those that are hit are a uniform
// sample. Draws that hit a deleted node, or a node with another label, are simply not returned.
// Of each it tells whether the view's filter keeps it.
// Parameters: $draws, integers uniform in 0 … 2⁶²-1.
// Where the view has a filter, $values is what it compares with.
// Plan: the two label scans are ordered by id and end after their first node (LIMIT 1): each reads one entry of the label
// index. Then a seek by element id for each draw. Cost: one round trip, whatever the size of the graph.
CALL () { MATCH (n:{{labels}}) RETURN n AS lowest ORDER BY n LIMIT 1 }
CALL () { MATCH (n:{{labels}}) RETURN n AS highest ORDER BY n DESC LIMIT 1 }
WITH id(lowest) AS low, id(highest) AS high,
     substring(elementId(lowest), 0, size(elementId(lowest)) - size(toString(id(lowest)))) AS prefix
UNWIND range(0, size($draws) - 1) AS draw
MATCH (n) WHERE elementId(n) = prefix + toString(low + $draws[draw] % (high - low + 1)) AND n:{{labels}}
RETURN draw, id(n) AS id, {{key n}} AS key, {{kept n}} AS kept
ORDER BY draw
