// The plain indexes on one property of one of these labels: those that no constraint has brought along.
// Parameters: $labels.
// Plan: reads the schema only. Cost: one round trip.
SHOW INDEXES YIELD name, type, entityType, labelsOrTypes, properties, owningConstraint
WHERE entityType = 'NODE' AND type = 'RANGE' AND owningConstraint IS NULL
  AND size(properties) = 1 AND labelsOrTypes[0] IN $labels
RETURN name, labelsOrTypes[0] AS label, properties[0] AS property
ORDER BY name
