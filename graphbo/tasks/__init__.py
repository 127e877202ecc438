"""Problems with a known answer: graphs and functions on them, to try graphbo on and to measure it with.

::

problem = parse_task("centrality:graph=ws,n=2000,p=0.2").problem(seed=3)
"""

from graphbo.tasks.base import Problem, Task
from graphbo.tasks.instances import Instance, parse_instance, regrets_of
from graphbo.tasks.parameters import Parameter
from graphbo.tasks.specs import TASKS, parse_task

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
