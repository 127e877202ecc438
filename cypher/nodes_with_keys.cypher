// Every node that has one of these keys: in a view of several labels, a key may belong to more than one.
// Parameters: $keys.
// Plan: unique index seeks. Cost: one round trip.
UNWIND $keys AS wanted
MATCH (n:{{labels}}) WHERE {{key n}} = wanted
RETURN {{key n}} AS key, elementId(n) AS id, labels(n) AS labels, keys(n) AS properties
