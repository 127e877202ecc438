// No two runs have the same name. Also the index by which a run is found.
// Parameters: none.
// Plan: a schema command. Cost: once per database; `graphbo clean` drops it with the last run.
CREATE CONSTRAINT graphbo_run_name IF NOT EXISTS FOR (r:GraphboRun) REQUIRE r.name IS UNIQUE
