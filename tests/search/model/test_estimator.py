"""scikit-learn's own checks of what it takes for an estimator."""

import pytest
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.utils.estimator_checks import check_estimator

from graphbo import SpectralGaussianProcess

#: What it does in another way on purpose, or says in other words.
OTHERWISE = {
    "check_fit1d": "a plain list of rows is as good as a column of them",
    "check_fit2d_predict1d": "the same: so it says something else of too few columns",
    "check_supervised_y_2d": "a single column of values is taken without a warning",
    "check_estimators_empty_data_messages": "it says so in words of its own",
}


@pytest.mark.slow
def test_it_is_an_estimator() -> None:
    # With a kernel over numbers: the data of these checks are no rows of a graph.
    model = SpectralGaussianProcess(1.0 * RBF() + WhiteKernel())
    found = check_estimator(model, expected_failed_checks=OTHERWISE, on_skip=None)
    assert {one["check_name"] for one in found if one["status"] == "xfail"} == OTHERWISE.keys()
    assert sum(one["status"] == "passed" for one in found) >= 40
