"""From a spectrum to the scale at which a kernel uses a given share of its modes."""

import math
from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq

from graphbo.search.spectrum import Spectrum
from graphbo.types import FloatArray

__all__ = ["FRACTION", "effective_beta", "solve_for_fraction"]

#: The share of the non-zero modes that a kernel starts with, in effect (see effective_beta).
FRACTION = 0.1


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
