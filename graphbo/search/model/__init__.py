"""The model of an expensive function on the nodes of a subgraph, as a scikit-learn regressor.

:class:`SpectralGaussianProcess` does two things that a ``GaussianProcessRegressor`` does not:

- **A cheap gradient.** The covariance of the observations is F diag(ω) Fᵀ + noise, with the
  eigenvectors as the columns f_i of F. Each f_i f_iᵀ has rank one, so with K = LLᵀ the derivative of the
  log-likelihood by ω_i is ½((f_iᵀK⁻¹y)² − ‖L⁻¹f_i‖²): one triangular solve, O(N²ñ), gives all of them,
  and the kernel turns them into derivatives by its hyperparameters. scikit-learn's own way builds an
  N × N matrix per hyperparameter. Kernels that are no sums of spectral, trend, constant and white ones take
  that way here, too.
- **A model that needs no search**, ``kernel="auto"``: a diffusion kernel whose scale is set by effective
  dimension, averaged over three noise levels by their evidence, with its amplitude integrated out. Given a feature
  of the nodes, it is averaged over a trend in it and none, too.

y is standardised inside; what comes out is in the user's units. Only the log-likelihood is that of the
standardised values, as it is in scikit-learn with ``normalize_y``.

A module imports only from those above its own::

    data        the user's values, checked and standardised
    theta       the hyperparameters of a composed kernel
    solve       one decomposed covariance and its evidence
    covariance  the covariance as a function of theta, for any kernel
    spectral    the same for sums of spectral kernels: the cheap gradient
    likelihood  the evidence as a function of theta, and averages over thetas
    prior       what is plausible for theta
    search      the best theta
    named       the kernels that have a name, "auto" among them
    regressor   SpectralGaussianProcess
"""

from graphbo.search.model.data import Standardisation
from graphbo.search.model.named import KERNEL_NAMES
from graphbo.search.model.prior import GaussianPrior, weak_prior
from graphbo.search.model.regressor import SpectralGaussianProcess
from graphbo.search.model.search import MULTIMODAL_UP_TO, MapOptimizer, starting_points

__all__ = [
    "KERNEL_NAMES",
    "MULTIMODAL_UP_TO",
    "GaussianPrior",
    "MapOptimizer",
    "SpectralGaussianProcess",
    "Standardisation",
    "starting_points",
    "weak_prior",
]
