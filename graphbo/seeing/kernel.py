"""The kernel of a model as it was learned: how much each mode of the graph weighs."""

from dataclasses import dataclass

import numpy as np

from graphbo.search.strategies.model import Belief
from graphbo.types import FloatArray

__all__ = ["LearnedKernel", "learned_kernel"]


@dataclass(frozen=True, eq=False)
class LearnedKernel:
    """r⁻¹(λ) at the eigenvalues of the latest model graph.

    Attributes:
        name: of the kernel.
        eigenvalues: ascending, within [0, 1].
        weights: r⁻¹ of each mode, averaging 1.
        zeros: how many modes have the eigenvalue 0, one per connected piece; they are weighed apart.
        parameters: the hyperparameters that were found, in words; empty if there are too many to say.
    """

    name: str
    eigenvalues: FloatArray
    weights: FloatArray
    zeros: int
    parameters: str

    @property
    def effective_modes(self) -> float:
        """How many modes count, in effect: a smooth function needs few."""
        rest = self.weights[self.zeros :]
        return float(rest.sum() / rest.max()) if len(rest) else 0.0


def learned_kernel(name: str, belief: Belief) -> LearnedKernel:
    """The kernel of this name, as the model that believes this has it."""
    # Scikit-learn takes longer to import than most searches take to begin.
    from graphbo.search.kernels import SpectralKernel  # noqa: PLC0415
    from graphbo.search.model import leaves  # noqa: PLC0415

    spectral = next(
        leaf for leaf in leaves(belief.learned.kernel) if isinstance(leaf, SpectralKernel)
    )
    values = {part: np.atleast_1d(getattr(spectral, part)) for part in spectral.names}
    few = {part: value for part, value in values.items() if len(value) <= 6}
    return LearnedKernel(
        name=name,
        eigenvalues=spectral.spectrum.eigenvalues,
        weights=spectral.weights(),
        zeros=spectral.spectrum.zeros,
        parameters=", ".join(
            f"{part} = {' '.join(f'{one:.3g}' for one in value)}" for part, value in few.items()
        ),
    )
