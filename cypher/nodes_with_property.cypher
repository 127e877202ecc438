// The values of a property, by node: what is known before a run begins.
// Parameters: $property (its name), $limit.
// Where the view has a filter, $values is what it compares with.
// Plan: scans the label. Unavoidable: nobody need have made an index for a property that only a warm start reads, once per
// run. Cost: grows with the nodes of the label.
MATCH (n:{{labels}}) WHERE n[$property] IS NOT NULL{{andwhere n}}
RETURN {{key n}} AS key, n[$property] AS value ORDER BY id(n) LIMIT $limit
