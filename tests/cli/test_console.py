"""Results on stdout, remarks on stderr, and JSON."""

import json

import numpy as np
import pytest

pytestmark = pytest.mark.filterwarnings("default")

#: A small search.
FEW = ("-k", "2..4", "--bandwidth", "0.5,1")


def test_json_is_one_object_and_nothing_else(ksc, files):
    done = ksc("fit", files / "points.npy", *FEW, "-o", "model.ksc", "--json")
    assert (done.code, done.err) == (0, "")
    found = json.loads(done.out)
    assert found["n_clusters"] == 3
    assert found["cluster_sizes"] == [100, 100, 100]
    assert found["model"] == "model.ksc"
    assert "3 clusters" in found["summary"]
    done = ksc("predict", "model.ksc", files / "points.npy", "-o", "labels.csv", "--json")
    assert json.loads(done.out)["cluster_sizes"] == [100, 100, 100]
    header = json.loads(ksc("info", "model.ksc", "--json").out)
    assert header["n_clusters"] == 3
    assert header["training"]["n_samples"] == 300
    tuning = json.loads(ksc("tune", files / "points.npy", *FEW, "--json").out)
    assert tuning["best_n_clusters"] == 3
    assert tuning["n_clusters"][:3] == [2, 3, 4]


def test_doubts_are_warnings_and_part_of_the_json(ksc, tmp_path):
    np.save(tmp_path / "cloud.npy", np.random.default_rng(0).normal(size=(300, 2)))
    done = ksc("fit", "cloud.npy", "--bandwidth", "1,10", "-o", "model.ksc", "--json")
    assert done.code == 0
    assert done.err.startswith("warning: ")
    assert done.err.count("\n") == 1
    assert json.loads(done.out)["warnings"] == [done.err.removeprefix("warning: ").strip()]
