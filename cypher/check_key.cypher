// How many nodes have no key, and how many keys belong to several nodes.
// Parameters: none.
// Plan: scans the label. Unavoidable: whether an unconstrained property is unique is a question about every node.
// Asked by `graphbo doctor` and in error messages only. Cost: grows with the nodes of the label.
MATCH (n:{{labels}})
WITH {{key n}} AS key, count(*) AS nodes
RETURN sum(CASE WHEN key IS NULL THEN nodes ELSE 0 END) AS missing,
       sum(CASE WHEN key IS NOT NULL AND nodes > 1 THEN 1 ELSE 0 END) AS duplicates
