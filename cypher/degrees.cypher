// How many distinct neighbours each of these nodes has, itself not counted.
// Parameters: $keys.
// Plan: unique index seeks, one expansion per key. Cost: one round trip and the degrees of the nodes.
UNWIND $keys AS key
MATCH (n:{{labels}}) WHERE {{key n}} = key
RETURN key, COUNT { MATCH (n){{hop}}(m:{{labels}}) WHERE m <> n RETURN DISTINCT m } AS degree
