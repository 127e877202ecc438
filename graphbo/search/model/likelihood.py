"""The likelihood of the observations as a function of theta, and the model averaged over thetas."""

# ruff: noqa: N803 (X is scikit-learn's name)

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.linalg.lapack import dtrtrs
from sklearn.gaussian_process.kernels import Kernel

from graphbo.search.model.covariance import AnyCovariance, Covariance
from graphbo.search.model.solve import InverseGamma, Solved, add_to_diagonal, solve
from graphbo.search.model.spectral import SpectralCovariance, Unsupported
from graphbo.search.model.theta import Theta
from graphbo.types import FloatArray

__all__ = ["Average", "Guess", "Likelihood"]

#: The smallest variance left at a node, on the standardised scale: rounding must not turn it negative.
SMALLEST_VARIANCE = 1e-9


class Likelihood:
    """The likelihood of standardised values at every theta.

    Args:
        kernel: the kernel; its own hyperparameters matter only where they are fixed.
        X: the observed rows.
        y: their standardised values.
        noise: the known variance of each.
        amplitude: the prior of an amplitude to integrate out, if there is to be one.
    """

    def __init__(
        self,
        kernel: Kernel,
        X: FloatArray,
        y: FloatArray,
        noise: FloatArray,
        amplitude: InverseGamma | None = None,
    ) -> None:
        self.covariance = _covariance(kernel, X)
        self._y = y
        self._noise = noise
        self._amplitude = amplitude
        self._last: tuple[bytes, Solved | None] | None = None

    def at(self, theta: Theta) -> Solved | None:
        """The decomposed covariance and the evidence; None if it cannot be decomposed."""
        key = theta.tobytes()
        if (
            self._last is None or self._last[0] != key
        ):  # gradient and information follow on the value
            covariance = self.covariance.observed(theta)
            add_to_diagonal(covariance, self._noise)
            self._last = (key, solve(covariance, self._y, self._amplitude))
        return self._last[1]

    def cost(self, theta: Theta, eval_gradient: bool = True) -> Any:
        """The negative log-likelihood, with its gradient: what scikit-learn's optimisers minimise."""
        solved = self.at(theta)
        if solved is None:
            return (np.inf, np.zeros(len(theta))) if eval_gradient else np.inf
        if not eval_gradient:
            return -solved.evidence
        return -solved.evidence, -self.covariance.gradient(theta, solved)

    @property
    def information(self) -> Callable[[Theta], FloatArray] | None:
        """The expected curvature of the likelihood as a function, where it is cheap to have."""
        covariance = self.covariance
        if not isinstance(covariance, SpectralCovariance):
            return None

        def information(theta: Theta) -> FloatArray:
            solved = self.at(theta)
            if solved is None:  # nothing to go by but the prior
                return np.zeros((len(theta), len(theta)))
            return covariance.information(theta, solved)

        return information


def _covariance(kernel: Kernel, X: FloatArray) -> Covariance:
    try:
        return SpectralCovariance(kernel, X)
    except Unsupported:
        return AnyCovariance(kernel, X)


class Guess(NamedTuple):
    """Hyperparameters that may be the right ones, and the odds that they are, before anything was observed."""

    theta: Theta
    odds: float = 1.0


@dataclass(frozen=True)
class _Component:
    """The model at one theta, conditioned on the observations, and its share in the average."""

    guess: Guess
    solved: Solved
    share: float

    @property
    def theta(self) -> Theta:
        return self.guess.theta


@dataclass(frozen=True)
class Average:
    """The model conditioned on the observations, averaged over thetas by their odds and their evidence.

    Attributes:
        components: the model at each theta.
        evidence: the log-likelihood of the whole average.
    """

    components: list[_Component]
    evidence: float
    _covariance: Covariance

    @classmethod
    def of(cls, likelihood: Likelihood, guesses: Sequence[Guess]) -> Self | None:
        """Over those thetas where the covariance can be decomposed; None if it can nowhere be."""
        pairs = [(guess, likelihood.at(guess.theta)) for guess in guesses]
        found = [(guess, solved) for guess, solved in pairs if solved is not None]
        if not found:
            return None
        evidence = np.array([np.log(guess.odds) + solved.evidence for guess, solved in found])
        shares = np.exp(evidence - evidence.max())
        total = float(evidence.max() + np.log(shares.sum()))
        shares /= shares.sum()
        components = [
            _Component(guess, solved, float(share))
            for (guess, solved), share in zip(found, shares, strict=True)
        ]
        all_odds = sum(guess.odds for guess in guesses)
        return cls(components, total - float(np.log(all_odds)), likelihood.covariance)

    @property
    def guesses(self) -> list[Guess]:
        """What is averaged over."""
        return [component.guess for component in self.components]

    @property
    def best(self) -> Theta:
        """The theta with the largest share."""
        return max(self.components, key=lambda component: component.share).theta

    @cached_property
    def _shares(self) -> FloatArray:
        return np.array([component.share for component in self.components])

    def mean(self, inputs: FloatArray) -> FloatArray:
        """The expected values at the inputs, on the standardised scale."""
        means = self._means(self._halves(self._covariance.features(inputs)))
        mean: FloatArray = self._shares @ means
        return mean

    def moments(self, inputs: FloatArray, *, joint: bool) -> tuple[FloatArray, FloatArray]:
        """The mean and the variances, or the covariance if ``joint``, on the standardised scale."""
        features = self._covariance.features(inputs)
        halves = self._halves(features)
        means = self._means(halves)
        mean = self._shares @ means
        second = np.zeros((len(inputs), len(inputs)) if joint else len(inputs))
        for component, half in zip(self.components, halves, strict=True):
            second += component.share * self._spread(component, features, half, joint)
        if len(means) > 1:  # the components disagree about the mean
            apart = means - mean
            second += (apart.T * self._shares) @ apart if joint else self._shares @ np.square(apart)
        return mean, second

    def _halves(self, features: FloatArray) -> list[FloatArray]:
        """L⁻¹ times the covariances of the observed nodes with others, of every component."""
        return [
            dtrtrs(own.solved.lower, self._covariance.cross(own.theta, features), lower=1)[0]
            for own in self.components
        ]

    def _means(self, halves: list[FloatArray]) -> FloatArray:
        pairs = zip(self.components, halves, strict=True)
        return np.array([component.solved.whitened @ half for component, half in pairs])

    def _spread(
        self, component: _Component, features: FloatArray, half: FloatArray, joint: bool
    ) -> FloatArray:
        """What one component alone leaves open: variances, or the covariance if ``joint``."""
        prior, noise = self._covariance.variance(component.theta, features)
        left = prior - np.einsum("ij,ij->j", half, half)
        variances: FloatArray = np.maximum(left, SMALLEST_VARIANCE) + noise
        if not joint:
            return component.solved.amplitude * variances
        covariance = self._covariance.full(component.theta, features) - half.T @ half
        np.fill_diagonal(covariance, variances)
        return component.solved.amplitude * covariance
