"""An embedded SQLite file that behaves as Neo4j does: for a first try, and for everything in memory.

::

    store   the graph
    log     runs
    locked_run  one whose lock is held
    around  what is beside a few nodes
    walk    hops and ego-networks
    walked  paths in SQL
    predicates  conditions in SQL
    nodes   from keys to rows and back
    writes  a graph, as it is loaded
    file    transactions, and SQLite's errors as ours
    schema  the tables
    clock   a time for leases that nobody sets
"""
