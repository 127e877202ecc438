"""What strategies are given."""

from graphbo.search.strategies.situation import Situations
from graphbo.types import Candidate, Observation, Pending, Proposal, Subgraph
from tests.search.strategies.support import situation

HISTORY = [
    Observation(step=1, seq=1, key=1, value=1.0),
    Observation(step=2, seq=2, key=3, value=None, error="it failed", restart=2),
]


def awaited(key: int, restart: int = 0) -> Pending:
    candidate = Candidate(key)
    return Pending(3, candidate, Proposal((candidate,), "model", restart), "worker", "token")


def test_it_knows_who_may_be_proposed() -> None:
    now = situation(HISTORY, [awaited(4)])
    assert now.candidates(Subgraph.from_edges(range(5), [])) == [0, 2]
    assert now.taken == {1, 3, 4}
    assert now.awaited == [4]
    assert now.evaluated == [1]
    assert now.asked == 3


def test_what_is_awaited_may_be_in_a_later_region() -> None:
    assert situation(HISTORY).last_restart == 2
    assert situation(HISTORY, [awaited(4, restart=1)]).last_restart == 2
    assert situation(HISTORY, [awaited(4, restart=3)]).last_restart == 3


def test_the_next_goes_on_from_the_last() -> None:
    situations = Situations()
    before = situations.of(HISTORY[:1], seed=7, step=2, maximize=False)
    after = situations.of(HISTORY, seed=7, step=3, maximize=False)
    assert after.told is before.told
    assert (after.seed, after.step, after.maximize) == (7, 3, False)


def test_another_history_is_told_anew() -> None:
    situations = Situations()
    before = situations.of(HISTORY, seed=0, step=3, maximize=True)
    shorter = situations.of(HISTORY[:1], seed=0, step=2, maximize=True)
    assert before.told.history == HISTORY
    assert shorter.told.history == HISTORY[:1]
