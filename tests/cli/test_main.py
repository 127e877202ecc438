"""How the command ends."""

import logging

import pytest

import graphbo.cli
from graphbo.errors import GraphboError


def ends(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> object:
    def fail(**_: object) -> None:
        raise error

    monkeypatch.setattr(graphbo.cli.graphbo, "main", fail)
    with pytest.raises(SystemExit) as ended:
        graphbo.cli.main()
    return ended.value.code


def after_interrupt(error: Exception) -> Exception:
    """An error while something tidies up after Ctrl-C."""
    try:
        try:
            raise KeyboardInterrupt
        finally:
            raise error
    except Exception as raised:  # noqa: BLE001 -- it is what the test is about
        return raised


def test_an_interrupt_that_an_error_covers_is_still_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for error in (GraphboError("the server has gone"), OSError("defunct")):
        assert ends(monkeypatch, after_interrupt(error)) == 130
        assert capsys.readouterr().err == "graphbo: interrupted\n"


def test_what_the_driver_tries_again_is_not_reported(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    log = logging.getLogger("neo4j")
    monkeypatch.setattr(log, "handlers", [])
    monkeypatch.setattr(log, "propagate", False)
    ends(monkeypatch, GraphboError("the server has gone"))
    log.warning("Transaction failed and will be retried")
    assert "retried" not in capfd.readouterr().err


def test_an_error_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ends(monkeypatch, GraphboError("the server has gone")) == 1
    assert capsys.readouterr().err == "graphbo: the server has gone\n"
