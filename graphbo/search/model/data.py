"""What the user gives the model: checked, and values on a standard scale."""

# ruff: noqa: N803 (X is scikit-learn's name)

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from graphbo.errors import ModelError
from graphbo.types import FloatArray

__all__ = ["Standardisation", "columns_of", "finite", "inputs_of"]


@dataclass(frozen=True)
class Standardisation:
    """The location and the scale that turn the user's values into standard ones and back."""

    location: float = 0.0
    scale: float = 1.0

    @classmethod
    def of(cls, values: npt.ArrayLike) -> "Standardisation":
        """The mean and the standard deviation of these values.

        Values that do not differ (or a single one) have no spread to go by: their size is the scale.

        Raises:
            ModelError: there is no value, or one is not finite.
        """
        given = finite(values, "value")
        largest = float(np.abs(given).max())
        if largest == 0:
            return cls()
        relative = given / largest  # no square of a value overflows or underflows
        mean, spread = float(relative.mean()), float(relative.std())
        if spread <= 1e-14:  # rounding alone leaves as much
            return cls(mean * largest, largest)
        return cls(mean * largest, spread * largest)

    def standard(self, values: FloatArray) -> FloatArray:
        """The values on the standard scale."""
        return (values - self.location) / self.scale

    def original(self, standard: FloatArray) -> FloatArray:
        """Standard values in the user's units."""
        return self.location + self.scale * standard


def finite(values: npt.ArrayLike, what: str) -> FloatArray:
    """One or more finite numbers in a row; a single column counts as one.

    Raises:
        ModelError: they are something else.
    """
    given = np.asarray(values, dtype=np.float64)
    if given.ndim == 2 and given.shape[1] == 1:
        given = given[:, 0]
    if given.ndim != 1 or not given.size:
        raise ModelError(f"the {what}s have shape {given.shape}: expected one or more in a row")
    if not np.isfinite(given).all():
        raise ModelError(f"the {what}s contain NaN or infinity: leave those observations out")
    return given


def columns_of(feature: npt.ArrayLike, rows: int) -> FloatArray:
    """A feature of the nodes, in columns.

    Raises:
        ModelError: it has not as many rows as the subgraph, or is not made of finite numbers.
    """
    given = np.asarray(feature, dtype=np.float64)
    if given.ndim not in (1, 2) or len(given) != rows:
        raise ModelError(f"a feature of shape {given.shape}: the subgraph has {rows} rows")
    if not np.isfinite(given).all():
        raise ModelError("a feature contains NaN or infinity: put what is usual there")
    return given.reshape(rows, -1)


def inputs_of(X: npt.ArrayLike) -> FloatArray:
    """The rows as a column; other kernels' inputs as they are.

    Raises:
        ModelError: they are no numbers, or none at all.
    """
    if hasattr(X, "tocsr"):
        raise ModelError("sparse input is not supported: give a dense array of rows")
    given = np.asarray(X)
    if given.dtype.kind == "O":
        given = _numbers(given)
    if given.dtype.kind == "c":
        raise ModelError("Complex data not supported: expected rows by number")
    if given.ndim == 1:
        given = given[:, None]
    if given.ndim != 2 or given.dtype.kind not in "iuf" or not given.size:
        raise ModelError(
            f"the input has shape {given.shape} and type {given.dtype}: expected rows by number"
        )
    if given.dtype.kind == "f" and not np.isfinite(given).all():
        raise ModelError("the input contains NaN or infinity: expected rows by number")
    return given


def _numbers(given: npt.NDArray[np.object_]) -> FloatArray:
    """Objects that are numbers, as tables with columns of several types have them."""
    try:
        return given.astype(np.float64)
    except ValueError as error:
        raise ModelError(
            f"the input has the type object: expected rows by number ({error})"
        ) from None
