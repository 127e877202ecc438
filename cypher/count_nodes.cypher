// How many candidates the view has.
// Parameters: none.
// Where the view has a filter, $values is what it compares with.
// Plan: the count store, for one label. For several labels a union of label scans: unavoidable, since a node with two
// of them counts once and no statistic knows how many there are.
// With a filter every node of the labels is looked at, or an index on what it asks for: unavoidable.
// Cost: one round trip, for one label and no filter.
MATCH (n:{{labels}}){{where n}}
RETURN count(n) AS nodes
