import numpy as np
import pytest

from sparseksc import KernelSpectralClustering
from sparseksc.plotting import DriftDisplay

pytest.importorskip("matplotlib").use("Agg")


def streamed(settings):
    rng = np.random.default_rng(0)
    model = KernelSpectralClustering(2, random_state=0, **settings)
    for step in range(6):
        X = np.concatenate([rng.normal(c, 0.5, size=(n, 2)) for c, n in ((0, 150), (6, 50))])
        model.partial_fit(X + (40.0 if step == 5 else 0.0))
    return model


@pytest.mark.parametrize("settings", [{"bandwidth": 2.0}, {"kernel": "landmarks"}])
def test_the_history_tells_sizes_and_when_the_data_moved(settings):
    model = streamed(settings)
    assert [record["n_samples_seen"] for record in model.history_] == list(range(200, 1300, 200))
    assert model.history_[1]["cluster_sizes"] == [150, 50]
    residuals = [record["residual"] for record in model.history_]
    assert residuals[5] > 5 * max(residuals[:5])
    model.fit(np.random.default_rng(0).normal(size=(50, 2)))
    assert not hasattr(model, "history_")
    with pytest.raises(ValueError, match="after partial_fit only"):
        DriftDisplay.from_estimator(model)


def test_the_history_is_drawn():
    display = DriftDisplay.from_estimator(streamed({"bandwidth": 2.0}))
    assert len(display.bands_) == 2 and len(display.lines_) == 2
