"""How a server that is being started tells what it is doing; it never prints by itself."""

from typing import Protocol


class StartListener(Protocol):
    """Listens to a start. The calls come from several threads, never two at a time."""

    def step(self, message: str) -> None:
        """A new stage began, such as "starting Neo4j 2026.08.1"."""

    def fetching(self, files: int, size: int) -> None:
        """This many files of together ``size`` bytes will be downloaded now."""

    def fetched(self, size: int) -> None:
        """Another ``size`` bytes arrived; negative when a broken download starts again."""


class Silent:
    """A :class:`StartListener` that keeps it to itself."""

    def step(self, message: str) -> None:
        """Do nothing."""

    def fetching(self, files: int, size: int) -> None:
        """Do nothing."""

    def fetched(self, size: int) -> None:
        """Do nothing."""
