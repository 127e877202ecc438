// Deletes the view's nodes with all their relationships, 10,000 nodes at a time, each batch a transaction of its own.
// Parameters: none.
// Plan: scans the label. Unavoidable: every node of it is to go. Cost: grows with the graph.
MATCH (n:{{all}})
CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 10000 ROWS
