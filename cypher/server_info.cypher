// What the server is.
// Parameters: none.
// Plan: a procedure call that reads no data. Cost: one round trip.
CALL dbms.components() YIELD name, versions, edition
RETURN name, versions[0] AS version, edition
