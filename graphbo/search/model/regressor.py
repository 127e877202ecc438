"""The Gaussian process over the nodes of a subgraph, as a scikit-learn regressor.

It checks what it is given and standardises values; the mathematics is in ``auto`` and in ``composed``.
"""

# ruff: noqa: N803 (X is scikit-learn's name)

import copy
import math
from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.gaussian_process.kernels import Kernel
from sklearn.utils import check_random_state

from graphbo.errors import ModelError
from graphbo.search.kernels import KERNELS, SpectralKernel, named_kernel
from graphbo.search.model.algebra import one_thread
from graphbo.search.model.auto import AutomaticModel, Basis
from graphbo.search.model.composed import (
    ComposedModel,
    Likelihood,
    Prior,
    leaves,
    optimum,
    theta_of,
    with_amplitude_and_noise,
)
from graphbo.search.model.data import columns_of, inputs_of
from graphbo.search.model.fitted import ALPHA, Fitted, Observed
from graphbo.search.model.parts import Parts
from graphbo.search.spectrum import Spectrum
from graphbo.types import FloatArray, Posterior

__all__ = ["KERNEL_NAMES", "SpectralGaussianProcess"]

#: What ``kernel`` may be called beside what plugins add: the default, and the paper's.
KERNEL_NAMES = ("auto", *KERNELS.own)

#: What a parameter may be: in words, and as a test.
PARAMETERS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "kernel": (
        "the name of a kernel, a kernel, or a function from a Spectrum to one",
        lambda given: isinstance(given, str) or callable(given),
    ),
    "spectrum": ("a Spectrum", lambda given: given is None or isinstance(given, Spectrum)),
    "alpha": (
        "a number from 0 up",
        lambda given: isinstance(given, Real) and 0 <= float(given) < math.inf,
    ),
    "optimizer": (
        "map, fmin_l_bfgs_b, None or a function",
        lambda given: given in ("map", "fmin_l_bfgs_b", None) or callable(given),
    ),
    "prior": (
        "weak, None or a function",
        lambda given: given in ("weak", None) or callable(given),
    ),
    "n_restarts_optimizer": (
        "a whole number from 0 up",
        lambda given: isinstance(given, Integral) and int(given) >= 0,
    ),
    "normalize_y": ("True or False", lambda given: isinstance(given, bool | np.bool_)),
}


