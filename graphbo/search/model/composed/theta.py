"""The hyperparameters of a composed kernel, without scikit-learn's way to them.

Its kernels look through ``dir()`` at every access to ``theta`` or ``bounds``: that costs more than the
linear algebra of a whole fit.
"""

import math
from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from sklearn.base import clone
from sklearn.gaussian_process.kernels import (
    ConstantKernel,
    Exponentiation,
    Kernel,
    KernelOperator,
    WhiteKernel,
)

from graphbo.types import FloatArray

__all__ = ["Theta", "bounds_of", "leaves", "parts", "theta_of", "with_theta"]

#: Logarithms of the hyperparameters that are not fixed, in scikit-learn's order.
Theta: TypeAlias = FloatArray

#: Kernels of one number: the name of their only hyperparameter.
NUMBERS = {ConstantKernel: "constant_value", WhiteKernel: "noise_level"}


def leaves(kernel: Kernel) -> Iterator[Kernel]:
    """The kernels that a kernel is composed of, in the order of their parts in theta."""
    if isinstance(kernel, KernelOperator):
        yield from leaves(kernel.k1)
        yield from leaves(kernel.k2)
    elif isinstance(kernel, Exponentiation):
        yield from leaves(kernel.kernel)
    else:
        yield kernel


def parts(kernel: Kernel) -> Iterator[tuple[Kernel, slice]]:
    """Every leaf with its part of theta."""
    start = 0
    for leaf in leaves(kernel):
        stop = start + len(_own(leaf))
        yield leaf, slice(start, stop)
        start = stop


def theta_of(kernel: Kernel) -> Theta:
    """``kernel.theta``."""
    return np.concatenate([_own(leaf) for leaf in leaves(kernel)])


def bounds_of(kernel: Kernel) -> FloatArray:
    """``kernel.bounds``."""
    return np.concatenate([np.reshape(_bounds(leaf), (-1, 2)) for leaf in leaves(kernel)])


def with_theta(kernel: Kernel, theta: Theta) -> Kernel:
    """``kernel.clone_with_theta(theta)``."""
    copied = clone(kernel)
    for leaf, part in parts(copied):
        name = NUMBERS.get(type(leaf))
        if part.start == part.stop:
            continue
        if name is None:
            leaf.theta = theta[part]
        else:
            setattr(leaf, name, math.exp(theta[part.start]))
    return copied


def _own(leaf: Kernel) -> Theta:
    name = NUMBERS.get(type(leaf))
    if name is None:
        return np.asarray(leaf.theta, dtype=np.float64)
    return np.empty(0) if _is_fixed(leaf, name) else np.log([getattr(leaf, name)])


def _bounds(leaf: Kernel) -> FloatArray:
    name = NUMBERS.get(type(leaf))
    if name is None:
        return np.asarray(leaf.bounds, dtype=np.float64)
    return np.empty(0) if _is_fixed(leaf, name) else np.log(getattr(leaf, f"{name}_bounds"))


def _is_fixed(leaf: Kernel, name: str) -> bool:
    return isinstance(getattr(leaf, f"{name}_bounds"), str)
