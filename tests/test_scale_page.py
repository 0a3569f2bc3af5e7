"""The examples of docs/scale.md run, and do what the page says."""

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

STATIONS = np.array(["north", "south", "north", "south", "harbour"])
PAGE = Path(__file__).resolve().parents[1] / "docs" / "scale.md"

# Sockets and subprocesses of the cluster are closed by threads of their own, late.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore:Port 8787 is already in use"),
]

pd = pytest.importorskip("pandas")
da = pytest.importorskip("dask.array", reason="needs dask")


@pytest.fixture
def groups():
    """Five groups in three dimensions, and where each row belongs."""
    rng = np.random.default_rng(0)
    centres = rng.permutation(5)[:, None] * np.array([1.0, 0.5, -0.5])
    y = rng.integers(5, size=4000)
    return centres[y] + rng.normal(scale=0.1, size=(len(y), 3)), y


def test_the_page(groups, tmp_path, monkeypatch):
    if not PAGE.exists():
        pytest.skip("needs docs/scale.md")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "measurements").mkdir()
    X, y = groups
    for number, rows in enumerate(np.split(np.arange(len(X)), [700, 700, 2500])):
        # Categories that differ from file to file; the second file has no rows.
        station = pd.Categorical(STATIONS[y[rows]], sorted(set(STATIONS[y[rows]]))[::-1])
        frame = pd.DataFrame(X[rows], columns=["x", "y", "z"]).assign(station=station)
        frame.to_parquet(tmp_path / "measurements" / f"{number}.parquet")
    scope = {"stream": np.split(X, 4)}
    try:
        for block in re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.M | re.S):
            exec(compile(block, str(PAGE), "exec"), scope)
        labels = pd.read_parquet(tmp_path / "labels.parquet")
        assert adjusted_rand_score(y, labels["label"]) == 1.0
        labelled = pd.read_parquet(tmp_path / "labelled")
        assert list(labelled.columns) == ["x", "y", "z", "station", "cluster"]
        np.testing.assert_array_equal(labelled[["x", "y", "z"]], X)
        assert adjusted_rand_score(y, labelled["cluster"]) == 1.0
        assert list(labelled["station"]) == list(STATIONS[y])
        frame = scope["frame"]
        assert frame.npartitions == 4
        assert not frame.known_divisions
        assert frame.map_partitions(len).compute().tolist() == [700, 0, 1800, 1500]
        assert isinstance(scope["mixed"].labels_, da.Array)
        assert adjusted_rand_score(y, scope["mixed"].labels_.compute()) == 1.0
        assert isinstance(scope["labels"], da.Array)
        assert scope["labels"].compute().shape == (100_000,)
        assert adjusted_rand_score(y, scope["ksc"].predict(X)) == 1.0
        assert not (tmp_path / "run.ckpt").exists()
    finally:
        if "client" in scope:
            scope["client"].shutdown()
