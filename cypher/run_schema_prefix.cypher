// No two runs write node properties of the same prefix.
// Parameters: none.
// Plan: a schema command. Cost: once per database; `graphbo clean` drops it with the last run.
CREATE CONSTRAINT graphbo_run_prefix IF NOT EXISTS FOR (r:GraphboRun) REQUIRE r.prefix IS UNIQUE
