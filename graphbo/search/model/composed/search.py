"""The search for the best hyperparameters: where to start, and how to climb."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.linalg.lapack import dpotrf, dpotrs
from scipy.optimize import Bounds, minimize
from sklearn.gaussian_process.kernels import Kernel, WhiteKernel

from graphbo.search.kernels import SpectralKernel
from graphbo.search.model.composed.prior import GaussianPrior
from graphbo.search.model.composed.theta import Theta, bounds_of, parts, theta_of
from graphbo.types import FloatArray

__all__ = ["Information", "Objective", "Prior", "best_theta", "starting_points"]

#: Climbing to the best hyperparameters ends when a step promises less than this, in nats: it would
#: move no decision. It ends anyway after so many steps.
ENOUGH, MOST_STEPS = 1e-2, 100

#: The negative log-likelihood, with its gradient unless ``eval_gradient=False``, as scikit-learn's optimizers take it.
Objective: TypeAlias = Callable[..., Any]
#: The log density and its gradient.
Prior: TypeAlias = Callable[[Theta], tuple[float, Theta]]
#: The likelihood's expected curvature.
Information: TypeAlias = Callable[[Theta], FloatArray]
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


def best_theta(
    objective: Objective,
    starts: Sequence[Sequence[Theta]],
    bounds: FloatArray,
    prior: Prior | None = None,
    information: Information | None = None,
) -> tuple[Theta, float]:
    """The theta of the lowest cost that was found, the objective minus the log prior, and that cost.

    It looks at every start once and climbs from the best of each group.

    Args:
        objective: the negative log-likelihood.
        starts: groups of thetas to start from.
        bounds: of every element of theta, one row each.
        prior: None for maximum likelihood.
        information: with it and a :class:`GaussianPrior` climbing is Fisher scoring, which takes half as
            many evaluations as L-BFGS and does not stop on the plateaus of a DiffusionARD.
    """

    def cost(theta: Theta) -> tuple[float, Theta]:
        value, gradient = objective(theta)
        if prior is not None:
            log_density, slope = prior(theta)
            value, gradient = value - log_density, gradient - slope
        # A finite wall instead of infinity keeps the line search's arithmetic free of NaN.
        return (float(value) if np.isfinite(value) else 1e25), gradient

    def first_look(theta: Theta) -> float:
        value = float(objective(theta, eval_gradient=False))
        return value if prior is None else value - prior(theta)[0]

    def climb(start: Theta, best: tuple[Theta, float] | None) -> tuple[Theta, float]:
        if information is None or not isinstance(prior, GaussianPrior):
            return _climb_by_gradient(cost, start, bounds)
        return _climb_by_scoring(cost, prior, information, start, bounds, best)

    first, *others = _best_of_each(starts, first_look)
    best = climb(first, None)
    for start in others:
        found = climb(start, best)
        best = found if found[1] < best[1] else best
    return best


def _best_of_each(groups: Sequence[Sequence[Theta]], look: Callable[[Theta], float]) -> list[Theta]:
    """The best of every group, the best of all first."""
    if len(groups) == 1 and len(groups[0]) == 1:
        return list(groups[0])
    seen = [[(look(theta), index) for index, theta in enumerate(group)] for group in groups]
    winners = [(*min(values), group) for values, group in zip(seen, groups, strict=True)]
    return [group[index] for _, index, group in sorted(winners, key=lambda winner: winner[0])]


def _climb_by_gradient(cost: Cost, start: Theta, bounds: FloatArray) -> tuple[Theta, float]:
    found = minimize(
        cost, start, jac=True, method="L-BFGS-B", bounds=Bounds(bounds[:, 0], bounds[:, 1])
    )
    return found.x, float(found.fun)


def _climb_by_scoring(
    cost: Cost,
    prior: GaussianPrior,
    information: Information,
    start: Theta,
    bounds: FloatArray,
    best: tuple[Theta, float] | None,
) -> tuple[Theta, float]:
    """Newton's method with the expected curvature, which is positive definite everywhere.

    It gives up where it leads to the last climb's optimum, or can hardly get as far.
    """

    def to_best(theta: Theta) -> float:
        return np.inf if best is None else float(np.linalg.norm((theta - best[0]) / prior.scale))

    theta = start
    value, slope = cost(theta)
    for _ in range(MOST_STEPS):
        outward = ((theta <= bounds[:, 0]) & (slope > 0)) | ((theta >= bounds[:, 1]) & (slope < 0))
        step = _newton_step(information(theta) + prior.curvature, slope, outward)
        promised = -float(step @ slope)
        if promised < ENOUGH:
            break
        if best is not None and (
            value - 2 * promised > best[1] or to_best(theta) < 0.3 * to_best(start)
        ):
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