class SpectralGaussianProcess(RegressorMixin, BaseEstimator):  # type: ignore[misc]  # have no types
    """A Gaussian process over the nodes of a subgraph, given by their row numbers.

    Args:
        kernel: ``"auto"``, or one of the paper's kernels by name, or what gives a kernel if it is called with a
            spectrum, such as ``Matern.scaled`` (both with an amplitude and noise), or any scikit-learn kernel
            as it is, such as ``ConstantKernel() * Diffusion(spectrum) + WhiteKernel()``.
        spectrum: the subgraph's eigenpairs; kernels bring their own.
        features: what is known of every row that values may rise or fall with, each a column of numbers, or several
            as of an embedding: the observations tell how much each counts. Kernels bring their own.
        odds: for ``"auto"``, those of each feature that it counts, before anything was observed; 1 to 20 without.
        alpha: a little variance added to every observation, on the standardised scale, against rounding.
        optimizer: how to find the hyperparameters. ``"map"`` maximizes likelihood × prior from several
            starts; None keeps those of the kernel; ``"fmin_l_bfgs_b"`` or a callable as in scikit-learn.
            ``"auto"`` searches for none.
        prior: for ``"map"``: ``"weak"`` (:func:`~graphbo.search.model.composed.weak_prior`), None, or a
            callable that takes theta and gives the log density and its gradient.
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

    def __init__(
        self,
        kernel: Any = "auto",
        *,
        spectrum: Spectrum | None = None,
        features: Sequence[npt.ArrayLike] = (),
        odds: Sequence[float] | None = None,
        alpha: float = ALPHA,
        optimizer: Any = "map",
        prior: Prior | Literal["weak"] | None = "weak",
        n_restarts_optimizer: int = 0,
        normalize_y: bool = True,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.spectrum = spectrum
        self.features = features
        self.odds = odds
        self.alpha = alpha
        self.optimizer = optimizer
        self.prior = prior
        self.n_restarts_optimizer = n_restarts_optimizer
        self.normalize_y = normalize_y
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False  # without observations, it predicts what is believed beforehand
        return tags

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
            ModelError: a parameter is wrong, X, y, reference, noise or start do not fit, a kernel that is
                to be made has no spectrum, or the covariance cannot be decomposed.
        """
        self._check_parameters()
        if y is None:
            raise ModelError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        observed = Observed(
            X,
            y,
            reference=reference,
            noise=noise,
            alpha=float(self.alpha),
            standardise=bool(self.normalize_y),
        )
        inputs, standard, known = observed.inputs, observed.values, observed.noise
        self.standardisation_ = observed.units
        self.n_features_in_ = inputs.shape[1]
        with one_thread():
            prior = self._prior()
            model: AutomaticModel | ComposedModel
            if isinstance(prior, Basis):
                model = AutomaticModel(prior, inputs, standard, known)
            else:
                likelihood = Likelihood(prior, inputs, standard, known)
                theta = optimum(
                    likelihood,
                    start,
                    optimizer=self.optimizer,
                    prior=self.prior,
                    restarts=int(self.n_restarts_optimizer),
                    random_state=self.random_state,
                )
                model = ComposedModel(likelihood, theta)
        self._keep(Fitted(model, observed.units, observed.alpha))
        return self

    def _check_parameters(self) -> None:
        for name, (expected, is_right) in PARAMETERS.items():
            given = getattr(self, name)
            if not is_right(given):
                raise ModelError(f"{name} is {given!r}: expected {expected}")

    def _prior(self) -> Basis | Kernel:
        """What is believed before anything was observed: that of ``"auto"``, or the kernel that fits start from."""
        if isinstance(self.kernel, Kernel):
            return clone(self.kernel)
        if self.spectrum is None:
            raise ModelError(f"the kernel {self.kernel!r} needs a spectrum: give spectrum=")
        features = [columns_of(one, len(self.spectrum)) for one in self.features]
        if isinstance(self.kernel, str) and self.kernel == "auto":
            return Basis(self.spectrum, features, self._odds())
        build = named_kernel(self.kernel) if isinstance(self.kernel, str) else self.kernel
        kernel = build(self.spectrum)
        if not isinstance(kernel, Kernel):
            raise ModelError(f"{build!r} gave {kernel!r}: expected a scikit-learn kernel")
        return with_amplitude_and_noise(kernel, features)

    def _odds(self) -> FloatArray | None:
        if self.odds is None:
            return None
        given = np.asarray(self.odds, dtype=np.float64)
        if given.shape != (len(self.features),) or not ((given > 0) & (given < np.inf)).all():
            raise ModelError(
                f"odds is {self.odds!r}: expected a number above 0 for each of {len(self.features)} features"
            )
        return given

    def _keep(self, fitted: Fitted) -> None:
        self.fitted_ = fitted
        model = fitted.model
        self.X_train_, self.y_train_, self.noise_ = model.X, model.y, model.noise
        self.kernel_ = model.kernel
        self.log_marginal_likelihood_value_ = model.evidence

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
        columns = getattr(self, "n_features_in_", inputs.shape[1])
        if inputs.shape[1] != columns:
            raise ModelError(
                f"X has {inputs.shape[1]} features, but {type(self).__name__} is expecting {columns} features as input"
            )
        if not hasattr(self, "kernel_"):
            return self._predict_prior(inputs, return_std, return_cov)
        if return_cov:
            return self.fitted_.moments(inputs, joint=True)
        found = self.fitted_.posterior(inputs)
        return (found.mean, found.std) if return_std else found.mean

    def posterior(self, rows: npt.ArrayLike | None = None) -> Posterior:
        """What the model believes about these rows, or about every node of the subgraph.

        Raises:
            ModelError: something is not a row, or the kernel has no subgraph.
        """
        if rows is None:
            rows = np.arange(len(self._subgraph()))
        mean, std = self.predict(rows, return_std=True)
        return Posterior(mean, std)

    def parts(self, rows: npt.ArrayLike) -> Parts:
        """What the expected values at these rows are sums of; observations are in the order of ``X_train_``.

        A kernel that is no sum of the paper's kernels and trends has no features: all comes through the observations.

        Raises:
            ModelError: something is not a row, or the model has not been fitted.
        """
        self._check_fitted()
        return self.fitted_.parts(rows)

    def believing(self, rows: npt.ArrayLike) -> "SpectralGaussianProcess":
        """A model that has observed its own expectation at these rows (Kriging believer).

        The standardisation and the hyperparameters stay (``"auto"`` weighs its own anew).

        Raises:
            ModelError: something is not a row, or the model has not been fitted.
        """
        self._check_fitted()
        model = copy.copy(self)
        model._keep(self.fitted_.believing(rows))
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
    ) -> Any:
        """The log-likelihood of the standardised values at theta, without any prior.

        Args:
            theta: the hyperparameters. Without them it is the one of the fitted model.
            eval_gradient: whether to return the gradient by theta, too.

        Raises:
            ModelError: the model has not been fitted, theta has another length than the kernel's, or there is
                none for the gradient.
        """
        self._check_fitted()
        if theta is None:
            if eval_gradient:
                raise ModelError("the gradient of the likelihood needs a theta")
            return self.log_marginal_likelihood_value_
        given, fitted = np.asarray(theta, dtype=np.float64), theta_of(self.kernel_)
        if given.shape != fitted.shape:
            raise ModelError(f"a theta with {given.size} elements: the kernel has {fitted.size}")
        with one_thread():
            value, gradient = self.fitted_.model.log_likelihood(given)
        return (value, gradient) if eval_gradient else value

    def _check_fitted(self) -> None:
        if not hasattr(self, "kernel_"):
            raise ModelError("the model has observed nothing yet: call fit first")

    def _current_kernel(self) -> Kernel:
        """The fitted kernel, or before any fit the one that fits start from."""
        if hasattr(self, "kernel_"):
            return self.kernel_
        prior = self._prior()
        return prior.kernel() if isinstance(prior, Basis) else prior

    def _subgraph(self) -> Spectrum:
        for leaf in leaves(self._current_kernel()):
            if isinstance(leaf, SpectralKernel):
                return leaf.spectrum
        raise ModelError("the kernel has no subgraph: name the rows to predict")

    def _predict_prior(self, inputs: FloatArray, return_std: bool, return_cov: bool) -> Any:
        """What is believed before anything was observed."""
        kernel, mean = self._current_kernel(), np.zeros(len(inputs))
        if return_cov:
            return mean, kernel(inputs)
        return (mean, np.sqrt(kernel.diag(inputs))) if return_std else mean
