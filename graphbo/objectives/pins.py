"""What this user has agreed to run on this machine, of the texts that databases hold.

Whoever may write to a database can put a program's name into it. So a text that came from there is run only if somebody
here has seen it: it is pinned, by a hash over the database, the kind of thing and the whole text. Another text, or the
same one in another database, is another pin.
"""

import contextlib
import hashlib
import json
import logging
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from graphbo.errors import GraphboError

__all__ = ["is_pinned", "pin", "pins_file"]

log = logging.getLogger(__name__)


def pins_file() -> Path:
    """Where pins are kept: in ``GRAPHBO_CONFIG_DIR``, else with the user's other settings.

    Raises:
        GraphboError: this user has no place for settings.
    """
    own = os.environ.get("GRAPHBO_CONFIG_DIR")
    if own:
        return Path(own) / "pins.json"
    try:
        base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    except RuntimeError:  # as in a container, for a user that it does not know
        raise GraphboError("this user has no home directory: set GRAPHBO_CONFIG_DIR") from None
    return Path(base) / "graphbo" / "pins.json"


def is_pinned(place: str, kind: str, text: str) -> bool:
    """Whether this text was agreed to. A file that cannot be read holds no pins, and a warning says so.

    Args:
        place: the database that it is in, see ``Address.place``.
        kind: what it is, like ``objective``.
        text: the whole of it.
    """
    try:
        return _hash(place, kind, text) in _read(pins_file())
    except GraphboError as error:
        log.warning("no pins are used: %s", error)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is damaged"
        log.warning("the pins in %s are not used: %s", pins_file(), reason)
    return False


def pin(place: str, kind: str, text: str) -> None:
    """Remember that this text was agreed to; see ``is_pinned``.

    Raises:
        GraphboError: that cannot be written down.
    """
    path = pins_file()
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _locked(path.parent):
            known: set[str] = set()
            with contextlib.suppress(ValueError):
                known = _read(path)
            _write(path, known | {_hash(place, kind, text)})
    except OSError as error:
        raise GraphboError(f"{path} cannot be written: {error.strerror or error}") from None


def _hash(place: str, kind: str, text: str) -> str:
    return hashlib.sha256(json.dumps([place, kind, text]).encode("ascii")).hexdigest()


def _read(path: Path) -> set[str]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return set()
    except RecursionError:
        raise ValueError from None
    pins = content.get("pins") if isinstance(content, dict) else None
    if not isinstance(pins, list) or not all(isinstance(one, str) for one in pins):
        raise ValueError
    return set(pins)


def _write(path: Path, pins: set[str]) -> None:
    """All or nothing: a reader never sees half of it. Temporary files are for their owner only."""
    number, name = tempfile.mkstemp(prefix=".pins-", dir=path.parent)
    try:
        with os.fdopen(number, "w", encoding="utf-8") as file:
            json.dump({"pins": sorted(pins)}, file, indent=1)
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


@contextlib.contextmanager
def _locked(directory: Path) -> Iterator[None]:
    """One process at a time: two that add a pin at the same moment must not lose one."""
    try:
        import fcntl  # noqa: PLC0415 - not on Windows, where the rest works
    except ImportError:
        yield
        return
    number = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(number, fcntl.LOCK_EX)
        yield
    finally:
        os.close(number)
