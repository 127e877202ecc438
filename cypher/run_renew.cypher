// Lets the leases of a worker end some time from now, by the server's clock; a worker that leaves its nodes to others lets them
// end now, and takes back its try. Locks the run first: somebody may be telling one of these
// nodes, and what is deleted meanwhile cannot be changed.
// Parameters: $run, $tokens, $lease (milliseconds), $tries (to add to their number of tries).
// Plan: a unique index seek and the run's pending relationships. Cost: one write transaction.
MATCH (r:GraphboRun {name: $run})
SET r.lockedBy = 'renewal'
WITH r
MATCH (r)-[p:GRAPHBO_PENDING]->() WHERE p.token IN $tokens
SET p.leaseUntil = datetime.realtime().epochMillis + $lease, p.tries = coalesce(p.tries, 1) + $tries
RETURN p.step AS step
