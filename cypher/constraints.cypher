// The uniqueness constraints on one property of one of these labels.
// Parameters: $labels.
// Plan: reads the schema only. Cost: one round trip.
SHOW CONSTRAINTS YIELD name, type, entityType, labelsOrTypes, properties
WHERE entityType = 'NODE'
  AND type IN ['UNIQUENESS', 'NODE_PROPERTY_UNIQUENESS', 'NODE_KEY']
  AND size(properties) = 1 AND labelsOrTypes[0] IN $labels
RETURN name, labelsOrTypes[0] AS label, properties[0] AS property
ORDER BY name
