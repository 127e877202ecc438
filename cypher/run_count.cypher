// How many runs there are. The constraints go with the last of them.
// Parameters: none.
// Plan: the count store. Cost: one trip of the transaction that drops the constraints.
MATCH (r:GraphboRun)
RETURN count(r) AS runs
