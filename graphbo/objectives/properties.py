"""``property:NAME``: the value is in the graph already, and is looked at one node at a time."""

from dataclasses import dataclass

from graphbo.errors import EvaluationFailed, InvalidObjective
from graphbo.objectives.base import Evaluator, Node, Permanent
from graphbo.objectives.number import as_number

__all__ = ["PropertyEvaluator"]


@dataclass(frozen=True)
class PropertyEvaluator(Evaluator):
    """Reads one property of the node that is asked for: no other value is known before its turn."""

    name: str

    def __post_init__(self) -> None:
        if not self.name:
            raise InvalidObjective("property: names no property: expected property:NAME")

    def measure(self, node: Node, timeout: float | None) -> float:  # noqa: ARG002 - nothing to wait for
        """The property as a number.

        Raises:
            Permanent: the node does not have it, or it is no number.
        """
        value = node.properties.get(self.name)
        if value is None:
            raise Permanent(f"node {node.key!r} has no property {self.name!r}")
        try:
            return as_number(value)
        except EvaluationFailed as error:
            raise Permanent(f"property {self.name!r} of node {node.key!r}: {error}") from None
