"""Ports: what was asked for, else the usual, else any that is free."""

import socket
from collections.abc import Iterator

import pytest

from graphbo.errors import ServerError
from graphbo.stores.neo4j.server.ports import LOOPBACK, choose_ports, is_free

NAMES = ("bolt", "http")


@pytest.fixture(params=[LOOPBACK, ""], ids=["loopback", "all addresses"])
def taken(request: pytest.FixtureRequest) -> Iterator[int]:
    with socket.create_server((request.param, 0)) as listener:
        yield listener.getsockname()[1]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


def test_a_port_is_free_until_somebody_listens(taken: int) -> None:
    assert not is_free(taken)
    assert is_free(free_port())


def test_the_usual_ports_are_taken_when_free() -> None:
    usual = (free_port(), free_port())

    assert choose_ports((None, None), usual, NAMES) == list(usual)


def test_another_port_is_found_when_the_usual_is_taken(taken: int) -> None:
    bolt, http = choose_ports((None, None), (taken, taken), NAMES)

    assert len({bolt, http, taken}) == 3
    assert is_free(bolt)
    assert is_free(http)


def test_any_port_will_do_where_none_is_usual() -> None:
    bolt, http = choose_ports((None, None), (None, None), NAMES)

    assert bolt != http
    assert is_free(bolt)


def test_a_port_that_was_asked_for_is_used_or_refused(taken: int) -> None:
    wanted = free_port()

    assert choose_ports((wanted, None), (1, wanted), NAMES)[0] == wanted
    assert choose_ports((wanted, None), (1, wanted), NAMES)[1] != wanted
    with pytest.raises(ServerError, match=f"port {taken} is taken: choose another http port"):
        choose_ports((None, taken), (wanted, wanted), NAMES)


def test_one_port_for_two_purposes_is_refused() -> None:
    port = free_port()

    with pytest.raises(ServerError, match="must differ"):
        choose_ports((port, port), (1, 2), NAMES)
