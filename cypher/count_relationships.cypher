// How many relationships have one of the view's types.
// Parameters: none.
// Plan: the count store. Cost: one round trip.
MATCH ()-[r:{{types}}]->()
RETURN count(r) AS relationships
