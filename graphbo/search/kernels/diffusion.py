"""The diffusion kernel, and the one with a scale for every mode."""

from typing import Self

import numpy as np

from graphbo.search.kernels.base import Bounds, Gradient, SpectralKernel
from graphbo.search.modes import FRACTION, ZERO_WEIGHT, effective_beta
from graphbo.search.spectrum import Spectrum
from graphbo.types import FloatArray

__all__ = ["Diffusion", "DiffusionARD"]


class Diffusion(SpectralKernel):
    """r⁻¹(λ) = exp(−βλ): smooth functions, with one scale for the whole spectrum."""

    names = ("beta",)

    def __init__(
        self,
        spectrum: Spectrum,
        beta: float = 1.0,
        beta_bounds: Bounds = (1e-3, 1e7),
        zero_weight: float | None = ZERO_WEIGHT,
    ) -> None:
        self.spectrum = spectrum
        self.beta = beta
        self.beta_bounds = beta_bounds
        self.zero_weight = zero_weight

    @classmethod
    def scaled(cls, spectrum: Spectrum, fraction: float = FRACTION) -> Self:
        """The kernel with the β that uses this fraction of the modes (:func:`effective_beta`)."""
        return cls(spectrum, effective_beta(spectrum, fraction))

    def log_inverse(self, eigenvalues: FloatArray, *, beta: float) -> tuple[FloatArray, Gradient]:
        """−βλ, which is its own derivative by log β."""
        logs = -beta * eigenvalues
        return logs, {"beta": logs[None, :].copy()}

    def dilation(self) -> FloatArray:
        """A larger β is a smoother function."""
        return np.ones(self.n_dims)


class DiffusionARD(SpectralKernel):
    """r⁻¹(λ_i) = exp(−β_i λ_i): every mode has its own β_i.

    With as many hyperparameters as nodes it can say anything and needs a prior: fits shrink the β_i
    towards a shared value (see :func:`graphbo.search.model.composed.weak_prior`). Where eigenvalues repeat,
    their eigenvectors are any basis of the eigenspace, and so are the modes of those β_i.
    """

    names = ("beta",)
    per_mode = True

    def __init__(
        self,
        spectrum: Spectrum,
        beta: float | FloatArray = 1.0,
        beta_bounds: Bounds = (1e-3, 1e7),
        zero_weight: float | None = ZERO_WEIGHT,
    ) -> None:
        self.spectrum = spectrum
        self.beta = beta
        self.beta_bounds = beta_bounds
        self.zero_weight = zero_weight

    @classmethod
    def scaled(cls, spectrum: Spectrum, fraction: float = FRACTION) -> Self:
        """The kernel that starts as the diffusion kernel of this fraction."""
        return cls(spectrum, np.full(spectrum.modes, effective_beta(spectrum, fraction)))

    def size(self, name: str) -> int:
        """One β per mode."""
        del name
        return self.spectrum.modes

    def log_inverse(
        self, eigenvalues: FloatArray, *, beta: float | FloatArray
    ) -> tuple[FloatArray, Gradient]:
        """−β_i λ_i, which is its own derivative by log β_i."""
        logs = -beta * eigenvalues
        return logs, {"beta": logs.copy()}

    def prior_scale(self) -> FloatArray:
        """From the shared value: so far that a mode's weight changes by a factor of e.

        A fixed distance would not do. Where βλ is 50, a β_i that is 10 % larger switches its mode
        off, and with every mode at its own switch the kernel fits anything.
        """
        scale: FloatArray = 1.0 / (1.0 + self.beta * self.spectrum.eigenvalues)
        return scale if self._free else np.empty(0)

    def dilation(self) -> FloatArray:
        """A larger β is a smoother function."""
        return np.ones(self.n_dims)
