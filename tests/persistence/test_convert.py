"""From estimators to files and back: what does not fit together is refused."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel

from sparseksc import KernelSpectralClustering, ModelFileError, load
from tests.persistence.conftest import (
    assert_same,
    edited,
    fitted,
    points,
    round_trip,
    similarity,
    with_numbers,
)


def test_a_function_is_handed_over_again(tmp_path):
    X = points()
    model = fitted(X, kernel=similarity, kernel_params={"gamma": 0.4, "mode": "any"})
    again = round_trip(model, tmp_path, kernel=similarity)
    assert again.kernel_params == {"gamma": 0.4, "mode": "any"}
    assert_same(again, model, X)
    path = tmp_path / "model.ksc"
    with pytest.raises(ModelFileError, match=r"hand it over as load\(path, kernel=function\)\.$"):
        load(path)
    with pytest.raises(ModelFileError, match="another kernel function"):
        load(path, kernel=lambda X, Y, gamma, mode: rbf_kernel(X, Y, gamma=2 * gamma))
    with pytest.raises(ModelFileError, match="must return a matrix of shape"):
        load(path, kernel=lambda X, Y, gamma, mode: np.ones(3))


def test_a_function_for_a_model_that_has_none_is_refused(tmp_path):
    with pytest.raises(ValueError, match="has the rbf kernel; kernel= is for models"):
        round_trip(fitted(points()), tmp_path, kernel=similarity)


def test_a_model_that_is_not_fitted_is_not_saved(tmp_path):
    with pytest.raises(Exception, match="not fitted"):
        KernelSpectralClustering().save(tmp_path / "model.ksc")
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    "change", [{"kernel": "linear"}, {"scale": True}, {"kernel": similarity}, {"tol": -1.0}]
)
def test_parameters_that_were_changed_after_the_fit_are_refused(change, tmp_path):
    model = fitted(points()).set_params(**change)
    with pytest.raises(ValueError, match=r"changed after fit|tol must be"):
        model.save(tmp_path / "model.ksc")


@pytest.mark.parametrize(
    ("entries", "match"),
    [
        ({"parameters__tol": 2.0}, "has a wrong parameter: tol must be a number between 0 and 1"),
        ({"parameters__pivoting": "eval"}, "has a wrong parameter: pivoting must be one of"),
        ({"parameters__bandwidth": -1.0}, "has a wrong parameter: bandwidth must be positive"),
        ({"parameters__kernel_params": {"x": 1}}, "kernel_params has the unknown key 'x'"),
    ],
)
def test_parameters_are_checked_like_those_of_a_user(path, entries, match):
    edited(path, **entries)
    with pytest.raises(ModelFileError, match=match):
        load(path)


@pytest.mark.parametrize("name", ["coef", "bias", "degree_coef", "prototypes", "points"])
@pytest.mark.parametrize("wild", [np.nan, np.inf])
def test_numbers_must_be_finite(path, name, wild):
    with_numbers(path, name, lambda numbers: numbers.put(0, wild))
    with pytest.raises(ModelFileError, match=f"its array '{name}' must hold finite numbers"):
        load(path)


@pytest.mark.parametrize(
    ("name", "value", "match"),
    [
        ("indices", -1, "numbers from 0 to 89"),
        ("indices", 90, "numbers from 0 to 89"),
        ("prototypes", 3.0, "directions of length 1"),
    ],
)
def test_numbers_must_be_in_their_range(path, name, value, match):
    with_numbers(path, name, lambda numbers: numbers.put(0, value))
    with pytest.raises(ModelFileError, match=match):
        load(path)


def test_what_could_not_be_read_is_not_written(model, tmp_path):
    broken = clone(model).fit(model.reduced_set_)
    broken.residual_ = np.nan
    with pytest.raises(ValueError, match=r"cannot be saved: training\.residual must be a finite"):
        broken.save(tmp_path / "model.ksc")
    broken = clone(model).fit(model.reduced_set_)
    broken.model_.projection.coef[0, 0] = np.inf
    with pytest.raises(ValueError, match=r"cannot be saved: .* 'coef' must hold finite numbers"):
        broken.save(tmp_path / "model.ksc")
    assert not any(tmp_path.iterdir())
