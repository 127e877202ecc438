// Whether this user may write here. It runs in a transaction that is always rolled back, and the node has no
// label and no property, so that not even a token is left behind.
// Parameters: none.
// Plan: Create. Cost: one write transaction.
CREATE ()
