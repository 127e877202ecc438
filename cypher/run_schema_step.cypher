// No step of a run is observed twice, whatever else goes wrong. Also the index by which a step is found.
// Parameters: none.
// Plan: a schema command. Cost: once per database; `graphbo clean` drops it with the last run.
CREATE CONSTRAINT graphbo_observed_step IF NOT EXISTS
FOR ()-[o:GRAPHBO_OBSERVED]-() REQUIRE (o.run, o.step) IS UNIQUE
