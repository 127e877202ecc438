// Nothing: what a round trip costs at least.
// Parameters: none.
// Plan: no operator that touches data. Cost: one round trip.
RETURN 1 AS one
