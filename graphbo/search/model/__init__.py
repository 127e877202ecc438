"""The model of an expensive function on the nodes of a subgraph, as a scikit-learn regressor.

::

    auto       all of ``kernel="auto"``, which is what searches use: no search for hyperparameters
    composed/  the paper's kernels and users' own: priors, several starts, a cheap gradient
    anywhere   what is expected of nodes anywhere, by what is known of each: no graph
    regressor  SpectralGaussianProcess: parameters, units and scikit-learn's methods around one of the two
    parts      what an expected value is the sum of
    data       the user's values, checked and standardised
    algebra    decompositions, for both

y is standardised inside; what comes out is in the user's units. Only the log-likelihood is that of the
standardised values, as it is in scikit-learn with ``normalize_y``.
"""

from graphbo.search.model.anywhere import AnywhereModel
from graphbo.search.model.composed import leaves, theta_of
from graphbo.search.model.data import Standardisation
from graphbo.search.model.parts import Parts
from graphbo.search.model.regressor import KERNEL_NAMES, SpectralGaussianProcess

__all__ = [
    "KERNEL_NAMES",
    "AnywhereModel",
    "Parts",
    "SpectralGaussianProcess",
    "Standardisation",
    "leaves",
    "theta_of",
]
