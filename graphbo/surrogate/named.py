"""The kernels that have a name: the paper's, and ``"auto"``, which needs no search."""

from sklearn.gaussian_process.kernels import ConstantKernel, Kernel, WhiteKernel

from graphbo.kernels import KERNELS, Diffusion
from graphbo.spectrum import Spectrum
from graphbo.surrogate.solve import InverseGamma

__all__ = ["AMPLITUDE", "KERNEL_NAMES", "NUGGETS", "named_kernel"]

#: What ``kernel`` may be called: the default, and the paper's.
KERNEL_NAMES = ("auto", *KERNELS)

#: The noise levels of ``kernel="auto"``, relative to the amplitude.
NUGGETS = (1e-3, 5e-2, 5e-1)

#: The prior of the amplitude that ``kernel="auto"`` integrates out: standardised values vary by about 1.
AMPLITUDE = InverseGamma(2.0, 2.0)


def named_kernel(name: str, spectrum: Spectrum) -> Kernel:
    """The kernel that fits start from: of the paper's, with an amplitude and noise."""
    if name == "auto":
        spectral = Diffusion.scaled(spectrum)
        spectral.beta_bounds = "fixed"
        return ConstantKernel(1.0, "fixed") + spectral + WhiteKernel(NUGGETS[1], (1e-6, 10.0))
    named = KERNELS[name](spectrum)
    return ConstantKernel(1.0, (1e-3, 1e3)) * named + WhiteKernel(0.05, (1e-6, 10.0))
