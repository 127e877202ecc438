"""Papers that are cited by what their authors are known for."""

import numpy as np

from graphbo.bench.tasks.papers import Papers


def test_few_authors_write_many_papers() -> None:
    (kind,) = Papers().problem(0).connectors
    written = np.sort(np.bincount(kind.links[:, 1]))
    assert written[-1] > 10 * np.median(written)


def test_without_luck_papers_of_the_same_authors_and_field_are_cited_alike() -> None:
    problem = Papers(n=300, fields=1, luck=0).problem(2)
    (kind,) = problem.connectors
    cited: dict[frozenset[int], set[float]] = {}
    for paper, value in enumerate(problem.values.round(9).tolist()):
        authors = frozenset(kind.links[kind.links[:, 0] == paper, 1].tolist())
        cited.setdefault(authors, set()).add(value)
    assert any(len(authors) == 1 for authors in cited)
    assert all(len(values) == 1 for values in cited.values())
