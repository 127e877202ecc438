"""Tasks × methods × seeds: what each method finds, in tables and figures.

::

    tasks      problems with a known answer
    methods    what can be compared
    suites     what is compared together
    plan       which cells that takes
    cells      a cell, and the file that remembers which are done
    search     runs one
    engine     runs those that are missing, in several processes
    results    the results file
    analysis   curves, ranks, differences
    claims     what is claimed, and whether results bear it out
    tables, figures  what people read
    report, documents  all of that, into a directory
"""
