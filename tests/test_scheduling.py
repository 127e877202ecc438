"""What ``tests/scheduling.py`` says of the tests is true of those that there are."""

import pytest

from tests.scheduling import LONG_TERM, ORDER


def test_what_comes_first_is_there(pytestconfig: pytest.Config) -> None:
    assert [path for path in ORDER if not (pytestconfig.rootpath / path).exists()] == []


def test_all_that_need_the_older_server_stay_together(request: pytest.FixtureRequest) -> None:
    needing = {
        item.nodeid.partition("::")[0]
        for item in request.session.items
        if isinstance(item, pytest.Function) and "long_term" in f"{item.nodeid} {item.fixturenames}"
    }
    assert needing <= set(LONG_TERM)
