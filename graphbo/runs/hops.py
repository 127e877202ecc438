"""Whether a run's statement for edges may be run here.

Whoever may write to a database can put a statement into a run, and it would be run with the rights of whoever goes on
with it. So it is run only if somebody here gave it, or agreed to it: it is pinned as objectives are.
"""

import logging

from graphbo.errors import GraphboError, Remedy, RunError
from graphbo.objectives.pins import is_pinned, pin
from graphbo.runs.records import RunRecord
from graphbo.stores import GraphStore
from graphbo.types import View

__all__ = ["agree_to_hop", "is_agreed", "refuse_foreign_hop"]

#: What a pin is for.
_KIND = "hop"

log = logging.getLogger(__name__)


def is_agreed(store: GraphStore, view: View) -> bool:
    """Whether somebody here has seen the statement of this view; one in memory is of this process."""
    if view.hop is None or store.access is None:
        return True
    return is_pinned(store.access.place, _KIND, view.hop)


def agree_to_hop(store: GraphStore, view: View) -> None:
    """Let the statement of this view be run on this machine whenever this database asks for it."""
    if view.hop is None or store.access is None or is_agreed(store, view):
        return
    try:
        pin(store.access.place, _KIND, view.hop)
    except GraphboError as error:
        log.warning("the statement for the edges will have to be given again: %s", error)


def refuse_foreign_hop(store: GraphStore, record: RunRecord) -> None:
    """Check that the statement of a run may be run here.

    Raises:
        RunError: the database names it, and nobody here agreed to that.
    """
    if not is_agreed(store, record.view):
        raise RunError(
            f"the run {record.name!r} in the database would run a Cypher statement of its own, which nobody here has "
            "agreed to",
            Remedy.GIVE_HOP,
            run=record.name,
        )
