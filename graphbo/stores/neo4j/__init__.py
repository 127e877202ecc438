"""Neo4j: the graph is read by Cypher, and runs are kept as nodes and relationships.

::

    store       the graph
    log         runs
    locked_run  one whose lock is held
    at_once     what will probably be decided, written in the statement that looks
    connection  transactions with limits and retries; the driver's errors as ours
    statements  the statements of cypher/, with a view's names filled in
    hops        a statement of the user's that answers with edges, hop by hop
    walks       who is one hop away and where paths meet, as Cypher
    predicates  conditions as Cypher
    names       names, quoted
    server      a local Neo4j with Browser
"""
