"""What all kernels share: from log r⁻¹ at the eigenvalues to covariances and their gradients."""

# ruff: noqa: N803 (X and Y are scikit-learn's names)

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, Literal, TypeAlias, overload

import numpy as np
import numpy.typing as npt
from sklearn.gaussian_process.kernels import Hyperparameter, Kernel

from graphbo.errors import ModelError
from graphbo.search.modes import rows_of, weights_of
from graphbo.search.spectrum import Spectrum
from graphbo.types import FloatArray

__all__ = ["Bounds", "Gradient", "Pullback", "SpectralKernel"]

Bounds: TypeAlias = tuple[float, float] | Literal["fixed"]
Values: TypeAlias = dict[str, Any]
Gradient: TypeAlias = dict[str, FloatArray]
Pullback: TypeAlias = Callable[[FloatArray], FloatArray]


class SpectralKernel(Kernel):  # type: ignore[misc]  # scikit-learn publishes no types
    """A covariance Σ r⁻¹(λ_i) u_i u_iᵀ between the nodes of a subgraph.

    A subclass lists the names of its hyperparameters in ``names``, takes for each a value and
    ``<name>_bounds`` in ``__init__`` (which only assigns: scikit-learn clones kernels by their
    arguments), and defines :meth:`log_inverse`.

    Attributes:
        spectrum: the eigenpairs of the subgraph.
        zero_weight: what a zero mode weighs, relative to the smoothest other mode.
    """

    #: The hyperparameters, in the alphabetical order in which they appear in ``theta``.
    names: ClassVar[tuple[str, ...]] = ()

    #: Whether the one hyperparameter has an element per mode that acts on that mode alone. Its
    #: gradient is then a diagonal, kept as a vector.
    per_mode: ClassVar[bool] = False

    spectrum: Spectrum
    zero_weight: float | None

    @abstractmethod
    def log_inverse(self, *args: Any, **values: Any) -> tuple[FloatArray, Gradient]:
        """Log r⁻¹ at the eigenvalues given first, with the hyperparameters by name, and its gradient.

        Any constant may be missing from log r⁻¹: the weights are scaled afterwards. The gradient holds
        the derivatives by the logarithm of each hyperparameter, an array (elements, eigenvalues) for
        each name.
        """

    def size(self, name: str) -> int:
        """How many elements a hyperparameter has."""
        del name
        return 1

    def dilation(self) -> FloatArray:
        """The change of ``theta`` that makes r⁻¹(λ) the old r⁻¹(eλ), as near as the formula can.

        Fits use it to try smoother and rougher starts. Zeros mean that there is nothing to try.
        """
        return np.zeros(self.n_dims)

    def prior_scale(self) -> FloatArray:
        """How far each element of ``theta`` may plausibly be from its initial value."""
        return np.full(self.n_dims, 3.0)

    # The interface of scikit-learn's kernels. Its own versions find the hyperparameters by looking
    # through dir() at every access, which costs more than a Cholesky decomposition of this size.

    @property
    def hyperparameters(self) -> list[Hyperparameter]:
        """The specification of every hyperparameter, as scikit-learn expects it."""
        return [
            Hyperparameter(name, "numeric", getattr(self, f"{name}_bounds"), self.size(name))
            for name in self.names
        ]

    @property
    def theta(self) -> FloatArray:
        """The logarithms of the hyperparameters that are not fixed."""
        free = [
            np.broadcast_to(np.asarray(getattr(self, name), dtype=np.float64), self.size(name))
            for name in self._free
        ]
        return np.log(np.concatenate(free)) if free else np.empty(0)

    @theta.setter
    def theta(self, theta: FloatArray) -> None:
        for name, value in self._values(theta).items():
            setattr(self, name, value)

    @property
    def bounds(self) -> FloatArray:
        """The logarithms of the bounds of ``theta``, one row per element."""
        limits = [
            np.broadcast_to(getattr(self, f"{name}_bounds"), (self.size(name), 2))
            for name in self._free
        ]
        return np.log(np.concatenate(limits)) if limits else np.empty((0, 2))

    @property
    def n_dims(self) -> int:
        """How many elements ``theta`` has."""
        return sum(self.size(name) for name in self._free)

    @property
    def _free(self) -> list[str]:
        return [name for name in self.names if not isinstance(getattr(self, f"{name}_bounds"), str)]

    def is_stationary(self) -> bool:
        """No: on an irregular graph the variance differs from node to node."""
        return False

    def __repr__(self) -> str:
        values = (f"{name}={_brief(getattr(self, name))}" for name in self.names)
        return f"{type(self).__name__}({len(self.spectrum)} nodes, {', '.join(values)})"

    @overload
    def __call__(
        self,
        X: npt.ArrayLike,
        Y: npt.ArrayLike | None = None,
        eval_gradient: Literal[False] = False,
    ) -> FloatArray: ...

    @overload
    def __call__(
        self, X: npt.ArrayLike, Y: npt.ArrayLike | None = None, *, eval_gradient: Literal[True]
    ) -> tuple[FloatArray, FloatArray]: ...

    def __call__(
        self,
        X: npt.ArrayLike,
        Y: npt.ArrayLike | None = None,
        eval_gradient: bool = False,
    ) -> FloatArray | tuple[FloatArray, FloatArray]:
        """The covariances between the rows X and Y, and their gradient by ``theta``.

        Raises:
            ModelError: something is not a row, or the gradient is asked for with a Y.
        """
        vectors = self._vectors(X)
        weights, gradient = self._weigh(self._values())
        if Y is not None:
            if eval_gradient:
                raise ModelError("the gradient of a kernel is between X and itself: leave out Y")
            cross: FloatArray = (vectors * weights) @ self._vectors(Y).T
            return cross
        root = vectors * np.sqrt(weights)
        covariance: FloatArray = root @ root.T
        if not eval_gradient:
            return covariance
        return covariance, self._covariance_gradient(vectors, weights, gradient)

    def diag(self, X: npt.ArrayLike) -> FloatArray:
        """The variances of the rows X.

        Raises:
            ModelError: something is not a row.
        """
        variances: FloatArray = np.square(self._vectors(X)) @ self.weights()
        return variances

    def weights(self, theta: FloatArray | None = None) -> FloatArray:
        """r⁻¹ of every mode as the kernel uses it: averaging 1, the zero modes bounded.

        Args:
            theta: hyperparameters to use instead of the kernel's own.
        """
        return self._weigh(self._values(theta))[0]

    def weights_and_pullback(self, theta: FloatArray) -> tuple[FloatArray, Pullback]:
        """The weights, and a function from derivatives by them to derivatives by ``theta``.

        This is all that the likelihood's gradient needs: p inner products instead of p matrices. The
        function works along the last axis of its argument.
        """
        weights, gradient = self._weigh(self._values(theta))
        if self.per_mode and gradient:
            return weights, partial(self._pull_by_mode, weights, gradient)
        return weights, partial(_times, self._jacobian(weights, gradient))

    def _jacobian(self, weights: FloatArray, gradient: Gradient) -> FloatArray:
        """The derivatives of the weights by ``theta``, one row per mode."""
        if not gradient:
            return np.zeros((len(weights), self.n_dims))
        logs = self._stack(gradient).T.copy()
        if self.zero_weight is not None:
            logs[: self.spectrum.zeros] = logs[self.spectrum.zeros]
        # The scale that keeps the average at 1 moves with every weight.
        logs -= weights @ logs / len(weights)
        logs *= weights[:, None]
        return logs

    def _pull_by_mode(
        self, weights: FloatArray, gradient: Gradient, slopes: FloatArray
    ) -> FloatArray:
        """What a multiplication with the Jacobian would give, for one that is nearly a diagonal."""
        by_mode = self._stack(gradient)
        scale = self._fold(weights.copy()) * (by_mode / len(weights))
        return self._fold(slopes * weights) * by_mode - (slopes @ weights)[..., None] * scale

    def _weigh(self, values: Values) -> tuple[FloatArray, Gradient]:
        """The weights, and the gradient of their logarithms before they are scaled; empty if they are all 1."""
        zeros, modes = self.spectrum.zeros, self.spectrum.modes
        if zeros == modes:
            return np.ones(modes), {}  # no edge, so nothing to tell the modes apart
        logs, gradient = self.log_inverse(self.spectrum.eigenvalues, **values)
        return weights_of(logs, zeros, self.zero_weight), gradient

    def _vectors(self, X: npt.ArrayLike) -> FloatArray:
        return self.spectrum.eigenvectors[rows_of(X, len(self.spectrum))]

    def _values(self, theta: FloatArray | None = None) -> Values:
        """The hyperparameters by name, those that are not fixed from ``theta`` if it is given."""
        values = {name: getattr(self, name) for name in self.names}
        if theta is None:
            return values
        start = 0
        for name in self._free:
            size = self.size(name)
            values[name] = (
                np.exp(theta[start]) if size == 1 else np.exp(theta[start : start + size])
            )
            start += size
        if start != len(theta):
            raise ModelError(f"theta has {len(theta)} elements: expected {start}")
        return values

    def _stack(self, gradient: Gradient) -> FloatArray:
        """The gradient by ``theta``: of what is not fixed, one row per element."""
        free = [gradient[name] for name in self._free]
        if not free:
            return np.empty((0, self.spectrum.modes))
        return free[0] if len(free) == 1 else np.concatenate(free)

    def _fold(self, by_mode: FloatArray) -> FloatArray:
        """Book what concerns the zero modes on the mode whose weight theirs is a multiple of."""
        zeros = self.spectrum.zeros
        if self.zero_weight is not None:
            by_mode[..., zeros] += np.add.reduce(by_mode[..., :zeros], axis=-1)
            by_mode[..., :zeros] = 0.0
        return by_mode

    def _covariance_gradient(
        self, vectors: FloatArray, weights: FloatArray, gradient: Gradient
    ) -> FloatArray:
        """The covariance's derivatives by ``theta``, as scikit-learn's likelihood wants them."""
        by_weight = vectors[:, None, :] * vectors[None, :, :]
        if self.per_mode and gradient:
            return self._pull_by_mode(weights, gradient, by_weight)
        return by_weight @ self._jacobian(weights, gradient)


def _times(jacobian: FloatArray, slopes: FloatArray) -> FloatArray:
    return slopes @ jacobian


def _brief(value: object) -> str:
    numbers = np.atleast_1d(np.asarray(value, dtype=np.float64))
    if len(numbers) > 5:
        return f"{numbers.min():.3g}…{numbers.max():.3g}"
    return ", ".join(f"{number:.3g}" for number in numbers)
