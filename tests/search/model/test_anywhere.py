"""What is expected of nodes anywhere, by what is known of each."""

import numpy as np
import pytest

from graphbo.search.model import AnywhereModel
from graphbo.types import FloatArray

RNG = np.random.default_rng(0)


def drawn(count: int, features: int = 3) -> dict[str, FloatArray]:
    return {f"x{i}": RNG.normal(size=(count, 1)) for i in range(features)}


@pytest.mark.parametrize("shape", ["line", "hill"])
def test_learns_what_a_feature_says(shape: str) -> None:
    known, others = drawn(60), drawn(200)

    def truth(of: dict[str, FloatArray]) -> FloatArray:
        x = of["x1"][:, 0]
        return x if shape == "line" else np.exp(-np.square(x - 0.5)) * 3 - 1.5

    model = AnywhereModel(known, truth(known))
    mean, variance = model.moments(others)

    assert model.features == ("x1",)
    assert model.weight > 0.99
    assert np.corrcoef(mean, truth(others))[0, 1] > 0.95
    assert (variance > 0).all()


def test_chance_is_no_evidence() -> None:
    weights = [
        AnywhereModel(drawn(30, 5), np.random.default_rng(seed).normal(size=30)).weight
        for seed in range(20)
    ]

    assert np.median(weights) < 0.5
    assert np.mean(np.array(weights) > 0.9) <= 0.1


def test_one_observation_and_one_feature() -> None:
    model = AnywhereModel({"x": np.zeros((1, 1))}, np.zeros(1))
    mean, variance = model.moments({"x": np.array([[0.0], [3.0]])})

    assert np.isfinite(mean).all()
    assert (variance > 0).all()


def test_what_is_expected_is_the_sum_of_its_parts() -> None:
    known, others = drawn(40), drawn(20)
    truth = 2 * known["x0"][:, 0] + np.square(known["x2"][:, 0])
    model = AnywhereModel(known, (truth - truth.mean()) / truth.std())

    parts = model.parts(others)
    assert parts.mean == pytest.approx(model.moments(others)[0])
    assert parts.features.shape == (len(model.features), 20)
    assert np.abs(parts.observations).max() > 0.1
