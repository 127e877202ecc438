// What was told in the run r since $since; nothing is looked at if that is nothing.
COLLECT {
  UNWIND CASE WHEN r.seq > $since THEN [1] ELSE [] END AS any
  MATCH (r)-[o:GRAPHBO_OBSERVED|GRAPHBO_FAILED]->(n) WHERE o.seq > $since
  RETURN {properties: properties(o), key: {{key n}}}
  ORDER BY o.seq
} AS news
