// The name of the database that this user works in when none is named.
// Parameters: none.
// Plan: a procedure call that reads no data. Cost: one round trip, once per connection.
CALL db.info() YIELD name
RETURN name
