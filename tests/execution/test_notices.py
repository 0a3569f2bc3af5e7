"""Warnings appear once, at the line of the user who called the library."""

import warnings
from inspect import currentframe

import numpy as np
import pytest

from sparseksc import DoubtWarning, KernelSpectralClustering, load, tune
from sparseksc.execution.notices import collected_warnings, warn
from sparseksc.execution.threads import map_rows, ordered_map, share_out, sum_over


@pytest.fixture
def shown():
    """Every warning that is issued, however often."""
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        yield issued


@pytest.fixture(scope="module")
def cloud():
    """Points without clusters, which a search doubts."""
    return np.random.default_rng(0).normal(size=(300, 2))


def texts(issued):
    return [str(one.message) for one in issued]


def line_here():
    return currentframe().f_back.f_lineno


def test_a_warning_is_issued_once_although_it_was_raised_many_times(shown):
    with collected_warnings() as messages:
        for _ in range(5):
            warn("first", UserWarning)
            warn("second", DoubtWarning)
        assert shown == []
    assert texts(shown) == messages == ["first", "second"]
    assert [one.category for one in shown] == [UserWarning, DoubtWarning]


@pytest.mark.parametrize("n_jobs", [1, 2, 4])
@pytest.mark.parametrize(
    "run",
    [
        lambda work, n_jobs: list(ordered_map(work, range(50), n_jobs)),
        lambda work, n_jobs: share_out(lambda _, chunk: work(chunk), range(50), n_jobs),
        lambda work, n_jobs: sum_over(work, range(50), lambda left, right: 0, n_jobs),
        lambda work, n_jobs: map_rows(
            lambda rows: (work(0), rows)[1], np.ones((9000, 1)), 1, n_jobs
        ),
    ],
    ids=["ordered_map", "share_out", "sum_over", "map_rows"],
)
def test_warnings_of_threads_are_collected_where_the_threads_were_started(run, n_jobs, shown):
    def work(_):
        warn("from a thread", UserWarning)
        return 0

    with collected_warnings() as messages:
        run(work, n_jobs)
        assert shown == []
    assert texts(shown) == messages == ["from a thread"]


def test_without_a_block_a_warning_is_issued_at_once_at_the_line_of_the_caller(shown):
    line = line_here() + 1
    warn("at once", UserWarning)
    assert [(one.filename, one.lineno) for one in shown] == [(__file__, line)]


def test_an_inner_block_hands_its_warnings_to_the_outer_one(shown):
    with collected_warnings() as outer:
        warn("outer", UserWarning)
        with collected_warnings() as inner:
            warn("outer", UserWarning)
            warn("inner", UserWarning)
        assert shown == []
    assert inner == outer == ["outer", "inner"]
    assert texts(shown) == ["outer", "inner"]


def test_after_an_error_nothing_is_issued(shown):
    with pytest.raises(RuntimeError, match="stopped"), collected_warnings():
        warn("lost", UserWarning)
        raise RuntimeError("stopped")
    with collected_warnings() as outer:
        with pytest.raises(RuntimeError, match="stopped"), collected_warnings():
            warn("lost in the inner block", UserWarning)
            raise RuntimeError("stopped")
        warn("kept", UserWarning)
    assert texts(shown) == outer == ["kept"]


def test_a_block_leaves_no_collection_behind(shown):
    with pytest.raises(RuntimeError, match="stopped"), collected_warnings():
        raise RuntimeError("stopped")
    warn("at once", UserWarning)
    assert texts(shown) == ["at once"]


def test_the_warning_of_a_fit_points_at_the_call(cloud, shown):
    estimator = KernelSpectralClustering(bandwidth=[1.0, 10.0], random_state=0)
    line = line_here() + 1
    estimator.fit(cloud)
    assert [(one.category, one.filename) for one in shown] == [(DoubtWarning, __file__)]
    assert shown[0].lineno == line
    assert texts(shown) == [estimator.tuning_.doubt]


@pytest.mark.parametrize("method", ["fit_predict", "partial_fit"])
def test_the_warnings_of_other_methods_point_at_the_call(cloud, method, shown):
    train = getattr(KernelSpectralClustering(bandwidth=[1.0, 10.0], random_state=0), method)
    line = line_here() + 1
    train(cloud)
    assert [(one.filename, one.lineno) for one in shown] == [(__file__, line)]


def test_the_warning_of_a_search_points_at_the_call(cloud, shown):
    line = line_here() + 1
    result = tune(cloud, "auto", [1.0, 10.0], random_state=0)
    assert [(one.filename, one.lineno) for one in shown] == [(__file__, line)]
    assert texts(shown) == [result.doubt]


def test_the_model_keeps_the_texts_of_its_warnings_also_in_a_file(cloud, shown, tmp_path):
    model = KernelSpectralClustering(bandwidth=[1.0, 10.0], random_state=0).fit(cloud)
    assert model.warnings_ == texts(shown) != []
    model.save(tmp_path / "model.ksc")
    assert load(tmp_path / "model.ksc").warnings_ == model.warnings_
    silent = KernelSpectralClustering(2, bandwidth=1.0, random_state=0).fit(cloud)
    assert silent.warnings_ == []


def test_a_fit_that_fails_issues_no_warning(shown):
    X = np.repeat([[0.0], [1.0], [5.0]], 5, axis=0)
    with pytest.raises(ValueError, match="3 distinct rows"):
        KernelSpectralClustering(4, bandwidth=[1.0, 2.0]).fit(X)
    assert shown == []
