// Moves the label of the best node. The run's lock is held.
// Parameters: $run, $old and $new (steps; $old may be null), $label.
// Plan: two unique index seeks. Cost: one trip of a write transaction, only when something better was found.
OPTIONAL MATCH ()-[:GRAPHBO_OBSERVED {run: $run, step: $old}]->(before)
REMOVE before:$($label)
WITH 1 AS one
MATCH ()-[:GRAPHBO_OBSERVED {run: $run, step: $new}]->(after)
SET after:$($label)
