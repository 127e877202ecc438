// Drops the index that was to belong to a constraint of runs, if whoever made that was killed in the middle.
// Parameters: $name.
// Plan: a schema command. Cost: one round trip.
DROP INDEX $name IF EXISTS
