// How many nodes the view has.
// Parameters: none.
// Plan: the count store, for one label. For several labels a union of label scans: unavoidable, since a node with two
// of them counts once and no statistic knows how many there are.
// Cost: one round trip, for one label.
MATCH (n:{{labels}})
RETURN count(n) AS nodes
