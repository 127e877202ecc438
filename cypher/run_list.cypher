// All runs, or one of them, with the number of nodes that are being measured.
// Parameters: $run, a name or null.
// Plan: scans the label GraphboRun. Unavoidable: all runs are wanted, and they are few. Cost: one round trip.
MATCH (r:GraphboRun) WHERE $run IS NULL OR r.name = $run
RETURN properties(r) AS run, COUNT { (r)-[:GRAPHBO_PENDING]->() } AS pending
ORDER BY r.startedAt
