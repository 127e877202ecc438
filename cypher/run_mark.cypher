// Writes or removes what people see of a run on nodes: properties and labels. The run's lock is held.
// Parameters: $rows, a list of {id (an element id), set (properties; null removes one), add and remove (labels)}.
// Plan: a seek by id for each row. Cost: one trip of a write transaction; grows with the rows.
UNWIND $rows AS row
MATCH (n) WHERE elementId(n) = row.id
SET n += row.set
FOREACH (label IN row.remove | REMOVE n:$(label))
FOREACH (label IN row.add | SET n:$(label))
