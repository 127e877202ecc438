"""A page in a browser, and what went wrong there."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Page

__all__ = ["Opened"]


@dataclass
class Opened:
    """Calling it opens a page."""

    show: Callable[..., Page]
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def __call__(self, html: str, **options: Any) -> Page:
        return self.show(html, **options)

    def was_quiet(self) -> None:
        """Nothing was said on the console, and nothing was asked of the network."""
        assert self.complaints == []
        assert self.requests == []
