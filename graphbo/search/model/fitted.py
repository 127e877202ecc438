"""A model that has observed values, in the user's units: all that a search needs of it, without scikit-learn."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from graphbo.errors import ModelError
from graphbo.search.model.algebra import one_thread
from graphbo.search.model.auto import AutomaticModel, Basis
from graphbo.search.model.data import Standardisation, columns_of, finite, inputs_of
from graphbo.search.model.parts import Parts
from graphbo.search.spectrum import Spectrum
from graphbo.types import FloatArray, Posterior

if TYPE_CHECKING:
    from sklearn.gaussian_process.kernels import Kernel

    from graphbo.search.model.composed import ComposedModel

__all__ = ["ALPHA", "Fitted", "Observed", "fit"]

#: A little variance added to every observation, on the standardised scale, against rounding.
ALPHA = 1e-6


class Observed:
    """What was observed, checked and on the standard scale.

    Args:
        X: rows.
        y: the values there.
        reference: values to standardise by instead of y.
        noise: the known variance of each value, in the square of its units; or of all.
        alpha: what is added to it.
        standardise: whether to.

    Raises:
        ModelError: they do not fit together, or are not finite numbers.
    """

    def __init__(
        self,
        X: npt.ArrayLike,  # noqa: N803 (scikit-learn's name)
        y: npt.ArrayLike,
        *,
        reference: npt.ArrayLike | None = None,
        noise: npt.ArrayLike | None = None,
        alpha: float = ALPHA,
        standardise: bool = True,
    ) -> None:
        self.inputs, values = inputs_of(X), finite(y, "value")
        count = len(values)
        if len(self.inputs) != count:
            raise ModelError(f"{count} values at {len(self.inputs)} rows: expected as many")
        known = values if reference is None else reference
        self.units = Standardisation.of(known) if standardise else Standardisation()
        self.values = self.units.standard(values)
        self.alpha = alpha
        self.noise = np.full(count, alpha) if noise is None else self._known(noise, count)

    def _known(self, noise: npt.ArrayLike, count: int) -> FloatArray:
        """The variance of each observation that is not fitted, on the standardised scale."""
        given = finite(np.atleast_1d(noise), "noise variance")
        if len(given) not in (1, count) or (given < 0).any():
            raise ModelError(
                f"{len(given)} noise variances from {given.min()} up: expected {count} from 0 up"
            )
        scale = self.units.scale
        # Two divisions: the square of a scale of 1e-200 would be 0.
        return np.broadcast_to(given / scale / scale + self.alpha, count).copy()


class Fitted:
    """A model that has observed values.

    Args:
        model: the mathematics, on the standard scale.
        units: the user's.
        alpha: the variance of what is only believed.
    """

    def __init__(
        self, model: "AutomaticModel | ComposedModel", units: Standardisation, alpha: float
    ) -> None:
        self.model = model
        self.units = units
        self._alpha = alpha

    @property
    def rows(self) -> FloatArray:
        """Those that were observed, as a column."""
        return self.model.X

    @property
    def kernel(self) -> "Kernel":
        """The kernel with the hyperparameters found."""
        return self.model.kernel

    @property
    def theta(self) -> FloatArray:
        """Those hyperparameters, as logarithms."""
        return self.model.theta

    def moments(self, X: npt.ArrayLike, *, joint: bool = False) -> tuple[FloatArray, FloatArray]:  # noqa: N803
        """The mean and the variances of measurements at the rows X, or their covariance if ``joint``.

        Raises:
            ModelError: something is not a row.
        """
        with one_thread():
            mean, spread = self.model.moments(inputs_of(X), joint=joint)
        return self.units.original(mean), spread * self.units.scale * self.units.scale

    def posterior(self, rows: npt.ArrayLike) -> Posterior:
        """What the model believes about these rows.

        Raises:
            ModelError: something is not a row.
        """
        with one_thread():
            mean, variances = self.model.moments(inputs_of(rows), joint=False)
        return Posterior(self.units.original(mean), np.sqrt(variances) * self.units.scale)

    def parts(self, rows: npt.ArrayLike) -> Parts:
        """What the expected values at these rows are sums of.

        Raises:
            ModelError: something is not a row.
        """
        with one_thread():
            found = self.model.parts(inputs_of(rows))
        return found.scaled(self.units.location, self.units.scale)

    def believing(self, rows: npt.ArrayLike) -> "Fitted":
        """A model that has observed its own expectation at these rows (Kriging believer).

        Raises:
            ModelError: something is not a row.
        """
        if not np.size(rows):
            return self
        with one_thread():
            model = self.model.believing(inputs_of(rows), self._alpha)
        return Fitted(model, self.units, self._alpha)


def fit(
    kernel: "str | Callable[[Spectrum], Kernel]",
    spectrum: Spectrum,
    features: Sequence[npt.ArrayLike],
    rows: npt.ArrayLike,
    values: npt.ArrayLike,
    *,
    odds: Sequence[float] | None = None,
    **known: Any,
) -> Fitted:
    """What :class:`~graphbo.SpectralGaussianProcess` learns; scikit-learn is imported if the kernel is not ``"auto"``.

    Args:
        kernel: its name, or what makes it.
        spectrum: the subgraph's eigenpairs.
        features: what is known of every row.
        rows: where something was observed.
        values: what.
        odds: of each feature that values rise or fall with it, for ``"auto"``.
        known: ``reference`` and ``noise``, as the regressor has them.

    Raises:
        ModelError: something of that does not fit.
    """
    if not isinstance(kernel, str) or kernel != "auto":
        from graphbo.search.model.regressor import SpectralGaussianProcess  # noqa: PLC0415

        regressor = SpectralGaussianProcess(kernel, spectrum=spectrum, features=features, odds=odds)
        return regressor.fit(rows, values, **known).fitted_
    observed = Observed(rows, values, **known)
    basis = Basis(spectrum, [columns_of(one, len(spectrum)) for one in features], odds)
    with one_thread():
        model = AutomaticModel(basis, observed.inputs, observed.values, observed.noise)
    return Fitted(model, observed.units, observed.alpha)
