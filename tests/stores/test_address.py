"""Addresses of databases, services and clusters: what of them may be printed."""

import pytest

from graphbo.cli.options import place_at
from graphbo.errors import InvalidAddress, StoreError
from graphbo.stores import Address, address_from, open_store
from graphbo.stores.address import public_uri, secrets_of, without_secrets


@pytest.mark.parametrize(
    ("uri", "public"),
    [
        ("neo4j://host:7687", "neo4j://host:7687"),
        ("neo4j://ann:hunter2@host:7687", "neo4j://host:7687"),
        ("neo4j://host?password=hunter2&policy=eu", "neo4j://host?…"),
        ("https://ann:hunter2@host/a/b?token=hunter2#hunter2", "https://host/a/b?…"),
        ("dask://ann:hunter2@host:8786", "dask://host:8786"),
        ("sqlite://ann:hunter2@host/x?password=hunter2", "sqlite://host/x?…"),
        ("dask://ann:hunter2@[host", "dask://…"),
        ("dask://ann:hunter2", "dask://…"),
        ("ann:hunter2@host", "…"),
        ("host:8786", "host:8786"),
    ],
)
def test_what_is_printed_of_an_address(uri: str, public: str) -> None:
    assert public_uri(uri) == public


def test_what_somebody_else_says_of_an_address() -> None:
    secrets = secrets_of("https://annabel:p%40ss%2Fword@host/x?id=7&key=a%20b%2Bc%3D&plain=T0ken")
    for echoed in (
        *("p%40ss%2Fword", "p%40ss%2fword", "p@ss/word", "p%40ss/word", "annabel"),
        *("a%20b%2Bc%3D", "a%20b%2bc%3d", "a b+c=", "a+b%2Bc%3D", "T0ken"),
        "id=7&key=a%20b%2Bc%3D&plain=T0ken",
    ):
        assert without_secrets(f"not '{echoed}'!", secrets) == "not '…'!"
    assert without_secrets("7 tokens", secrets) == "7 tokens"


def test_an_address_has_a_public_face() -> None:
    address = address_from("neo4j://ann:hunter2@host/graphs?password=hunter3", environment={})
    assert (address.username, address.password, address.database) == ("ann", "hunter2", "graphs")
    assert address.public == "neo4j://host:7687?…"
    assert address.uri == "neo4j://host:7687?password=hunter3"
    assert "hunter" not in repr(address)
    assert "hunter" not in address.place


@pytest.mark.parametrize(
    "uri",
    [
        "sqlite://ann:hunter2@host/x?password=hunter2",
        "neo4j://ann:12/hunter2@host",
        "neo4j://ann:12?hunter2@host",
        "neo4j://ann:12#hunter2@host",
        "http://ann:hunter2@host?hunter2",
        "neo4j://host:hunter2",
        "neo4j://ann:hunter2@host?…",
    ],
)
def test_an_address_that_cannot_be_used_is_not_repeated(uri: str) -> None:
    with pytest.raises(InvalidAddress) as caught:
        address_from(uri, environment={})
    assert "hunter2" not in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("scheme", ["neo4j", "bolt"])
def test_what_the_driver_says_of_an_address(scheme: str) -> None:
    address = address_from(f"{scheme}://ann:pass-word@127.0.0.1:9?key=hunter2", environment={})
    with pytest.raises((StoreError, InvalidAddress)) as caught:
        open_store(address)
    assert "hunter2" not in str(caught.value)
    assert "pass-word" not in str(caught.value)


def test_what_has_to_be_added_to_a_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("NEO4J_URI", "NEO4J_USERNAME", "NEO4J_PASSWORD"):
        monkeypatch.delenv(name, raising=False)
    place = place_at("neo4j://ann:hunter2@host?key=hunter2", None, None)
    assert "hunter2" not in capsys.readouterr().err + place.command("run")
    assert "set NEO4J_USERNAME and NEO4J_PASSWORD" in place.to_fill_in
    assert "back into --uri" in place.to_fill_in
    monkeypatch.setenv("NEO4J_PASSWORD", "hunter2")
    assert place_at("neo4j://ann:hunter2@host", None, None).to_fill_in == ""
    assert place_at("neo4j://host", None, None).to_fill_in == ""
    assert place_at("sqlite:graph.db", None, None).to_fill_in == ""


def test_which_database_it_is() -> None:
    assert Address("neo4j://h:7687", "ann", "x").place == Address("neo4j://h:7687", "bob").place
    assert Address("neo4j://h:7687", database="a").place != Address("neo4j://h:7687").place
    assert address_from("sqlite:a.db").place == address_from("sqlite:./x/../a.db").place
