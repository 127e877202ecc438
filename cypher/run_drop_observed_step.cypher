// Takes a constraint off again, with the last run.
// Parameters: none.
// Plan: a schema command. Cost: one round trip.
DROP CONSTRAINT graphbo_observed_step IF EXISTS
