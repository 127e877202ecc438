// Creates a run, which claims its name and its prefix.
// Parameters: $properties.
// Plan: Create, with two unique index checks. Cost: one write transaction.
CREATE (r:GraphboRun) SET r = $properties, r.startedAt = datetime.realtime(), r.updatedAt = datetime.realtime()
