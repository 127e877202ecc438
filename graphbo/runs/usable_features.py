"""Which properties can be features, by a sample of the nodes: for ``auto``, and before anything is written."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from graphbo.errors import ModelError
from graphbo.search.features import AUTO, NUMBERS, Scale, scale_of
from graphbo.stores import GraphStore
from graphbo.types import View
from graphbo.types.text import cut

__all__ = ["UsableFeatures", "usable_features"]

#: Nodes that are looked at, always the same ones.
_SAMPLE, _SEED = 500, (0, 0)

#: A text of which hardly any two nodes have the same, and what else is of no use, is named in one line.
_MOST_NAMED = 8


@dataclass(frozen=True)
class UsableFeatures:
    """What a sample showed.

    Attributes:
        found: what kind of values each property has that is a feature.
        left_out: why each other property is none.
    """

    found: Mapping[str, str]
    left_out: Mapping[str, str]

    @property
    def names(self) -> tuple[str, ...]:
        """The features."""
        return tuple(self.found)

    def __str__(self) -> str:
        named = ", ".join(f"{name} ({about})" for name, about in self.found.items())
        said = f"Features: {named}" if named else "Features: no property is fit for one"
        others = [f"{name} ({why})" for name, why in self.left_out.items()]
        if len(others) > _MOST_NAMED:
            others[_MOST_NAMED:] = [f"{len(others) - _MOST_NAMED} more"]
        return f"{said}; left out: {', '.join(others)}" if others else said


def usable_features(
    store: GraphStore,
    view: View,
    named: Sequence[str],
    without: Collection[str] = (),
    *,
    prior: str = "",
) -> UsableFeatures:
    """The features that names mean, without the prior.

    Args:
        store: where the graph is.
        view: the graph, with its key.
        named: properties, or ``auto``.
        without: properties that ``auto`` leaves alone: what is measured, and what runs wrote.
        prior: the property that is somebody's belief about the answer, if there is one.

    Raises:
        ModelError: one that was named cannot be used.
        StoreError: the database does not answer.
    """
    keys = store.random_keys(view, _SAMPLE, _SEED)
    rows = list(store.properties(view, keys).values())
    if named == AUTO:
        skipped = {view.key, prior, *without, *store.unique_properties(view)}
        names = sorted({name for row in rows for name in row} - skipped)
    else:
        names = list(dict.fromkeys(named))
    scales = {name: scale_of([row.get(name) for row in rows]) for name in names}
    if prior:
        _refuse_prior(prior, scale_of([row.get(prior) for row in rows]))
    found = {name: one.about for name, one in scales.items() if not isinstance(one, str)}
    left_out = {name: one for name, one in scales.items() if isinstance(one, str)}
    if named != AUTO and left_out:
        name, why = next(iter(left_out.items()))
        raise ModelError(
            f"the property {cut(name, 60)!r} can be no feature: {why}, as far as a sample of "
            f"{len(rows)} nodes shows"
        )
    return UsableFeatures(found, left_out)


def _refuse_prior(name: str, found: Scale | str) -> None:
    why = found if isinstance(found, str) else f"it holds {found.about}, where numbers are expected"
    if isinstance(found, str) or found.about != NUMBERS:
        raise ModelError(
            f"the property {cut(name, 60)!r} can be no prior: {why}, as far as a sample shows"
        )
