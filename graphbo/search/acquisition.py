"""Which node to measure next: a score per node from its posterior, and a ranking of the candidates.

Every function is for maximisation and takes means, standard deviations and the incumbent, the best value
so far, in the user's units. :func:`rank` turns minimisation into it by flipping signs, so there is one
code for both.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import erfcx, ndtr

from graphbo.errors import ModelError
from graphbo.types import FloatArray, IntArray, Posterior

__all__ = [
    "ACQUISITIONS",
    "DEFAULT_ACQUISITION",
    "Acquisition",
    "Ranking",
    "expected_improvement",
    "log_expected_improvement",
    "rank",
    "refuse_without_cost",
    "upper_confidence_bound",
]

#: From means, standard deviations and the incumbent to one number per node; more is better.
Score: TypeAlias = Callable[[FloatArray, FloatArray, float], FloatArray]

#: How many standard deviations above its mean a node is taken to be worth by the confidence bound.
KAPPA = 2.0

#: Scores that differ by less are tied: rounding must not decide between two alike nodes.
TIE = 1e-9

SQRT_2PI = float(np.sqrt(2 * np.pi))

#: Below this, log h(z) takes its asymptotic series: 1 + z h'… would lose every digit.
SERIES_BELOW = -300.0


def expected_improvement(mean: FloatArray, std: FloatArray, incumbent: float) -> FloatArray:
    """E[max(f − incumbent, 0)]: how much a measurement can be expected to gain."""
    with np.errstate(under="ignore"):
        improvement: FloatArray = np.exp(log_expected_improvement(mean, std, incumbent))
    return improvement


def log_expected_improvement(mean: FloatArray, std: FloatArray, incumbent: float) -> FloatArray:
    """The logarithm of the expected improvement, which still ranks nodes where that underflows."""
    gain = mean - incumbent
    result = np.full(gain.shape, -np.inf)
    certain = std <= 0
    ahead = certain & (gain > 0)
    result[ahead] = np.log(gain[ahead])
    z = _quotient(gain[~certain], std[~certain])
    result[~certain] = np.log(std[~certain]) + _log_h(z)
    return result


def upper_confidence_bound(mean: FloatArray, std: FloatArray, incumbent: float) -> FloatArray:
    """Mean + κ std: optimism in the face of uncertainty."""
    del incumbent
    return mean + KAPPA * std


def _relative_bound(mean: FloatArray, std: FloatArray, incumbent: float) -> FloatArray:
    """The confidence bound above the incumbent, in typical deviations: the same order, no units."""
    typical = float(std.mean()) if std.size else 0.0
    return upper_confidence_bound(mean - incumbent, std, 0.0) / (typical or 1.0)


def _quotient(gain: FloatArray, std: FloatArray) -> FloatArray:
    """Gain in standard deviations, within the range whose square is still a number."""
    with np.errstate(over="ignore"):
        return np.clip(gain / std, -1e150, 1e150)


def _log_h(z: FloatArray) -> FloatArray:
    """Log h for h(z) = φ(z) + zΦ(z), the expected improvement of a standard normal z ahead."""
    result = np.empty(z.shape)
    near, far = z >= -1, z < SERIES_BELOW
    middle = ~near & ~far
    x = z[near]
    with np.errstate(under="ignore"):
        result[near] = np.log(np.exp(-0.5 * x * x) / SQRT_2PI + x * ndtr(x))
    # h(z) = φ(z) (1 − |z| Φ(−|z|)/φ(z)), and the last quotient is a scaled erfc.
    x = z[middle]
    result[middle] = np.log1p(x * np.sqrt(np.pi / 2) * erfcx(-x / np.sqrt(2)))
    # h(z) = φ(z) z⁻² (1 − 3z⁻² + …)
    x = z[far]
    result[far] = np.log1p(-3.0 / np.square(x)) - 2.0 * np.log(-x)
    result[~near] -= 0.5 * np.square(z[~near]) + np.log(SQRT_2PI)
    return result


@dataclass(frozen=True)
class Acquisition:
    """A rule for choosing nodes.

    Attributes:
        value: what is reported for a node, in the user's units where it has any.
        score: what nodes are ordered by: an increasing function of the value, of order 1 and without
            units, so that one tolerance says what a tie is.
        per_cost: whether the score is the logarithm of something that a cost divides.
    """

    value: Score
    score: Score
    per_cost: bool = True


#: From a name to the acquisition.
ACQUISITIONS: dict[str, Acquisition] = {
    "ei": Acquisition(expected_improvement, log_expected_improvement),
    "log-ei": Acquisition(log_expected_improvement, log_expected_improvement),
    "ucb": Acquisition(upper_confidence_bound, _relative_bound, per_cost=False),
}

DEFAULT_ACQUISITION = "ei"


def refuse_without_cost(acquisition: str) -> None:
    """Check that an acquisition can be had per cost.

    Raises:
        ModelError: it cannot.
    """
    if not ACQUISITIONS[acquisition].per_cost:
        per_cost = ", ".join(name for name, rule in ACQUISITIONS.items() if rule.per_cost)
        raise ModelError(
            f"the acquisition {acquisition} cannot be had per cost: choose from {per_cost}, or leave out the cost"
        )


@dataclass(frozen=True, eq=False)
class Ranking:
    """Candidates from the most to the least promising.

    Attributes:
        rows: the candidates' rows.
        values: their acquisition values; more is better, whether values are maximized or minimized.
    """

    rows: IntArray
    values: FloatArray

    def __len__(self) -> int:
        return len(self.rows)


def rank(
    posterior: Posterior,
    candidates: npt.ArrayLike,
    incumbent: float,
    generator: np.random.Generator,
    *,
    acquisition: str = DEFAULT_ACQUISITION,
    maximize: bool = True,
    discount: FloatArray | None = None,
) -> Ranking:
    """Order the candidates by what measuring them promises; equals come in random order.

    Row numbers follow the order in which nodes were loaded, which correlates with degree and age: ties
    must not be broken by them.

    Args:
        posterior: of all rows of the subgraph.
        candidates: the rows that may be measured, those not observed yet.
        incumbent: the best value observed.
        generator: where the order of equals comes from.
        acquisition: one of ``ACQUISITIONS``.
        maximize: False to look for small values.
        discount: by row of the subgraph, what goes off the logarithm of the expected improvement for what
            the measurement costs. The values that are reported are without it.

    Raises:
        ModelError: there is no such acquisition, it has no meaning per cost, or a candidate is not in the
            posterior.
    """
    if acquisition not in ACQUISITIONS:
        raise ModelError(
            f"no acquisition is called {acquisition!r}: choose from {', '.join(ACQUISITIONS)}"
        )
    rows = np.asarray(candidates, dtype=np.int64)
    if rows.size and (rows.min() < 0 or rows.max() >= len(posterior)):
        raise ModelError(f"a candidate is not among the posterior's rows 0 to {len(posterior) - 1}")
    rows = generator.permutation(rows)
    sign = 1.0 if maximize else -1.0
    mean, std = sign * posterior.mean[rows], posterior.std[rows]
    rule = ACQUISITIONS[acquisition]
    scores = rule.score(mean, std, sign * incumbent) + TIE * generator.random(len(rows))
    if discount is not None:
        refuse_without_cost(acquisition)
        scores -= discount[rows]
    order = np.argsort(-scores, kind="stable")
    values = rule.value(mean, std, sign * incumbent)
    return Ranking(rows[order], values[order])
