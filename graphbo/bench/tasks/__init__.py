"""Problems with a known answer: graphs and functions on them, to try graphbo on and to measure it with.

::

    problem = parse_task("centrality:graph=ws,n=2000,p=0.2").problem(seed=3)

A module for each family of tasks: ``centrality``, ``grid``, ``influence``, ``machines``, ``papers``,
``patient_zero``, ``teams``, ``valued`` and ``visits``. Around them::

    base        what a task is
    connected   tasks whose candidates hang together through nodes that are never measured
    valued      tasks on graphs whose values somebody measured
    parameters  its parameters: annotated fields, for checking, reading and showing
    specs       tasks by name
    instances   one problem in a database, and how far a run is from its optimum
    graphs, town, datasets  what they are made of: random graphs, a town, real people
    measures    how central nodes are
"""

from graphbo.bench.tasks.base import Problem, Task
from graphbo.bench.tasks.instances import Instance, parse_instance, regrets_of
from graphbo.bench.tasks.parameters import Parameter
from graphbo.bench.tasks.specs import TASKS, parse_task

__all__ = [
    "TASKS",
    "Instance",
    "Parameter",
    "Problem",
    "Task",
    "parse_instance",
    "parse_task",
    "regrets_of",
]
