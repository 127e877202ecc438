// Writes again what a run leaves on nodes for people: properties and labels. The run's lock is held.
// Parameters: $rows, a list of {key, node (properties; null removes one), add and remove (labels)}.
// Plan: unique index seeks. Cost: one trip of a write transaction; grows with the run's history.
UNWIND $rows AS row
MATCH (n:{{labels}}) WHERE {{key n}} = row.key
SET n += row.node
FOREACH (label IN row.remove | REMOVE n:$(label))
FOREACH (label IN row.add | SET n:$(label))
