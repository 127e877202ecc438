// Nodes that have one of these labels: what a run wrote that is not there any more.
// Parameters: $limit; the labels are those of the run's prefix.
// Plan: the label indexes. Unavoidable: all such nodes are wanted, and there should be none. Cost: grows with what is found.
MATCH (n:{{labels}})
RETURN elementId(n) AS id, labels(n) AS labels, keys(n) AS properties LIMIT $limit
