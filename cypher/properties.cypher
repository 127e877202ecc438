// The properties of nodes, by key.
// Parameters: $keys.
// Plan: a unique index seek per key. Cost: one round trip.
UNWIND $keys AS key
MATCH (n:{{labels}}) WHERE {{key n}} = key
RETURN key, properties(n) AS properties
