"""The model of an expensive function on the nodes of a subgraph, as a scikit-learn regressor.

::

    auto       all of ``kernel="auto"``, which is what searches use: no search for hyperparameters
    composed/  the paper's kernels and users' own: priors, several starts, a cheap gradient
    fitted     either of the two in the user's units: what a search needs
    anywhere   what is expected of nodes anywhere, by what is known of each: no graph
    regressor  SpectralGaussianProcess: parameters, units and scikit-learn's methods around one of the two
    parts      what an expected value is the sum of
    data       the user's values, checked and standardised
    algebra    decompositions, for both

y is standardised inside; what comes out is in the user's units. Only the log-likelihood is that of the
standardised values, as it is in scikit-learn with ``normalize_y``.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from graphbo.search.model.anywhere import AnywhereModel
from graphbo.search.model.data import Standardisation
from graphbo.search.model.parts import Parts

if TYPE_CHECKING:
    from graphbo.search.model.composed import leaves, theta_of
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

#: scikit-learn takes a second to import: searches with the default model do without.
_HOMES = {
    "KERNEL_NAMES": "regressor",
    "SpectralGaussianProcess": "regressor",
    "leaves": "composed",
    "theta_of": "composed",
}


def __getattr__(name: str) -> object:
    """Import what needs scikit-learn when it is first used."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = found
    return found
