// The nodes of the view among ids drawn uniformly between its lowest and its highest, with their degrees and some properties:
// those of the first $limit that are hit.
// Parameters: $draws, integers uniform in 0 … 2⁶²-1; $limit; $read: names of properties.
// Where the view has a filter, $values is what it compares with.
// Plan: that of random_nodes.cypher: the two label scans are ordered by id and end after their first node (LIMIT 1), then a
// seek by element id for each draw. A degree is the database's own counter, as in ego_networks.cypher.
// Cost: one round trip, whatever the size of the graph.
CALL () { MATCH (n:{{labels}}) RETURN n AS lowest ORDER BY n LIMIT 1 }
CALL () { MATCH (n:{{labels}}) RETURN n AS highest ORDER BY n DESC LIMIT 1 }
WITH id(lowest) AS low, id(highest) AS high,
     substring(elementId(lowest), 0, size(elementId(lowest)) - size(toString(id(lowest)))) AS prefix
UNWIND range(0, size($draws) - 1) AS draw
MATCH (n) WHERE elementId(n) = prefix + toString(low + $draws[draw] % (high - low + 1)) AND n:{{labels}}
WITH n, min(draw) AS draw WHERE {{kept n}}
WITH n, draw ORDER BY draw LIMIT $limit
RETURN {{key n}} AS key, {{degree n}} AS degree, [name IN $read | n[name]] AS properties
ORDER BY draw
