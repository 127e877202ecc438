// Labels of a node that has one of these, if there is any: before a run gives them to nodes.
// Parameters: none; the labels are those that the run would write.
// Plan: the first entry of the label indexes (LIMIT 1). Unavoidable, and it ends at once. Cost: one round trip.
MATCH (n:{{labels}})
RETURN labels(n) AS labels LIMIT 1
