"""Papers and their authors: which paper will be cited most?"""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from graphbo.bench.tasks.base import Connectors
from graphbo.bench.tasks.connected import ConnectedTask, Parts
from graphbo.bench.tasks.parameters import Within
from graphbo.types import IntArray

__all__ = ["Papers"]

#: How likely an author of a new paper is to be new, too, and to come from another field.
_NEW, _GUEST = 0.25, 0.05


@dataclass(frozen=True)
class Papers(ConnectedTask):
    """A paper is cited by what its authors are known for, its field, and luck.

    Papers appear one after the other, each in a field. Its authors (1 to 8, about 3) are new, or drawn from those of
    the field by how many papers they have, so few write many. Citations are log-normal: the mean standing of the
    authors, half as much of the field, and luck.
    """

    name: ClassVar[str] = "papers"
    kinds = ("AUTHOR",)

    n: Annotated[int, Within(20, 10**6), "how many papers"] = 1000
    fields: Annotated[int, Within(1, 1000), "how many fields"] = 12
    luck: Annotated[
        float, Within(0, 100), "the standard deviation of luck, beside 1 of standing"
    ] = 0.3

    def _parts(self, rng: np.random.Generator) -> Parts:
        field = rng.integers(self.fields, size=self.n)
        links = self._authors(field, rng)
        papers, authors = links.T
        standing = rng.normal(size=int(authors.max()) + 1)
        total = np.bincount(papers, weights=standing[authors], minlength=self.n)
        logarithm = total / np.bincount(papers, minlength=self.n)
        logarithm += 0.5 * rng.normal(size=self.fields)[field] + self.luck * rng.normal(size=self.n)
        return Parts(np.exp(logarithm), (Connectors("AUTHOR", links),))

    def _authors(self, field: IntArray, rng: np.random.Generator) -> IntArray:
        """The papers with their authors; in each field's list an author stands once for each paper."""
        written: list[list[int]] = [[] for _ in range(self.fields)]
        links: list[tuple[int, int]] = []
        known = 0
        for paper, own in enumerate(field.tolist()):
            team: set[int] = set()
            for _ in range(min(1 + int(rng.poisson(2)), 8)):
                where = int(rng.integers(self.fields)) if rng.random() < _GUEST else own
                if not written[where] or rng.random() < _NEW:
                    team.add(known)
                    known += 1
                else:
                    team.add(written[where][int(rng.integers(len(written[where])))])
            written[own] += sorted(team)
            links += [(paper, author) for author in sorted(team)]
        return np.array(links, dtype=np.int64)
