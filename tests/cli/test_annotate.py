"""``graphbo annotate``, and that ``clean`` and ``--dry-run`` know what it writes."""

from tests.backends import Backend, on_sqlite
from tests.cli.runs import OPTIONS, InProcess

RUN = ("run", *OPTIONS, "--objective", "property:score", "--name", "search", "--budget", 8)
SMALL = ("--option", "initial=4", "--option", "size=16", "--option", "egos=1")
NOW = ["graphboMeanNow", "graphboStdNow", "graphboAcquisitionNow", "graphboWhyNow"]


def test_annotating_and_cleaning(loaded: Backend, here: InProcess) -> None:
    before = loaded.dump()
    assert here(*RUN, *SMALL).code == 0
    plain = here("annotate", "search")
    assert plain.code == 0, plain
    assert "are written on its nodes: 8 observed, 0 failed, 0 pending." in plain.out
    assert ("Next: graphbo browser search" in plain.out) == (loaded.name == "neo4j")
    done = here("annotate", "search", "--posterior", "--json").json
    assert (done["observed"], done["region"]) == (8, 16)
    assert done["properties"][-4:] == NOW
    assert ("GraphboRegion" in done["labels"]) == (loaded.name == "neo4j")
    again = here("annotate", "search", "--posterior")
    assert "What is believed now is on 16 nodes of the region" in again.out
    why = here("annotate", "search", "--why")
    assert "Why is on 8 more nodes: graphboWhy." in why.out
    assert here("annotate", "search", "--why", "--json").json["explained"] == 0
    cleaned = here("clean", "search", "--yes", "--json").json
    assert cleaned["properties"][-4:] == NOW
    assert loaded.dump() == before


@on_sqlite
def test_what_a_dry_run_lists_is_what_may_be_written(loaded: Backend, here: InProcess) -> None:
    listed = here(*RUN, *SMALL, "--dry-run", "--json").json
    assert here(*RUN, *SMALL).code == 0
    assert here("annotate", "search", "--posterior").code == 0
    removed = here("clean", "search", "--yes", "--json").json
    assert set(listed["properties"]) == set(removed["properties"])
    assert set(listed["labels"]) == set(removed["labels"])
    assert "GRAPHBO_REGION" in listed["relationships"]


@on_sqlite
def test_mistakes_are_one_line_and_change_nothing(loaded: Backend, here: InProcess) -> None:
    assert here(*RUN, "--strategy", "random").code == 0
    before = loaded.dump()
    for words, expected in [
        (("annotate", "nobody"), "there is no run 'nobody'"),
        (("annotate", "search", "--posterior"), "'random' of the run 'search' has no model"),
    ]:
        assert expected in here(*words).failed_with_one_line()
    assert loaded.dump() == before
