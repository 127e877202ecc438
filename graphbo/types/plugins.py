"""What installed packages add to graphbo: strategies, kernels, objectives and tasks, found by their entry points.

Our own names win. Nothing is looked for until a name is not one of ours, or all names are wanted; nothing is imported
until it is used.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from graphbo.errors import GraphboError

__all__ = ["Names", "Plugin"]

T = TypeVar("T")


@dataclass(frozen=True)
class Plugin:
    """An entry point, not imported yet. It can be pickled, for processes that have the same packages.

    Attributes:
        group: what it adds to, like ``graphbo.strategies``.
        name: what users call it.
        value: where it is, ``MODULE:NAME``.
        packages: who provides it.
    """

    group: str
    name: str
    value: str
    packages: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.name!r} in {self.group}, of the package {self.packages[0]},"

    def load(self) -> Any:
        """What it names, imported.

        Raises:
            GraphboError: several packages provide it, it cannot be imported, or it cannot be called.
        """
        from importlib.metadata import EntryPoint  # noqa: PLC0415 - not needed without plugins

        if len(self.packages) > 1:
            raise GraphboError(
                f"several packages provide {self.name!r} in {self.group}: {', '.join(self.packages)}; keep one of them"
            )
        try:
            found = EntryPoint(self.name, self.value, self.group).load()
        except Exception as error:  # noqa: BLE001 - importing runs the code of the package
            raise GraphboError(
                f"{self} cannot be imported: {type(error).__name__}: {error}"
            ) from None
        if not callable(found):
            raise GraphboError(
                f"{self} is a {type(found).__name__}: expected something to be called"
            )
        return found


class Names(Mapping[str, T]):
    """From names to what they stand for: our own, then those of plugins.

    Args:
        group: of the entry points, without ``graphbo.``
        own: our own, which no plugin replaces.
        adopt: makes what our own are of a plugin; without it, that is what the plugin names.
    """

    def __init__(
        self, group: str, own: Mapping[str, T], adopt: Callable[[Plugin], T] = Plugin.load
    ) -> None:
        self.own = own
        self._group = f"graphbo.{group}"
        self._adopt = adopt

    def __getitem__(self, name: str) -> T:
        return self.own[name] if name in self.own else self._adopt(self._plugins[name])

    def __contains__(self, name: object) -> bool:
        return name in self.own or name in self._plugins

    def __iter__(self) -> Iterator[str]:
        yield from self.own
        yield from (name for name in self._plugins if name not in self.own)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @cached_property
    def _plugins(self) -> Mapping[str, Plugin]:
        from importlib.metadata import entry_points  # noqa: PLC0415 - not needed without plugins

        found: dict[str, Plugin] = {}
        for entry in entry_points(group=self._group):
            others = found[entry.name].packages if entry.name in found else ()
            package = entry.dist.name if entry.dist else entry.module
            packages = tuple(sorted({*others, package}))
            found[entry.name] = Plugin(self._group, entry.name, entry.value, packages)
        return dict(sorted(found.items()))
