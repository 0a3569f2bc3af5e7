"""`ksc tune` writes every model and a figure."""

import json

import numpy as np
import pytest

pytestmark = pytest.mark.filterwarnings("default")

#: A small search.
FEW = ("-k", "2..4", "--bandwidth", "0.5,1")


def test_tune_writes_every_model_and_a_figure(ksc, files, tmp_path):
    pytest.importorskip("matplotlib")
    done = ksc(
        *("tune", files / "points.npy", "-k", "2..4", "--bandwidth", "0.5,1,2"),
        *("-o", "tuning.json", "--plot", "tuning.png"),
    )
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("3 clusters, seen with the rbf kernel at bandwidth")
    found = json.loads((tmp_path / "tuning.json").read_text())
    assert found["bandwidths"] == [0.5, 1.0, 2.0]
    assert np.shape(found["surfaces"]["quality"]) == (3, len(found["n_clusters"]))
    assert (tmp_path / "tuning.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads(ksc("tune", files / "points.npy", *FEW, "-o", "-").out)
