"""Covariances between the nodes of a subgraph, as scikit-learn kernels.

Every spectral kernel here is Σ r⁻¹(λ_i) u_i u_iᵀ over the eigenpairs of a subgraph's Laplacian; they differ
in r⁻¹ alone, so a new one is a small class with log r⁻¹ and its gradient. Their input X is a column
of row numbers of the subgraph. They compose with ``+`` and ``*`` like any scikit-learn kernel::

    kernel = ConstantKernel() * Diffusion(spectrum) + WhiteKernel()
    GaussianProcessRegressor(kernel).fit(rows, y)

Three conventions hold for all of these:

- r⁻¹ is scaled so that the prior variance averages 1 over the subgraph. An amplitude is a
  ``ConstantKernel`` in front, noise is a ``WhiteKernel`` beside.
- The zero modes (∝ √degree on a component) are treated apart: they weigh ``zero_weight`` times as
  much as the smoothest other mode. The formulas alone would let them swallow the kernel: a term
  1/(βλ^α + ε) is 1/ε there. ``zero_weight=None`` gives the formulas as they are.
- Hyperparameters are positive and ``theta`` is their logarithm, as everywhere in scikit-learn.

:class:`Trend` stands beside them: it knows nothing of the spectrum, but something of every node.

A module imports only from those above its own::

    base        from log r⁻¹ at the eigenvalues to covariances and gradients
    diffusion, matern, polynomial  the paper's kernels
    trend       a trend in what is known of every node
"""

from collections.abc import Callable

from sklearn.gaussian_process.kernels import Kernel

from graphbo.errors import ModelError
from graphbo.search.kernels.base import SpectralKernel
from graphbo.search.kernels.diffusion import Diffusion, DiffusionARD
from graphbo.search.kernels.matern import Matern
from graphbo.search.kernels.polynomial import Polynomial, SumInverse
from graphbo.search.kernels.trend import Trend
from graphbo.search.modes import effective_beta, rows_of
from graphbo.search.spectrum import Spectrum
from graphbo.types.plugins import Names

__all__ = [
    "KERNELS",
    "Diffusion",
    "DiffusionARD",
    "Kernel",
    "Matern",
    "Polynomial",
    "SpectralKernel",
    "SumInverse",
    "Trend",
    "effective_beta",
    "named_kernel",
    "rows_of",
]

#: From a name to the kernel that fits start from, given a spectrum. Plugins add others.
KERNELS: Names[Callable[[Spectrum], SpectralKernel]] = Names(
    "kernels",
    {
        "diffusion": Diffusion.scaled,
        "diffusion-ard": DiffusionARD.scaled,
        "matern": Matern.scaled,
        "polynomial": Polynomial.scaled,
        "sum-inverse": SumInverse.scaled,
    },
)


def named_kernel(name: str) -> Callable[[Spectrum], SpectralKernel]:
    """What gives the kernel of this name, given a spectrum.

    Raises:
        ModelError: there is none.
    """
    if name not in KERNELS:
        raise ModelError(f"kernel is {name!r}: choose from auto, {', '.join(KERNELS)}")
    return KERNELS[name]
