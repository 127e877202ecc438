// The relationships among nodes: those of a node of high degree are looked up pair by pair instead of being walked.
  CALL (nodes) {
    UNWIND nodes AS a
    WITH nodes, a WHERE COUNT { (a)-[:{{types}}]->() } <= 500
    MATCH (a)-[r:{{types}}]->(b) WHERE b IN nodes
    RETURN a, b, r
    UNION ALL
    UNWIND nodes AS a
    WITH nodes, a WHERE COUNT { (a)-[:{{types}}]->() } > 500
    UNWIND nodes AS b
    MATCH (a)-[r:{{types}}]->(b)
    RETURN a, b, r
  }
  WITH a, b, {{weights r}} AS weights ORDER BY id(a), id(b)
  RETURN collect([id(a), id(b), weights]) AS relationships
