// Extends the leases of a worker, by the server's clock. Locks the run first: somebody may be telling one of these
// nodes, and what is deleted meanwhile cannot be changed.
// Parameters: $run, $tokens, $lease (milliseconds).
// Plan: a unique index seek and the run's pending relationships. Cost: one write transaction.
MATCH (r:GraphboRun {name: $run})
SET r.lockedBy = 'renewal'
WITH r
MATCH (r)-[p:GRAPHBO_PENDING]->() WHERE p.token IN $tokens
SET p.leaseUntil = datetime.realtime().epochMillis + $lease
RETURN p.step AS step
