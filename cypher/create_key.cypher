// Makes the key unique among the nodes of a label, which also gives the index that every key look-up uses.
// Parameters: none.
// Plan: a schema command. Cost: grows with the nodes that are there already, once.
// Where the label has a plain index on the property, that will do as long as the values are unique; a constraint cannot be
// created beside it: DROP INDEX its name first (SHOW INDEXES lists them).
CREATE CONSTRAINT IF NOT EXISTS FOR (n:{{label}}) REQUIRE {{key n}} IS UNIQUE
