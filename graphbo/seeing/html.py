"""A report: one file that works offline. Nothing in it is fetched, and nothing that people named is ever code."""

import json
from base64 import b64encode
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Any

from graphbo.seeing.data import page_data
from graphbo.seeing.run_facts import RunLike, facts_of

__all__ = ["embedded_json", "html_of"]


def html_of(run: RunLike, *, optimum: float | None = None) -> str:
    """The report of a run as a page of its own; of a result, without the map and the kernel.

    Args:
        run: what to report on.
        optimum: the best value there is, where it is known: then there is a regret.

    Raises:
        StoreError: the database does not answer.
        RunError: the optimum is worse than a value that was measured.
    """
    data = page_data(facts_of(run, optimum=optimum))
    style, script = _part("page.css"), _part("figures.js") + "\n" + _part("page.js")
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'"
    )
    page = _part("page.html")
    # The data comes last: no name in it can be taken for one of the page's own marks.
    for mark, text in (
        ("@POLICY@", escape(policy)),
        ("@STYLE@", style),
        ("@SCRIPT@", script),
        ("@TITLE@", escape(f"{data['name']} – graphbo").replace("@", "&#64;")),
        ("@DATA@", embedded_json(data)),
    ):
        page = page.replace(mark, text, 1)
    return page


def embedded_json(data: Any) -> str:
    """JSON that may stand inside a ``<script>``: nothing in it can end the element or begin a comment."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    # Half a surrogate pair is no text that could be written to a file.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


@cache
def _part(name: str) -> str:
    return files("graphbo.seeing").joinpath("page", name).read_text(encoding="utf-8").strip()


def _hash(text: str) -> str:
    """What a policy calls this very text."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
