// The labels and the relationship types that the database knows.
// Parameters: none.
// Plan: two procedure calls that read the token stores. Cost: one round trip.
CALL () { CALL db.labels() YIELD label RETURN collect(label) AS labels }
CALL () { CALL db.relationshipTypes() YIELD relationshipType RETURN collect(relationshipType) AS types }
RETURN labels, types
