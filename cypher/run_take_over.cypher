// Hands a node that somebody stopped measuring to somebody else. The run's lock is held.
// Parameters: $run, $step, $worker, $token, $lease (milliseconds, or null), $tries (how often it was handed out).
// Plan: a unique index seek and the run's pending relationships. Cost: one trip of a write transaction.
MATCH (r:GraphboRun {name: $run})-[p:GRAPHBO_PENDING {step: $step}]->()
SET p.worker = $worker, p.token = $token, p.tries = $tries, p.leaseUntil = datetime.realtime().epochMillis + $lease
SET r.updatedAt = datetime.realtime()
