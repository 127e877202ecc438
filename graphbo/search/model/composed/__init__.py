"""A Gaussian process whose kernel is composed by name or by the user, and whose hyperparameters are searched for.

``kernel="auto"`` needs nothing of this. A module imports only from those above its own::

    theta     the hyperparameters of a composed kernel
    at_theta  the model at one theta, for any kernel
    spectral  the same for sums of spectral kernels, with a cheap gradient
    prior     what is plausible for theta
    search    where to start, and how to climb
    model     the likelihood, its optimum, the model there
"""

from graphbo.search.model.composed.model import (
    MULTIMODAL_UP_TO,
    ComposedModel,
    Likelihood,
    optimum,
    with_amplitude_and_noise,
)
from graphbo.search.model.composed.prior import weak_prior
from graphbo.search.model.composed.search import Prior, best_theta, starting_points
from graphbo.search.model.composed.theta import leaves, theta_of

__all__ = [
    "MULTIMODAL_UP_TO",
    "ComposedModel",
    "Likelihood",
    "Prior",
    "best_theta",
    "leaves",
    "optimum",
    "starting_points",
    "theta_of",
    "weak_prior",
    "with_amplitude_and_noise",
]
