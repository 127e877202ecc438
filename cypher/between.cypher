// What connects some nodes of a view with a statement of the user's: relationships, and where paths meet. What that statement says
// comes on top.
// Parameters: $keys (of candidates), $connectors (element ids), and $values: what the view's conditions compare with, if it has any.
// Plan: unique index seeks and seeks by id, one expansion per node and step of a path; no scan. Cost: one round trip.
CALL () { UNWIND $keys AS key MATCH (n:{{labels}}) WHERE {{key n}} = key RETURN collect(n) AS candidates }
CALL () { UNWIND $connectors AS one MATCH (n) WHERE elementId(n) = one RETURN collect(n) AS connectors }
WITH candidates, connectors, candidates + connectors AS nodes
{{use connecting}}
RETURN relationships, meetings, hubs,
       [n IN candidates | [id(n), {{key n}}, {{degree n}}{{read n}}]] AS nodes, [n IN connectors | [id(n), elementId(n)]] AS connectors
