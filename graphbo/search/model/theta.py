"""The hyperparameters of a composed kernel, without scikit-learn's way to them.

Its kernels look through ``dir()`` at every access to ``theta`` or ``bounds``: that costs more than the
linear algebra of a whole fit.
"""

import math
from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from sklearn.gaussian_process.kernels import (
    CompoundKernel,
    ConstantKernel,
    Exponentiation,
    Kernel,
    KernelOperator,
    WhiteKernel,
)

from graphbo.types import FloatArray

__all__ = ["Theta", "bounds_of", "leaves", "parts", "set_theta", "size_of", "theta_of"]

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
    elif isinstance(kernel, CompoundKernel):
        for part in kernel.kernels:
            yield from leaves(part)
    else:
        yield kernel


def size_of(kernel: Kernel) -> int:
    """``kernel.n_dims``."""
    return sum(map(_leaf_size, leaves(kernel)))


def parts(kernel: Kernel) -> Iterator[tuple[Kernel, slice]]:
    """Every leaf with its part of theta."""
    start = 0
    for leaf in leaves(kernel):
        stop = start + _leaf_size(leaf)
        yield leaf, slice(start, stop)
        start = stop


def theta_of(kernel: Kernel) -> Theta:
    """``kernel.theta``."""
    return np.concatenate([_leaf_theta(leaf) for leaf in leaves(kernel)])


def set_theta(kernel: Kernel, theta: Theta) -> None:
    """``kernel.theta = theta``."""
    for leaf, part in parts(kernel):
        name = NUMBERS.get(type(leaf))
        if part.start == part.stop:
            continue
        if name is None:
            leaf.theta = theta[part]
        else:
            setattr(leaf, name, math.exp(theta[part.start]))


def bounds_of(kernel: Kernel) -> FloatArray:
    """``kernel.bounds``."""
    limits = [_leaf_bounds(leaf) for leaf in leaves(kernel) if _leaf_size(leaf)]
    return np.concatenate(limits) if limits else np.empty((0, 2))


def _leaf_size(leaf: Kernel) -> int:
    name = NUMBERS.get(type(leaf))
    if name is None:
        return int(leaf.n_dims)
    return 0 if isinstance(getattr(leaf, f"{name}_bounds"), str) else 1  # "fixed" is no part


def _leaf_theta(leaf: Kernel) -> Theta:
    name = NUMBERS.get(type(leaf))
    if name is None:
        return np.asarray(leaf.theta, dtype=np.float64)
    return np.log([getattr(leaf, name)]) if _leaf_size(leaf) else np.empty(0)


def _leaf_bounds(leaf: Kernel) -> FloatArray:
    name = NUMBERS.get(type(leaf))
    if name is None:
        return np.asarray(leaf.bounds, dtype=np.float64)
    return np.log(np.reshape(getattr(leaf, f"{name}_bounds"), (1, 2)))
