// Which of the constraints of runs there are.
// Parameters: none.
// Plan: reads the schema only. Cost: one trip of the transaction that creates a run.
SHOW CONSTRAINTS YIELD name
WHERE name IN ['graphbo_run_name', 'graphbo_run_prefix', 'graphbo_observed_step']
RETURN name
