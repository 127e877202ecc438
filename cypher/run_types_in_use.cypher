// How many relationships have a type of runs and come from something else.
// Parameters: none.
// Plan: the count store. Cost: one round trip.
RETURN
  COUNT { ()-[:GRAPHBO_OBSERVED]->() } - COUNT { (:GraphboRun)-[:GRAPHBO_OBSERVED]->() } AS GRAPHBO_OBSERVED,
  COUNT { ()-[:GRAPHBO_PENDING]->() } - COUNT { (:GraphboRun)-[:GRAPHBO_PENDING]->() } AS GRAPHBO_PENDING,
  COUNT { ()-[:GRAPHBO_FAILED]->() } - COUNT { (:GraphboRun)-[:GRAPHBO_FAILED]->() } AS GRAPHBO_FAILED,
  COUNT { ()-[:GRAPHBO_RETRIED]->() } - COUNT { (:GraphboRun)-[:GRAPHBO_RETRIED]->() } AS GRAPHBO_RETRIED,
  COUNT { ()-[:GRAPHBO_RETRACTED]->() } - COUNT { (:GraphboRun)-[:GRAPHBO_RETRACTED]->() } AS GRAPHBO_RETRACTED,
  COUNT { ()-[:GRAPHBO_EXCLUDED]->() } - COUNT { (:GraphboRun)-[:GRAPHBO_EXCLUDED]->() } AS GRAPHBO_EXCLUDED,
  COUNT { ()-[:GRAPHBO_REGION]->() } - COUNT { (:GraphboRun)-[:GRAPHBO_REGION]->() } AS GRAPHBO_REGION
