// What connects nodes: relationships, where paths meet, and the hubs that paths were not led through.
CALL (nodes) {
{{relationships}}
}
CALL (nodes) {
  CALL (nodes) {
    {{meetings}}
  }
  RETURN collect(one) AS meetings
}
CALL (nodes) {
  CALL (nodes) {
    {{pathhubs}}
  }
  RETURN collect(DISTINCT elementId(hub)) AS hubs
}
