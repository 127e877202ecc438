"""The search for the best hyperparameters: where to start, and how to climb."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.linalg.lapack import dpotrf, dpotrs
from scipy.optimize import Bounds, minimize
from sklearn.gaussian_process.kernels import Kernel, WhiteKernel

from graphbo.search.kernels import SpectralKernel
from graphbo.search.model.prior import GaussianPrior
from graphbo.search.model.theta import Theta, bounds_of, parts, theta_of
from graphbo.types import FloatArray

__all__ = ["MULTIMODAL_UP_TO", "MapOptimizer", "Objective", "Prior", "starting_points"]

#: Climbing to the best hyperparameters ends when a step promises less than this, in nats: it would
#: move no decision. It ends anyway after so many steps.
ENOUGH, MOST_STEPS = 1e-2, 100

#: Up to so many observations fits climb from more than one start. Few observations often have two
#: explanations, a rough function and a noisy one; many seldom do, and cost more to climb with.
MULTIMODAL_UP_TO = 30

Objective: TypeAlias = Callable[..., Any]
Prior: TypeAlias = Callable[[Theta], tuple[float, Theta]]
Cost: TypeAlias = Callable[[Theta], tuple[float, Theta]]


def starting_points(kernel: Kernel) -> list[list[Theta]]:
    """Thetas worth starting from, in two groups: with little noise, and with much.

    Likelihoods of this kind have two typical optima: a rough function without noise explains the
    data, and so does a smooth one with noise. Within each group are rougher and smoother kernels.
    """
    theta, bounds = theta_of(kernel), bounds_of(kernel)
    noise, roughness = np.zeros(len(theta)), np.zeros(len(theta))
    for leaf, part in parts(kernel):
        if isinstance(leaf, WhiteKernel):
            noise[part] = 1.0
        elif isinstance(leaf, SpectralKernel):
            roughness[part] = leaf.dilation()
    return [
        [
            np.clip(theta + level * noise + scale * roughness, bounds[:, 0], bounds[:, 1])
            for scale in ((-1.5, 0.0, 1.5) if roughness.any() else (0.0,))
        ]
        for level in ((-2.0, 2.0) if noise.any() else (0.0,))
    ]


class MapOptimizer:
    """An ``optimizer`` for scikit-learn's regressor that adds a prior and tries several starts.

    It looks at every start once and climbs from the best of each group. The likelihood that the
    regressor reports stays the likelihood: the prior is added here, to what is maximised.

    Args:
        prior: the log density of theta and its gradient; None for maximum likelihood.
        starts: groups of thetas to start from, instead of the one that the regressor gives.
        information: the likelihood's expected curvature at a theta, if known. With it and a
            :class:`GaussianPrior` climbing is Fisher scoring, which takes half as many evaluations
            as L-BFGS and does not stop on the plateaus of a DiffusionARD.
    """

    def __init__(
        self,
        prior: Prior | None = None,
        starts: Sequence[Sequence[Theta]] = (),
        *,
        information: Callable[[Theta], FloatArray] | None = None,
    ) -> None:
        self.prior = prior
        self.starts = starts
        self.information = information

    def __call__(
        self, obj_func: Objective, initial_theta: Theta, bounds: Any
    ) -> tuple[Theta, float]:
        """The best theta found and its cost, as scikit-learn expects."""

        def cost(theta: Theta) -> tuple[float, Theta]:
            value, gradient = obj_func(theta)
            if self.prior is not None:
                log_density, slope = self.prior(theta)
                value, gradient = value - log_density, gradient - slope
            # A finite wall instead of infinity keeps the line search's arithmetic free of NaN.
            return (float(value) if np.isfinite(value) else 1e25), gradient

        def first_look(theta: Theta) -> float:
            value = float(obj_func(theta, eval_gradient=False))
            return value if self.prior is None else value - self.prior(theta)[0]

        first, *others = self._best_starts(first_look) or [initial_theta]
        limits = np.asarray(bounds)
        best = self._climb(cost, first, limits, None)
        for start in others:
            found = self._climb(cost, start, limits, best)
            best = found if found[1] < best[1] else best
        return best

    def _best_starts(self, look: Callable[[Theta], float]) -> list[Theta]:
        """The best of every group, the best of all first."""
        if len(self.starts) == 1 and len(self.starts[0]) == 1:
            return list(self.starts[0])
        seen = [
            [(look(theta), index) for index, theta in enumerate(group)] for group in self.starts
        ]
        winners = [(*min(values), group) for values, group in zip(seen, self.starts, strict=True)]
        return [group[index] for _, index, group in sorted(winners, key=lambda winner: winner[0])]

    def _climb(
        self, cost: Cost, start: Theta, bounds: FloatArray, best: tuple[Theta, float] | None
    ) -> tuple[Theta, float]:
        prior, information = self.prior, self.information
        if information is None or not isinstance(prior, GaussianPrior):
            return _climb_by_gradient(cost, start, bounds)

        def curvature(theta: Theta) -> FloatArray:
            return information(theta) + prior.curvature

        def hopeless(theta: Theta, value: float, promised: float) -> bool:
            """Whether it leads to the last climb's optimum, or can hardly get as far."""
            if best is None:
                return False
            gap = np.linalg.norm((theta - best[0]) / prior.scale)
            return value - 2 * promised > best[1] or bool(gap < 0.3 * whole)

        whole = 0.0 if best is None else np.linalg.norm((start - best[0]) / prior.scale)
        return _climb_by_scoring(cost, curvature, start, bounds, hopeless)


def _climb_by_gradient(cost: Cost, start: Theta, bounds: FloatArray) -> tuple[Theta, float]:
    found = minimize(
        cost, start, jac=True, method="L-BFGS-B", bounds=Bounds(bounds[:, 0], bounds[:, 1])
    )
    return found.x, float(found.fun)


def _climb_by_scoring(
    cost: Cost,
    curvature: Callable[[Theta], FloatArray],
    start: Theta,
    bounds: FloatArray,
    hopeless: Callable[[Theta, float, float], bool],
) -> tuple[Theta, float]:
    """Newton's method with the expected curvature, which is positive definite everywhere."""
    theta = start
    value, slope = cost(theta)
    for _ in range(MOST_STEPS):
        outward = ((theta <= bounds[:, 0]) & (slope > 0)) | ((theta >= bounds[:, 1]) & (slope < 0))
        step = _newton_step(curvature(theta), slope, outward)
        promised = -float(step @ slope)
        if promised < ENOUGH or hopeless(theta, value, promised):
            break
        for length in 0.4 ** np.arange(12):
            new_theta = np.clip(theta + length * step, bounds[:, 0], bounds[:, 1])
            new_value, new_slope = cost(new_theta)
            if new_value <= value - 1e-4 * length * promised:
                break
        else:
            break  # rounding leaves nothing to gain
        gained = value - new_value
        theta, value, slope = new_theta, new_value, new_slope
        if gained < 0.1 * ENOUGH:
            break
    return theta, value


def _newton_step(curvature: FloatArray, slope: Theta, held: npt.NDArray[np.bool_]) -> Theta:
    """The step to the optimum of the quadratic, leaving alone what is held at a bound."""
    if held.any():
        curvature = np.where(
            held[:, None] | held[None, :], np.diag(curvature.diagonal()), curvature
        )
        slope = np.where(held, 0.0, slope)
    lower, failed = dpotrf(curvature, lower=1)
    if failed:  # only by rounding: the diagonal alone still points downhill
        return -slope / curvature.diagonal()
    step, _ = dpotrs(lower, -slope, lower=1)
    return np.asarray(step)
