"""Fitting a composed kernel: its likelihood, where its optimum is, and the model at the best theta."""

# ruff: noqa: N803 (X is scikit-learn's name)

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.gaussian_process.kernels import ConstantKernel, Kernel, WhiteKernel
from sklearn.utils import check_random_state

from graphbo.errors import ModelError
from graphbo.search.kernels import Trend
from graphbo.search.model.composed.at_theta import AtTheta, OfAnyKernel
from graphbo.search.model.composed.prior import weak_prior
from graphbo.search.model.composed.search import (
    Information,
    Objective,
    Prior,
    best_theta,
    starting_points,
)
from graphbo.search.model.composed.spectral import OfSpectralSum, features_of, terms_of
from graphbo.search.model.composed.theta import Theta, bounds_of, theta_of, with_theta
from graphbo.search.model.parts import Parts
from graphbo.types import FloatArray

__all__ = ["MULTIMODAL_UP_TO", "ComposedModel", "Likelihood", "optimum", "with_amplitude_and_noise"]

#: Up to so many observations fits climb from more than one start. Few observations often have two
#: explanations, a rough function and a noisy one; many seldom do, and cost more to climb with.
MULTIMODAL_UP_TO = 30


def with_amplitude_and_noise(kernel: Kernel, features: Sequence[FloatArray] = ()) -> Kernel:
    """A kernel with an amplitude and noise around it, and a trend in each feature of the nodes."""
    total = ConstantKernel(1.0, (1e-3, 1e3)) * kernel
    for feature in features:
        total += ConstantKernel(1.0, (1e-6, 1e3)) * Trend(feature)
    return total + WhiteKernel(5e-2, (1e-6, 10.0))


class Likelihood:
    """The likelihood of observations as a function of theta.

    Args:
        kernel: its own hyperparameters matter only where they are fixed, and to start from.
        X: the observed rows.
        y: their standardised values.
        noise: the known variance of each.
    """

    def __init__(self, kernel: Kernel, X: FloatArray, y: FloatArray, noise: FloatArray) -> None:
        self.kernel, self.X, self.y, self.noise = kernel, X, y, noise
        self._last: tuple[bytes, AtTheta | None] | None = None
        self._terms = terms_of(kernel)
        self._features = X if self._terms is None else features_of(self._terms, X)

    def at(self, theta: Theta) -> AtTheta | None:
        """The model at this theta; None if the covariance cannot be decomposed."""
        key = theta.tobytes()
        if self._last is None or self._last[0] != key:  # the information follows on the gradient
            try:
                self._last = (key, self._at(theta))
            except np.linalg.LinAlgError:
                self._last = (key, None)
        return self._last[1]

    def _at(self, theta: Theta) -> AtTheta:
        if self._terms is None:
            return OfAnyKernel(with_theta(self.kernel, theta), self.X, self.y, self.noise)
        return OfSpectralSum(self._terms, self._features, theta, self.y, self.noise)

    def cost(self, theta: Theta, eval_gradient: bool = True) -> Any:
        """The negative log-likelihood, with its gradient: what scikit-learn's optimizers minimize."""
        model = self.at(theta)
        if model is None:
            return (math.inf, np.zeros(len(theta))) if eval_gradient else math.inf
        return (-model.evidence, -model.gradient()) if eval_gradient else -model.evidence

    @property
    def information(self) -> Information | None:
        """The expected curvature of the likelihood as a function, where it is cheap to have."""
        return None if self._terms is None else self._information

    def _information(self, theta: Theta) -> FloatArray:
        model = self.at(theta)
        if isinstance(model, OfSpectralSum):
            return model.information()
        return np.zeros((len(theta), len(theta)))  # nothing to go by but the prior


def optimum(
    likelihood: Likelihood,
    start: npt.ArrayLike | None,
    *,
    optimizer: Objective | Literal["map", "fmin_l_bfgs_b"] | None,
    prior: Prior | Literal["weak"] | None,
    restarts: int,
    random_state: Any,
) -> Theta:
    """The best hyperparameters, looked for as the parameters of ``SpectralGaussianProcess`` say.

    Args:
        likelihood: of the observations.
        start: where to start, instead of the several places that the kernel suggests.
        optimizer: how.
        prior: of the hyperparameters.
        restarts: how many more starts to draw.
        random_state: for those.

    Raises:
        ModelError: the start has another length than the kernel's theta.
    """
    own, bounds = theta_of(likelihood.kernel), bounds_of(likelihood.kernel)
    first = own if start is None else np.asarray(start, dtype=np.float64)
    if first.shape != own.shape:
        raise ModelError(f"a start with {first.size} hyperparameters: the kernel has {own.size}")
    if optimizer is None or not own.size:
        return first
    if start is not None:
        first = np.clip(first, bounds[:, 0], bounds[:, 1])
    if callable(optimizer):
        theta, _ = optimizer(likelihood.cost, first, bounds=bounds)
        return np.asarray(theta)
    if optimizer == "fmin_l_bfgs_b":
        return best_theta(likelihood.cost, [[first]], bounds)[0]
    starts = starting_points(likelihood.kernel) if start is None else [[first]]
    if len(likelihood.y) > MULTIMODAL_UP_TO:
        starts = starts[:1]
    if restarts:
        draws = check_random_state(random_state).normal(own, 3.0, size=(restarts, len(own)))
        starts += [[draw] for draw in np.clip(draws, bounds[:, 0], bounds[:, 1])]
    density = weak_prior(likelihood.kernel) if prior == "weak" else prior
    return best_theta(likelihood.cost, starts, bounds, density, likelihood.information)[0]


class ComposedModel:
    """The Gaussian process at one theta, conditioned on observations.

    Attributes:
        kernel: with the hyperparameters of that theta.
        theta: those.
        evidence: the log-likelihood there.

    Raises:
        ModelError: the covariance cannot be decomposed.
    """

    def __init__(self, likelihood: Likelihood, theta: Theta) -> None:
        model = likelihood.at(theta)
        self.kernel = with_theta(likelihood.kernel, theta)
        if model is None:
            raise ModelError(
                f"the covariance of {self.kernel} is not positive definite: "
                "add a WhiteKernel or raise alpha"
            )
        self.likelihood = likelihood
        self.X, self.y, self.noise = likelihood.X, likelihood.y, likelihood.noise
        self.evidence = model.evidence
        self.theta = theta_of(self.kernel)
        self._theta = theta
        self._model = model

    def moments(self, X: FloatArray, *, joint: bool) -> tuple[FloatArray, FloatArray]:
        """The mean and the variances of measurements at X, or their covariance if ``joint``."""
        return self._model.moments(X, joint=joint)

    def parts(self, X: FloatArray) -> Parts:
        """What the means at X are sums of."""
        return self._model.parts(X)

    def believing(self, X: FloatArray, alpha: float) -> "ComposedModel":
        """The model once it has observed its own mean at X, with this known noise; at the same theta."""
        mean, _ = self.moments(X, joint=False)
        likelihood = Likelihood(
            self.likelihood.kernel,
            np.concatenate([self.X, X]),
            np.concatenate([self.y, mean]),
            np.concatenate([self.noise, np.full(len(X), alpha)]),
        )
        return ComposedModel(likelihood, self._theta)

    def log_likelihood(self, theta: Theta) -> tuple[float, Theta]:
        """The log-likelihood of the observations at any theta, and its gradient."""
        cost, gradient = self.likelihood.cost(theta)
        return -cost, -gradient
