// Which of some keys are those of candidates, and their internal ids.
// Parameters: $keys, and $values: what the view's filter compares with, if it has one.
// Plan: a unique index seek per key. Cost: one round trip.
UNWIND $keys AS key
MATCH (n:{{labels}}) WHERE {{key n}} = key{{andwhere n}}
RETURN id(n) AS id, {{key n}} AS key
