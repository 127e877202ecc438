// Makes the key unique among the nodes of a label, which also gives the index that every key look-up uses.
// Parameters: none.
// Plan: a schema command. Cost: grows with the nodes that are there already, once.
CREATE CONSTRAINT IF NOT EXISTS FOR (n:{{label}}) REQUIRE {{key n}} IS UNIQUE
