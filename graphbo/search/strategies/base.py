"""What every strategy is, and what they share: how random nodes are proposed, and how options are checked."""

from collections.abc import Callable, Collection, Mapping, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias, runtime_checkable

import numpy as np

from graphbo.errors import ModelError
from graphbo.search.graph import Graph
from graphbo.search.strategies.folded_history import Rules
from graphbo.search.strategies.situation import Situation
from graphbo.types import Candidate, NodeKey, Phase, Proposal

if TYPE_CHECKING:
    from graphbo.search.kernels import Kernel
    from graphbo.search.spectrum import Spectrum
    from graphbo.search.strategies.model import Belief
    from graphbo.search.strategies.scouts import Scouted

__all__ = [
    "OF_MODULE",
    "OWN_KERNELS",
    "Believing",
    "KernelOption",
    "Option",
    "Purpose",
    "Regional",
    "Scouting",
    "Strategy",
    "at_least",
    "check_noise",
    "feature_names",
    "generator",
    "kernel_name",
    "one_of",
    "random_proposal",
]

#: A kernel by its name, or a function that makes one of a subgraph's eigenpairs.
KernelOption: TypeAlias = "str | Callable[[Spectrum], Kernel]"

#: What graphbo's own kernels are called: to list them, nobody should wait for scikit-learn.
OWN_KERNELS = ("auto", "diffusion", "diffusion-ard", "matern", "polynomial", "sum-inverse")

#: Between a module and what is in it, which no name of a kernel has.
OF_MODULE = ":"

#: The value of a strategy's option: what JSON can hold.
Option: TypeAlias = bool | int | float | str | list[str] | None

#: How many random nodes are drawn for each that is needed: others who ask at the same moment take the rest.
SPARE = 3


class Purpose(IntEnum):
    """What a random choice is for. Choices for different purposes are independent; numbers are never reused."""

    INITIAL = 1
    RESTART = 2
    EGO = 3
    TIES = 4
    SEARCH = 5
    ANSWER = 6
    SCALES = 7
    KNOWN = 8
    SCOUTS = 9
    COSTS = 10


class Strategy(Protocol):
    """What proposes the next node to measure.

    A strategy is a pure function of the situation and of the graph in the database. Whatever it keeps between two
    calls only saves time: another process in the same situation proposes the same. Its randomness comes from the
    run's seed, a position in the run and a :class:`Purpose`, never from a state of its own.

    One that looks at regions is :class:`Regional`, one that has a model :class:`Believing`.
    """

    #: What users call it: its key in ``STRATEGIES``.
    name: ClassVar[str]

    @property
    def options(self) -> Mapping[str, Option]:
        """What was chosen, fit for JSON: ``create_strategy(name, options)`` makes it again."""

    def propose(self, situation: Situation, graph: Graph) -> Proposal:
        """The nodes to measure next, best first; the first that is free will be.

        Args:
            situation: what was told, what is being measured, and what is wanted.
            graph: the only door to the graph.

        Returns:
            A proposal with no candidates when there is no node left, apart from those that are being measured.

        Raises:
            StoreError: the database does not answer.
        """


@runtime_checkable
class Regional(Protocol):
    """A strategy that looks at one region of the graph at a time."""

    def region_rules(self, maximize: bool) -> Rules[Any]:
        """How its region, which is one of :mod:`graphbo.search.regions`, follows from the history."""


@runtime_checkable
class Believing(Protocol):
    """A strategy that has a model."""

    def believe(self, situation: Situation, graph: Graph) -> "Belief | None":
        """What the model makes of the region that it looks at; None where it looks at none.

        Raises:
            StoreError: the database does not answer.
        """

    def believe_around(self, key: NodeKey, situation: Situation, graph: Graph) -> "Belief | None":
        """What the model makes of the surroundings of a node, by all that was measured there; None if nothing was.

        Raises:
            StoreError: the database does not answer.
        """


@runtime_checkable
class Scouting(Protocol):
    """A strategy that judges nodes by what is known of them, wherever they are."""

    def scouted(self, key: NodeKey, situation: Situation, graph: Graph) -> "Scouted | None":
        """What it expects of a node by that; None if that is nothing.

        Raises:
            StoreError: the database does not answer.
        """


def random_proposal(
    situation: Situation,
    graph: Graph,
    draw: Sequence[int],
    *,
    phase: Phase,
    restart: int,
    expected: int = 1,
) -> Proposal:
    """Random nodes that nobody has measured.

    Args:
        situation: who has been measured.
        graph: where they come from.
        draw: numbers that tell this random choice from others of the run.
        phase: what the nodes are for.
        restart: the region that they belong to.
        expected: how many nodes will come from this same draw, in calls one after the other. The database is asked
            for all of them at once, and once.
    """
    evaluated, taken = situation.evaluated, situation.taken
    found = graph.random(2 * expected, draw, (), evaluated) if expected > 1 else []
    free = [key for key in found if key not in taken]
    if not free:
        count = (1 + SPARE) * (1 + len(situation.pending))
        free = graph.random(count, (*draw, situation.asked), taken, evaluated)
    return Proposal(tuple(Candidate(key) for key in free), phase, restart)


def generator(*numbers: int) -> np.random.Generator:
    """Random numbers that belong to a seed, a position in the run and a purpose."""
    return np.random.default_rng(np.random.SeedSequence(list(numbers)))


#: Of a standard deviation: the square of a larger one overflows.
LARGEST_NOISE = 1e150


def at_least(smallest: float, **options: float) -> None:
    """Check the values of options.

    Raises:
        ModelError: one is smaller, or not a number.
    """
    for name, value in options.items():
        if not value >= smallest:
            raise ModelError(f"{name} is {value}: expected at least {smallest:g}")


def check_noise(noise: float | None) -> None:
    """Check the standard deviation of a measurement, where it is known.

    Raises:
        ModelError: it is negative, too large, or not a number.
    """
    at_least(0, noise=noise or 0.0)
    if noise and noise > LARGEST_NOISE:
        raise ModelError(f"noise is {noise}: expected at most {LARGEST_NOISE:g}")


def one_of(known: Collection[str], **options: str) -> None:
    """Check the names that options have.

    Raises:
        ModelError: one is not known.
    """
    for name, value in options.items():
        if value not in known:
            raise ModelError(f"{name} is {value!r}: choose from {', '.join(known)}")


def feature_names(given: object) -> tuple[str, ...]:
    """The names of properties, each once.

    Raises:
        ModelError: they are something else.
    """
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise ModelError(f"features is {str(given)[:60]!r}: expected the names of properties")
    for name in given:
        if not isinstance(name, str) or not name:
            raise ModelError(f"a feature is {str(name)[:60]!r}: expected the name of a property")
    return tuple(dict.fromkeys(given))


def kernel_name(kernel: KernelOption) -> str:
    """What a run records of a kernel: the name, or where the function is that makes it, as ``module:function``."""
    if isinstance(kernel, str):
        return kernel
    # A partial function, or an object that can be called, has no name but its kind has.
    named = kernel if hasattr(kernel, "__qualname__") else type(kernel)
    return f"{named.__module__}{OF_MODULE}{named.__qualname__}"
