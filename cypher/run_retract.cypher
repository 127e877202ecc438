// What was observed at a step is no observation any more: the node may be asked for again, and the record stays. The run's lock is
// held.
// Parameters: $run, $step, $properties (noted with it), $node (properties; null removes one), $labels (that the node loses),
// $counters (of the run).
// Plan: two unique index seeks. Cost: one trip of a write transaction.
MATCH (r:GraphboRun {name: $run})
MATCH ()-[o:GRAPHBO_OBSERVED {run: $run, step: $step}]->(n)
CREATE (r)-[kept:GRAPHBO_RETRACTED]->(n)
SET kept = properties(o)
SET kept += $properties, kept.retractedAt = datetime.realtime()
DELETE o
SET n += $node
FOREACH (label IN $labels | REMOVE n:$(label))
SET r += $counters, r.updatedAt = datetime.realtime()
RETURN kept.retractedAt AS at
