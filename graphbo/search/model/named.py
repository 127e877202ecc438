"""The kernels that have a name: the paper's, and ``"auto"``, which needs no search."""

from collections.abc import Collection

from sklearn.gaussian_process.kernels import ConstantKernel, Kernel, WhiteKernel

from graphbo.plugins import Names
from graphbo.search.kernels import KERNELS, Diffusion, Trend
from graphbo.search.model.solve import InverseGamma
from graphbo.search.spectrum import Spectrum
from graphbo.types import FloatArray

__all__ = ["AMPLITUDE", "KERNEL_NAMES", "NUGGETS", "STEEPNESSES", "named_kernel"]

#: What ``kernel`` may be called: the default, the paper's, and those of plugins.
KERNEL_NAMES: Collection[str] = Names("kernels", dict.fromkeys(("auto", *KERNELS.own))).keys()

#: The noise levels of ``kernel="auto"``, relative to the amplitude.
NUGGETS = (1e-3, 5e-2, 5e-1)

#: How much of the variance a trend explains with ``kernel="auto"``, relative to the amplitude: nothing, or as much as
#: all else; and the odds of each. A trend has to be strongly spoken for: where there is none, as in dense graphs, it
#: leads astray (docs/experiments/defaults.md).
STEEPNESSES = {1e-6: 20.0, 1.0: 1.0}

#: The prior of the amplitude that ``kernel="auto"`` integrates out: standardised values vary by about 1.
AMPLITUDE = InverseGamma(2.0, 2.0)


def named_kernel(name: str, spectrum: Spectrum, feature: FloatArray | None = None) -> Kernel:
    """The kernel that fits start from: of the paper's, with an amplitude and noise.

    Args:
        name: of the kernel.
        spectrum: the subgraph's eigenpairs.
        feature: something known of every node that values may rise or fall with.
    """
    noise = WhiteKernel(NUGGETS[1], (1e-6, 10.0))
    if feature is None:
        return _smooth(name, spectrum) + noise
    steepness = ConstantKernel(max(STEEPNESSES), (min(STEEPNESSES), 1e3))
    return _smooth(name, spectrum) + steepness * Trend(feature) + noise


def _smooth(name: str, spectrum: Spectrum) -> Kernel:
    if name == "auto":
        spectral = Diffusion.scaled(spectrum)
        spectral.beta_bounds = "fixed"
        return ConstantKernel(1.0, "fixed") + spectral
    return ConstantKernel(1.0, (1e-3, 1e3)) * KERNELS[name](spectrum)
