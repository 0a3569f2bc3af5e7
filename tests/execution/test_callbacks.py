"""scikit-learn's callbacks are told of a fit and of the steps that have progress bars."""

import runpy
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sparseksc import DoubtWarning, KernelSpectralClustering, open_dataset
from sparseksc.datasets import make_spirals
from sparseksc.execution import callbacks

X, _ = make_spirals(500, random_state=0)
BANDWIDTHS = [0.004, 0.006, 0.01]


class Recorder:
    """Records the path of each task that begins and ends, and what it is handed at the end."""

    def __init__(self):
        self.begun, self.ended, self.fits, self.torn_down = [], [], [], 0

    def setup(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        self.begun.append(path_of(context))

    def on_fit_task_end(
        self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None
    ):
        self.ended.append(path_of(context))
        if X is not None:
            self.fits.append((X, y, metadata, fitted_estimator))

    def teardown(self, estimator, context):
        self.torn_down += 1

    def of(self, *path):
        return sum(ended[: len(path)] == path for ended in self.ended)


class Propagated(Recorder):
    max_propagation_depth = None


def cloud():
    return np.random.default_rng(0).normal(size=(500, 2))


def path_of(context):
    above = () if context.parent is None else path_of(context.parent)
    return (*above, context.task_name)


def model(**parameters):
    given = {"kernel": "rbf", "max_rank": 100, "selection_size": 300, "random_state": 0}
    return KernelSpectralClustering(2, **given | parameters)


def test_without_callbacks_a_fit_is_not_touched():
    with callbacks.reported_to_callbacks(object.__new__(Recorder)):
        pass


def test_older_versions_of_scikit_learn_have_none(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.callback", None)
    module = runpy.run_path(callbacks.__file__)
    assert not hasattr(module["CallbackSupportMixin"], "set_callbacks")
    assert module["with_callbacks"](model) is model


class TestWithCallbacks:
    @pytest.fixture(autouse=True)
    def module(self):
        pytest.importorskip("sklearn.callback")

    def test_each_bandwidth_of_a_search_is_a_task(self):
        recorder = Recorder()
        model(bandwidth=BANDWIDTHS).set_callbacks(recorder).fit(X)
        assert sorted(recorder.begun) == sorted(recorder.ended)
        assert recorder.of("fit", "models", "model") >= len(BANDWIDTHS)
        assert recorder.ended[-1] == ("fit",)
        assert recorder.torn_down == 1

    def test_the_models_of_the_automatic_kernel_are_tasks(self):
        recorder = Recorder()
        model(kernel="auto").set_callbacks(recorder).fit(X)
        assert recorder.of("fit", "models", "model") > 1

    def test_the_end_of_a_fit_hands_on_the_data_and_the_fitted_model(self):
        recorder, weights = Recorder(), np.ones(len(X))
        fitted = model(bandwidth=0.006).set_callbacks(recorder).fit(X, sample_weight=weights)
        [(data, target, metadata, at_the_end)] = recorder.fits
        assert data is X
        assert target is None
        assert metadata["sample_weight"] is weights
        np.testing.assert_array_equal(at_the_end.predict(X), fitted.labels_)

    def test_the_result_is_the_same_to_the_bit(self):
        plain = model(bandwidth=BANDWIDTHS).fit(X)
        watched = model(bandwidth=BANDWIDTHS).set_callbacks(Recorder()).fit(X)
        np.testing.assert_array_equal(watched.coef_, plain.coef_)

    def test_the_blocks_of_a_file_are_tasks(self, tmp_path):
        np.save(tmp_path / "rows.npy", X)
        recorder = Recorder()
        data = open_dataset(tmp_path / "rows.npy", block_rows=100)
        model(bandwidth=0.006).set_callbacks(recorder).fit(data)
        assert recorder.of("fit", "rows", "row") >= 5

    def test_a_warning_points_at_the_line_of_the_user(self):
        with pytest.warns(DoubtWarning) as warned:
            model(kernel="landmarks").set_params(n_clusters="auto").fit(cloud())
        assert {warning.filename for warning in warned} == {__file__}

    def test_an_error_tears_callbacks_down(self):
        recorder = Recorder()
        with pytest.raises(ValueError, match="NaN"):
            model().set_callbacks(recorder).fit(np.full((50, 2), np.nan))
        assert recorder.torn_down == 1
        assert recorder.ended == []

    def test_a_clone_keeps_its_callbacks_and_a_pipeline_hands_on_its_own(self):
        recorder = Propagated()
        assert clone(model().set_callbacks(recorder))._skl_callbacks == [recorder]
        pipeline = make_pipeline(StandardScaler(), model(bandwidth=BANDWIDTHS))
        pipeline.set_callbacks(recorder).fit(X)
        assert any(path[-2:] == ("models", "model") for path in recorder.ended)

    def test_progress_bars_of_scikit_learn_run(self, capsys):
        pytest.importorskip("rich")
        from sklearn.callback import ProgressBar

        model(bandwidth=BANDWIDTHS).set_callbacks(ProgressBar()).fit(X)
        assert "KernelSpectralClustering - fit" in capsys.readouterr().out
