"""The Matérn kernel."""

import math
from typing import Self

import numpy as np

from graphbo.search.kernels.base import Bounds, Gradient, SpectralKernel
from graphbo.search.modes import FRACTION, ZERO_WEIGHT, solve_for_fraction
from graphbo.search.spectrum import Spectrum
from graphbo.types import FloatArray

__all__ = ["Matern"]


class Matern(SpectralKernel):
    """r⁻¹(λ) = (βν + λ)^-ν: rougher than diffusion for small ν, and diffusion in the limit.

    ν is fixed by default; give it bounds to have it fitted.
    """

    names = ("beta", "nu")

    def __init__(
        self,
        spectrum: Spectrum,
        beta: float = 1.0,
        beta_bounds: Bounds = (1e-7, 1e3),
        *,
        nu: float = 2.5,
        nu_bounds: Bounds = "fixed",
        zero_weight: float | None = ZERO_WEIGHT,
    ) -> None:
        self.spectrum = spectrum
        self.beta = beta
        self.beta_bounds = beta_bounds
        self.nu = nu
        self.nu_bounds = nu_bounds
        self.zero_weight = zero_weight

    @classmethod
    def scaled(cls, spectrum: Spectrum, fraction: float = FRACTION) -> Self:
        """The kernel with the β that uses this fraction of the spectrum, if there is one."""
        nu = 2.5
        rest = spectrum.eigenvalues[spectrum.zeros :]
        beta = solve_for_fraction(
            lambda log_beta: -nu * np.log(math.exp(log_beta) * nu + rest), fraction, 1e-6, 1e2
        )
        return cls(spectrum, beta, nu=nu)

    def log_inverse(
        self, eigenvalues: FloatArray, *, beta: float, nu: float
    ) -> tuple[FloatArray, Gradient]:
        """−ν log(βν + λ), and its derivatives by log β and log ν."""
        base = beta * nu + eigenvalues
        logs = -nu * np.log(base)
        by_beta = -nu * (beta * nu / base)
        return logs, {"beta": by_beta[None, :], "nu": (by_beta + logs)[None, :]}

    def dilation(self) -> FloatArray:
        """β is measured in eigenvalues, so it shrinks where they grow."""
        return np.array([-1.0 if name == "beta" else 0.0 for name in self._free])
