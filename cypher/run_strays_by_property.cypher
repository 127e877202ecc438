// Nodes that have one of these properties: what a run without labels wrote that is not there any more.
// Parameters: $names, $limit.
// Plan: scans all nodes. Unavoidable: nothing else tells where such a property is; done only when somebody allows it. Cost: grows
// with the graph.
MATCH (n) WHERE any(name IN $names WHERE n[name] IS NOT NULL)
RETURN elementId(n) AS id, labels(n) AS labels, keys(n) AS properties LIMIT $limit
