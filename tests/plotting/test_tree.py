import numpy as np
import pytest
from sklearn.datasets import make_blobs

from sparseksc import KernelSpectralClustering
from sparseksc.plotting import DendrogramDisplay, ScoresDisplay

pytest.importorskip("matplotlib").use("Agg")

X, Y = make_blobs(300, centers=4, random_state=0)


def test_the_dendrogram_has_a_line_for_each_cluster_with_its_size():
    model = KernelSpectralClustering(4, bandwidth=3.0, random_state=0).fit(X)
    display = DendrogramDisplay.from_estimator(model, n_clusters=2)
    shown = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert sorted(shown) == [f"{k} ({size:.0f})" for k, size in enumerate(model.cluster_sizes_)]
    assert len(display.ax_.collections) > 0 and len(display.ax_.lines) == 1


def test_one_cluster_has_no_tree_to_draw():
    model = KernelSpectralClustering(1, bandwidth=3.0, random_state=0).fit(X)
    with pytest.raises(ValueError, match="no tree"):
        DendrogramDisplay.from_estimator(model)


def test_clusters_with_names_are_drawn_by_their_names():
    names = np.array(["a", "b", "c", "d"], dtype=object)[Y]
    names[40:] = None
    model = KernelSpectralClustering(4, bandwidth=3.0, random_state=0).fit(X, names)
    display = DendrogramDisplay.from_estimator(model)
    assert sorted(name[0] for name in display.names) == ["a", "b", "c", "d"]
    assert len(ScoresDisplay.from_estimator(model, X).points_) == 4
