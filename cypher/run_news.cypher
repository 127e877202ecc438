// A run, what is being measured, and what was told since. Run state is read where it is written: a follower may lag.
// Parameters: $run, $since (a seq).
// Plan: a unique index seek, then the run's own relationships. Cost: one round trip; grows with the run's history, not
// with the graph.
MATCH (r:GraphboRun {name: $run})
RETURN properties(r) AS run,
  COLLECT {
    MATCH (r)-[p:GRAPHBO_PENDING]->(n)
    RETURN {properties: properties(p), key: {{key n}}, left: p.leaseUntil - datetime.realtime().epochMillis}
    ORDER BY p.step
  } AS pending,
  COLLECT {
    UNWIND CASE WHEN r.seq > $since THEN [1] ELSE [] END AS any
    MATCH (r)-[o:GRAPHBO_OBSERVED|GRAPHBO_FAILED]->(n) WHERE o.seq > $since
    RETURN {properties: properties(o), key: {{key n}}}
    ORDER BY o.seq
  } AS news
