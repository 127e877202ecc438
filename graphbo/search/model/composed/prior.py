"""What is plausible for the hyperparameters before anything was observed."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from sklearn.gaussian_process.kernels import ConstantKernel, Kernel

from graphbo.search.kernels import SpectralKernel
from graphbo.search.model.composed.theta import Theta, parts, theta_of
from graphbo.types import FloatArray

__all__ = ["GaussianPrior", "weak_prior"]


@dataclass(frozen=True, eq=False)
class GaussianPrior:
    """A normal prior of theta, that is, a log-normal one of the hyperparameters.

    Attributes:
        mean: where it is centred.
        scale: the standard deviation of each element.
        shared: parts of theta whose elements shrink towards their own (weighted) average. ``scale``
            is then that of the deviations, and the average's is 1.
    """

    mean: Theta
    scale: Theta
    shared: tuple[slice, ...] = ()

    def __call__(self, theta: Theta) -> tuple[float, Theta]:
        """The logarithm of the density, up to a constant, and its gradient."""
        precision = self._precision
        deviations = theta - self.mean
        value, gradient = 0.0, np.zeros(len(theta))
        for part in self.shared:
            shares = precision[part] / precision[part].sum()
            average = float(shares @ deviations[part])
            deviations[part] -= average
            value -= 0.5 * average * average
            gradient[part] -= average * shares
        by_element = precision * deviations
        return value - 0.5 * float(deviations @ by_element), gradient - by_element

    @cached_property
    def curvature(self) -> FloatArray:
        """The negative second derivatives of the logarithm of the density."""
        matrix = np.diag(self._precision)
        for part in self.shared:
            precision = self._precision[part]
            total = precision.sum()
            extra = 1.0 / total**2 - 1.0 / total
            matrix[part, part] += extra * np.outer(precision, precision)
        return matrix

    @cached_property
    def _precision(self) -> Theta:
        return 1.0 / self.scale**2


def weak_prior(kernel: Kernel) -> GaussianPrior:
    """A prior that lets the data speak, centred on a kernel's own hyperparameters.

    Standardised values vary by about 1, so the amplitude is known to a factor of e; noise and most
    length scales only to one of e³. The many β_i of a :class:`~graphbo.search.kernels.DiffusionARD` shrink
    towards a shared value (:meth:`~graphbo.search.kernels.DiffusionARD.prior_scale`).
    """
    scales: list[FloatArray] = []
    shared: list[slice] = []
    for leaf, part in parts(kernel):
        if isinstance(leaf, SpectralKernel):
            scales.append(leaf.prior_scale())
            if leaf.per_mode and part.start < part.stop:
                shared.append(part)
        else:
            scale = 1.0 if isinstance(leaf, ConstantKernel) else 3.0
            scales.append(np.full(part.stop - part.start, scale))
    return GaussianPrior(theta_of(kernel), np.concatenate(scales), tuple(shared))
