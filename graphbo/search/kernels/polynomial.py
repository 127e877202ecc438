"""The inverse of a polynomial of the Laplacian, and the sum of the inverses of its terms."""

import math
from typing import Self

import numpy as np

from graphbo.search.kernels.base import Bounds, Gradient, SpectralKernel
from graphbo.search.modes import FRACTION, ZERO_WEIGHT, effective_beta
from graphbo.search.spectrum import Spectrum, powers_of
from graphbo.types import FloatArray

__all__ = ["Polynomial", "SumInverse"]


class _PolynomialOrder(SpectralKernel):
    """What the two polynomial kernels share: η coefficients β_α of λ^α, and a small ε."""

    names = ("beta",)

    def __init__(
        self,
        spectrum: Spectrum,
        beta: float | FloatArray = 1.0,
        beta_bounds: Bounds = (1e-8, 1e20),
        *,
        order: int | None = None,
        epsilon: float = 1e-8,
        zero_weight: float | None = ZERO_WEIGHT,
    ) -> None:
        self.spectrum = spectrum
        self.beta = beta
        self.beta_bounds = beta_bounds
        self.order = order
        self.epsilon = epsilon
        self.zero_weight = zero_weight

    @classmethod
    def scaled(cls, spectrum: Spectrum, fraction: float = FRACTION) -> Self:
        """The kernel that starts with the power series of the diffusion kernel's r, cut at η."""
        beta = effective_beta(spectrum, fraction)
        powers = range(spectrum.order)
        return cls(spectrum, np.array([beta**power / math.factorial(power) for power in powers]))

    def size(self, name: str) -> int:
        """η = min(5, diameter), at least 2, unless an order was given."""
        del name
        return self.spectrum.order if self.order is None else self.order

    def dilation(self) -> FloatArray:
        """β_α stands before λ^α."""
        return np.arange(self.n_dims, dtype=np.float64)

    def _terms(self, eigenvalues: FloatArray, beta: float | FloatArray) -> FloatArray:
        """β_α λ^α, one row per power."""
        if eigenvalues is self.spectrum.eigenvalues and self.order is None:
            powers = self.spectrum.powers
        else:
            powers = powers_of(eigenvalues, self.size("beta"))
        return np.reshape(beta, (-1, 1)) * powers


class Polynomial(_PolynomialOrder):
    """r(λ) = Σ_α β_α λ^α + ε, for α = 0 … η − 1."""

    def log_inverse(
        self, eigenvalues: FloatArray, *, beta: float | FloatArray
    ) -> tuple[FloatArray, Gradient]:
        """Log r⁻¹, and its derivatives by log β_α."""
        terms = self._terms(eigenvalues, beta)
        r = terms.sum(axis=0) + self.epsilon
        return -np.log(r), {"beta": terms / -r}


class SumInverse(_PolynomialOrder):
    """r⁻¹(λ) = Σ_α 1 / (β_α λ^α + ε), for α = 0 … η − 1: the sum of inverse polynomials."""

    def log_inverse(
        self, eigenvalues: FloatArray, *, beta: float | FloatArray
    ) -> tuple[FloatArray, Gradient]:
        """Log r⁻¹, and its derivatives by log β_α."""
        terms = self._terms(eigenvalues, beta)
        inverses = 1.0 / (terms + self.epsilon)
        total = inverses.sum(axis=0)
        return np.log(total), {"beta": terms * inverses**2 / -total}
