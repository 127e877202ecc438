// The nodes that are excluded from the run r.
COLLECT {
  MATCH (r)-[x:GRAPHBO_EXCLUDED]->(n)
  RETURN {properties: properties(x), key: {{key n}}}
  ORDER BY x.at, id(n)
} AS excluded,
