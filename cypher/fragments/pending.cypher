// What is being measured in the run r, with what is left of its lease, the names that its node has and the answer that
// somebody set there.
COLLECT {
  MATCH (r)-[p:GRAPHBO_PENDING]->(n)
  RETURN {properties: properties(p), key: {{key n}}, left: p.leaseUntil - datetime.realtime().epochMillis,
    held: labels(n) + keys(n), answer: n[p.answerIn]}
  ORDER BY p.step
} AS pending,
