// Changes properties of the run itself: its state, its budget.
// Parameters: $run, $properties.
// Plan: a unique index seek. Cost: one write transaction.
MATCH (r:GraphboRun {name: $run})
SET r += $properties, r.updatedAt = datetime.realtime()
RETURN r.name AS name
