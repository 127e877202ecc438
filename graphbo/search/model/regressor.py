"""The Gaussian process over the nodes of a subgraph, as a scikit-learn regressor."""

# ruff: noqa: N803 (X is scikit-learn's name)

import copy
from collections.abc import Sequence
from itertools import product
from numbers import Real
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import Kernel
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from graphbo.errors import ModelError
from graphbo.search.kernels import SpectralKernel
from graphbo.search.model.data import Standardisation, finite, inputs_of
from graphbo.search.model.likelihood import Average, Guess, Likelihood
from graphbo.search.model.named import (
    AMPLITUDE,
    KERNEL_NAMES,
    NUGGETS,
    STEEPNESSES,
    named_kernel,
)
from graphbo.search.model.prior import weak_prior
from graphbo.search.model.search import (
    MULTIMODAL_UP_TO,
    MapOptimizer,
    Objective,
    Prior,
    starting_points,
)
from graphbo.search.model.solve import one_thread
from graphbo.search.model.theta import Theta, bounds_of, leaves, set_theta, theta_of
from graphbo.search.spectrum import Spectrum
from graphbo.types import FloatArray, Posterior

__all__ = ["SpectralGaussianProcess"]


class SpectralGaussianProcess(GaussianProcessRegressor):  # type: ignore[misc]  # has no types
    """A Gaussian process over the nodes of a subgraph, given by their row numbers.

    Args:
        kernel: ``"auto"``, one of the paper's kernels by name (with an amplitude and noise), or any
            scikit-learn kernel, such as ``ConstantKernel() * Diffusion(spectrum) + WhiteKernel()``.
        spectrum: the subgraph's eigenpairs, for a kernel given by name.
        feature: for a kernel given by name, something known of every row that values may rise or fall with.
        alpha: a little variance added to every observation, on the standardised scale, against rounding.
        optimizer: how to find the hyperparameters. ``"map"`` maximises likelihood × prior from several
            starts; None keeps those of the kernel; ``"fmin_l_bfgs_b"`` or a callable as in scikit-learn.
        prior: for ``"map"``: ``"weak"`` (:func:`weak_prior`), None, or a callable that takes theta and
            gives the log density and its gradient.
        n_restarts_optimizer: how many more starts ``"map"`` draws at random around the kernel's own.
        normalize_y: whether to standardise the values; without, 0 and 1 are their prior mean and scale.
        random_state: for those starts.

    Attributes:
        kernel_: the kernel with the hyperparameters found. For ``"auto"``, those of most
            evidence, and without the amplitude, which is integrated out.
        standardisation_: how the values were standardised.
        log_marginal_likelihood_value_: the log-likelihood of the standardised values. For ``"auto"``, that
            of the whole average.
    """

    _parameter_constraints: dict[str, list[object]] = {  # noqa: RUF012 (scikit-learn's own way)
        "kernel": [StrOptions(KERNEL_NAMES), Kernel],
        "spectrum": [Spectrum, None],
        "feature": ["array-like", None],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "optimizer": [StrOptions({"map", "fmin_l_bfgs_b"}), callable, None],
        "prior": [StrOptions({"weak"}), callable, None],
        "n_restarts_optimizer": [Interval(Real, 0, None, closed="left")],
        "normalize_y": ["boolean"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        kernel: Any = "auto",
        *,
        spectrum: Spectrum | None = None,
        feature: npt.ArrayLike | None = None,
        alpha: float = 1e-6,
        optimizer: Any = "map",
        prior: Prior | Literal["weak"] | None = "weak",
        n_restarts_optimizer: int = 0,
        normalize_y: bool = True,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.spectrum = spectrum
        self.feature = feature
        self.alpha = alpha
        self.optimizer = optimizer
        self.prior = prior
        self.n_restarts_optimizer = n_restarts_optimizer
        self.normalize_y = normalize_y
        self.random_state = random_state

    def fit(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        *,
        reference: npt.ArrayLike | None = None,
        noise: npt.ArrayLike | None = None,
        start: npt.ArrayLike | None = None,
    ) -> Self:
        """Learn from the values y at the rows X.

        Args:
            X: row numbers, a column or a plain list.
            y: the values observed there.
            reference: values to standardise by instead of y: those of the whole run, of which only some
                lie in the subgraph.
            noise: the known variance of each observation, in the square of y's units. What is left over
                is fitted all the same. ``"auto"`` takes it as relative to an amplitude of 1.
            start: a theta to start from: ``kernel_.theta`` of the last fit on this subgraph.

        Raises:
            ModelError: X, y, reference, noise or start do not fit, the kernel is a name without a
                spectrum, or the covariance cannot be decomposed.
        """
        self._validate_params()
        inputs, values = inputs_of(X), finite(y, "value")
        if len(inputs) != len(values):
            raise ModelError(f"{len(values)} values at {len(inputs)} rows: expected as many")
        if self.normalize_y:
            self.standardisation_ = Standardisation.of(values if reference is None else reference)
        else:
            self.standardisation_ = Standardisation()
        self.kernel_ = self._initial_kernel()
        self.n_features_in_ = inputs.shape[1]
        standard = self.standardisation_.standard(values)
        with one_thread():
            self._observe(inputs, standard, self._known_noise(noise, len(values)))
            self._condition(self._guesses(start))
        return self

    def _initial_kernel(self) -> Kernel:
        if not isinstance(self.kernel, str):
            return clone(self.kernel)
        if self.spectrum is None:
            raise ModelError(f"the kernel {self.kernel!r} needs a spectrum: give spectrum=")
        if self.feature is None:
            return named_kernel(self.kernel, self.spectrum)
        feature = finite(self.feature, "feature")
        if len(feature) != len(self.spectrum):
            raise ModelError(
                f"a feature of {len(feature)} rows: the subgraph has {len(self.spectrum)}"
            )
        return named_kernel(self.kernel, self.spectrum, feature)

    @property
    def _automatic(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "auto"

    def _known_noise(self, noise: npt.ArrayLike | None, count: int) -> FloatArray:
        """The variance of each observation that is not fitted, on the standardised scale."""
        if noise is None:
            return np.full(count, float(self.alpha))
        given = finite(np.atleast_1d(noise), "noise variance")
        if len(given) not in (1, count) or (given < 0).any():
            raise ModelError(
                f"{len(given)} noise variances from {given.min()} up: expected {count} from 0 up"
            )
        scale = self.standardisation_.scale
        # Two divisions: the square of a scale of 1e-200 would be 0.
        return np.broadcast_to(given / scale / scale + self.alpha, count).copy()

    def _observe(self, inputs: FloatArray, standard: FloatArray, noise: FloatArray) -> None:
        self.X_train_ = inputs
        self.y_train_ = standard
        self.noise_ = noise
        amplitude = AMPLITUDE if self._automatic else None
        self._likelihood = Likelihood(self.kernel_, inputs, standard, noise, amplitude)

    def _guesses(self, start: npt.ArrayLike | None) -> list[Guess]:
        """The hyperparameters to average over: a few of ``"auto"``, or the best ones alone."""
        if self._automatic and self.feature is None:
            return [Guess(np.log([nugget])) for nugget in NUGGETS]
        if self._automatic:
            both = product(STEEPNESSES.items(), NUGGETS)
            return [Guess(np.log([steep, nugget]), odds) for (steep, odds), nugget in both]
        return [Guess(self._optimum(start))]

    def _optimum(self, start: npt.ArrayLike | None) -> Theta:
        """The best hyperparameters."""
        initial = theta_of(self.kernel_)
        first = initial if start is None else np.asarray(start, dtype=np.float64)
        if first.shape != initial.shape:
            raise ModelError(
                f"a start with {first.size} hyperparameters: the kernel has {initial.size}"
            )
        if self.optimizer is None or not initial.size:
            return first
        bounds = bounds_of(self.kernel_)
        if start is not None:
            first = np.clip(first, bounds[:, 0], bounds[:, 1])
        optimizer = self._optimizer(None if start is None else first)
        theta, _ = optimizer(self._likelihood.cost, first, bounds=bounds)
        return np.asarray(theta)

    def _optimizer(self, warm: Theta | None) -> Objective:
        if callable(self.optimizer):
            given: Objective = self.optimizer
            return given
        if self.optimizer != "map":
            return MapOptimizer()
        prior = weak_prior(self.kernel_) if self.prior == "weak" else self.prior
        starts = starting_points(self.kernel_) if warm is None else [[warm]]
        if len(self.y_train_) > MULTIMODAL_UP_TO:
            starts = starts[:1]
        starts += [[start] for start in self._random_starts()]
        return MapOptimizer(prior, starts, information=self._likelihood.information)

    def _random_starts(self) -> list[Theta]:
        if not self.n_restarts_optimizer:
            return []
        generator = check_random_state(self.random_state)
        theta, bounds = theta_of(self.kernel_), bounds_of(self.kernel_)
        draws = generator.normal(theta, 3.0, size=(int(self.n_restarts_optimizer), len(theta)))
        return list(np.clip(draws, bounds[:, 0], bounds[:, 1]))

    def _condition(self, guesses: Sequence[Guess]) -> None:
        average = Average.of(self._likelihood, guesses)
        if average is None:
            raise ModelError(
                f"the covariance of {self.kernel_} is not positive definite: "
                "add a WhiteKernel or raise alpha"
            )
        self._average = average
        self.log_marginal_likelihood_value_ = average.evidence
        set_theta(self.kernel_, average.best)

    def predict(
        self,
        X: npt.ArrayLike,
        return_std: bool = False,
        return_cov: bool = False,
    ) -> Any:
        """The expected values at the rows X, and how uncertain a new measurement there is.

        Args:
            X: row numbers, a column or a plain list.
            return_std: whether to return the standard deviations, too: fitted noise is part of them.
            return_cov: whether to return the covariance matrix instead.

        Raises:
            ModelError: something is not a row, or both were asked for.
        """
        if return_std and return_cov:
            raise ModelError("return_std and return_cov: at most one of them can be had")
        inputs = inputs_of(X)
        if not hasattr(self, "kernel_"):
            return self._prior(inputs, return_std, return_cov)
        units = self.standardisation_
        with one_thread():
            if not return_std and not return_cov:
                return units.original(self._average.mean(inputs))
            mean, spread = self._average.moments(inputs, joint=return_cov)
        if return_cov:
            return units.original(mean), spread * units.scale * units.scale
        return units.original(mean), np.sqrt(spread) * units.scale

    def posterior(self, rows: npt.ArrayLike | None = None) -> Posterior:
        """What the model believes about these rows, or about every node of the subgraph.

        Raises:
            ModelError: something is not a row, or the kernel has no subgraph.
        """
        if rows is None:
            rows = np.arange(len(self._subgraph()))
        mean, std = self.predict(rows, return_std=True)
        return Posterior(mean, std)

    def believing(self, rows: npt.ArrayLike) -> "SpectralGaussianProcess":
        """A model that has observed its own expectation at these rows (Kriging believer).

        The standardisation and the hyperparameters stay (``"auto"`` weighs its own anew).

        Raises:
            ModelError: something is not a row, or the model has not been fitted.
        """
        self._check_fitted()
        model = copy.copy(self)
        if not np.size(rows):
            return model
        inputs = inputs_of(rows)
        model.kernel_ = clone(self.kernel_)
        with one_thread():
            model._observe(
                np.concatenate([self.X_train_, inputs]),
                np.concatenate([self.y_train_, self._average.mean(inputs)]),
                np.concatenate([self.noise_, np.full(len(inputs), float(self.alpha))]),
            )
            model._condition(self._average.guesses)
        return model

    def sample_y(
        self,
        X: npt.ArrayLike,
        n_samples: int = 1,
        random_state: Any = 0,
    ) -> FloatArray:
        """Draw measurements at the rows X together, one column per sample.

        They are normal with the mean and the covariance that :meth:`predict` gives.

        Args:
            X: row numbers, a column or a plain list.
            n_samples: how many.
            random_state: a numpy Generator, or what scikit-learn takes.

        Raises:
            ModelError: something is not a row.
        """
        mean, covariance = self.predict(X, return_cov=True)
        if not isinstance(random_state, np.random.Generator):
            random_state = check_random_state(random_state)
        # Relative to the largest variance, so that units of 1e12 or 1e-12 are all the same.
        largest = float(covariance.diagonal().max())
        values, vectors = np.linalg.eigh(covariance / largest)
        root = vectors * np.sqrt(np.maximum(values, 0.0) * largest)
        draws = root @ random_state.standard_normal((len(mean), n_samples))
        return np.asarray(mean[:, None] + draws)

    def log_marginal_likelihood(
        self,
        theta: npt.ArrayLike | None = None,
        eval_gradient: bool = False,
        clone_kernel: bool = True,
    ) -> Any:
        """The log-likelihood of the standardised values at theta, without any prior.

        Args:
            theta: the hyperparameters. Without them it is the one of the fitted model.
            eval_gradient: whether to return the gradient by theta, too.
            clone_kernel: of no effect here, ``kernel_`` never changes; for scikit-learn's callers.

        Raises:
            ModelError: the model has not been fitted, or there is no theta for the gradient.
        """
        del clone_kernel
        self._check_fitted()
        if theta is None:
            if eval_gradient:
                raise ModelError("the gradient of the likelihood needs a theta")
            return self.log_marginal_likelihood_value_
        with one_thread():
            result = self._likelihood.cost(np.asarray(theta, dtype=np.float64), eval_gradient)
        return (-result[0], -result[1]) if eval_gradient else -result

    def _check_fitted(self) -> None:
        if not hasattr(self, "kernel_"):
            raise ModelError("the model has observed nothing yet: call fit first")

    def _subgraph(self) -> Spectrum:
        kernel = self.kernel_ if hasattr(self, "kernel_") else self._initial_kernel()
        for leaf in leaves(kernel):
            if isinstance(leaf, SpectralKernel):
                return leaf.spectrum
        raise ModelError("the kernel has no subgraph: name the rows to predict")

    def _prior(self, inputs: FloatArray, return_std: bool, return_cov: bool) -> Any:
        """What is believed before anything was observed."""
        kernel, mean = self._initial_kernel(), np.zeros(len(inputs))
        if return_cov:
            return mean, kernel(inputs)
        return (mean, np.sqrt(kernel.diag(inputs))) if return_std else mean
