"""How much each mode of a spectrum weighs: what kernels share with the default model, which does without scikit-learn.

That takes a second to import, which is longer than a step takes.
"""

# ruff: noqa: N803 (X is scikit-learn's name)

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq

from graphbo.errors import ModelError
from graphbo.search.spectrum import Spectrum
from graphbo.types import FloatArray, IntArray

__all__ = [
    "FRACTION",
    "ZERO_WEIGHT",
    "diffusion_weights",
    "effective_beta",
    "rows_of",
    "solve_for_fraction",
    "weights_of",
]

#: What a zero mode weighs beside the smoothest other one. Measured: without any zero mode the search
#: loses .04.
ZERO_WEIGHT = 30.0

#: The share of the non-zero modes that a kernel starts with, in effect (see effective_beta).
FRACTION = 0.1


def weights_of(logs: FloatArray, zeros: int, zero_weight: float | None) -> FloatArray:
    """The weights of modes whose logarithms are these, averaging 1.

    Args:
        logs: of the weights; what zero modes have is written into them.
        zeros: how many zero modes there are: the first ones.
        zero_weight: what each of them weighs, relative to the smoothest other mode; None to leave them.
    """
    if zero_weight is not None:
        logs[:zeros] = logs[zeros] + math.log(zero_weight)
    logs -= np.maximum.reduce(logs)
    weights: FloatArray = np.exp(logs)
    weights *= len(logs) / np.add.reduce(weights)
    return weights


def diffusion_weights(spectrum: Spectrum) -> FloatArray:
    """What the modes weigh in the diffusion kernel that uses FRACTION of them, in effect."""
    if spectrum.zeros == spectrum.modes:
        return np.ones(spectrum.modes)  # no edge, so nothing to tell the modes apart
    logs = -effective_beta(spectrum) * spectrum.eigenvalues
    return weights_of(logs, spectrum.zeros, ZERO_WEIGHT)


def effective_beta(spectrum: Spectrum, fraction: float = FRACTION) -> float:
    """The β at which a diffusion kernel uses ``fraction`` of the modes, in effect.

    That is where the weights exp(−β(λ − λ₁)) of the non-zero modes, λ₁ being the smoothest of them,
    sum to ``fraction`` of their number (a little above one mode at least). It makes the same choice
    sensible on a path, where the eigenvalues crowd at 0, and on an expander, where there are none.
    """
    gaps = spectrum.eigenvalues[spectrum.zeros :]
    gaps = gaps - gaps[:1]
    return solve_for_fraction(
        lambda log_beta: -math.exp(log_beta) * gaps, fraction, lowest=2e-3, highest=2e6
    )


def solve_for_fraction(
    log_inverse: Callable[[float], FloatArray], fraction: float, lowest: float, highest: float
) -> float:
    """The hyperparameter at which the weights sum to the fraction, or the end nearest to it."""

    def excess(log_value: float) -> float:
        logs = log_inverse(log_value)
        target = max(fraction * len(logs), 1.02)  # one mode always counts fully
        return float(np.log(np.exp(logs - logs.max()).sum() / target))

    ends = math.log(lowest), math.log(highest)
    if not len(log_inverse(ends[0])):
        return 1.0
    low, high = excess(ends[0]), excess(ends[1])
    if low * high > 0:
        return lowest if abs(low) < abs(high) else highest
    return math.exp(brentq(excess, *ends, xtol=1e-13, rtol=1e-13))


def rows_of(X: npt.ArrayLike, nodes: int) -> IntArray:
    """The row numbers in a scikit-learn input: a column of them, or a plain list.

    Raises:
        ModelError: something in it is not the number of one of the subgraph's ``nodes`` rows.
    """
    given = np.asarray(X)
    if given.ndim == 2 and given.shape[1] == 1:
        given = given[:, 0]
    if given.ndim != 1:
        raise ModelError(f"the rows have shape {given.shape}: expected one column of row numbers")
    # In this order: NaN is not within the bounds, and only what is can be cast.
    if not given.size or (given.min() >= 0 and given.max() < nodes):
        rows = given.astype(np.int64, copy=False)
        if rows is given or np.array_equal(rows, given):
            return rows
    raise ModelError(f"not every row is a whole number from 0 to {nodes - 1}")
