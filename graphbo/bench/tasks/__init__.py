"""Problems with a known answer: graphs and functions on them, to try graphbo on and to measure it with.

::

problem = parse_task("centrality:graph=ws,n=2000,p=0.2").problem(seed=3)
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
