"""Where results go: standard output, whatever else prints meanwhile, tables, and files, each of its own run."""

import contextlib
import hashlib
import os
import re
import sys
import unicodedata
from collections.abc import Iterator, Sequence

__all__ = ["file_stem", "kept_for_the_result", "print_table"]

#: So much of a name goes into the name of a file: systems allow 255 bytes, and a character may take four.
_LONGEST_STEM = 50


def file_stem(name: str) -> str:
    """A name of a file, without its ending, for a run: the same run has the same one, and no two runs share one.

    Some systems take small and capital letters, or two ways to write an accent, for the same.
    """
    stem = re.sub(r"[^\w-]+", "-", name).strip("-")[:_LONGEST_STEM]
    if stem == unicodedata.normalize("NFC", name).casefold() == name:
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{stem}-{digest}" if stem else f"run-{digest}"


@contextlib.contextmanager
def kept_for_the_result(wanted: bool) -> Iterator[None]:
    """Send to standard error what others print: Python code, and all that writes to the file itself or inherits it.

    Args:
        wanted: whether to do so; a person is not disturbed by what an objective says.
    """
    if not wanted:
        yield
        return
    sys.stdout.flush()
    ours = os.dup(1)
    try:
        os.dup2(2, 1)
        with contextlib.redirect_stdout(sys.stderr):
            yield
        if sys.__stdout__ is not None:
            sys.__stdout__.flush()  # somebody may have kept it
    finally:
        os.dup2(ours, 1)
        os.close(ours)


def print_table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns with spaces between them; in a pipe nothing is cut off.

    A column without a title holds remarks, which go on in the next line where a terminal is too narrow.
    """
    from rich.console import Console  # noqa: PLC0415 - most commands have no table
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in titles:
        table.add_column(title, no_wrap=bool(title), overflow="ellipsis" if title else "fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console = Console()
    if not console.is_terminal:
        console.width = 10_000
    console.print(table)
