// Takes a constraint off again, with the last run.
// Parameters: none.
// Plan: a schema command. Cost: one round trip.
DROP CONSTRAINT graphbo_run_name IF EXISTS
