// What is being measured in the run r, with what is left of its lease and the names that its node has.
COLLECT {
  MATCH (r)-[p:GRAPHBO_PENDING]->(n)
  RETURN {properties: properties(p), key: {{key n}}, left: p.leaseUntil - datetime.realtime().epochMillis,
    held: labels(n) + keys(n)}
  ORDER BY p.step
} AS pending,
