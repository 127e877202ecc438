import numpy as np
import pytest

from graphbo.search.model import Standardisation


@pytest.mark.parametrize(
    ("values", "location", "scale"),
    [
        ([1.0, 3.0], 2.0, 1.0),
        ([5.0], 5.0, 5.0),
        ([-4.0, -4.0, -4.0], -4.0, 4.0),
        ([0.0, 0.0], 0.0, 1.0),
        ([1e-300, 3e-300], 2e-300, 1e-300),
        ([1e300, -1e300], 0.0, 1e300),
        ([0.1 + 0.2, 0.3, 0.1 + 0.2], 0.3, 0.3),
    ],
)
def test_location_and_scale(values: list[float], location: float, scale: float) -> None:
    found = Standardisation.of(values)
    assert found.location == pytest.approx(location, abs=1e-9 * scale)
    assert found.scale == pytest.approx(scale)
    back = found.original(found.standard(np.array(values)))
    assert np.allclose(back, values, rtol=1e-12, atol=1e-12 * scale)
