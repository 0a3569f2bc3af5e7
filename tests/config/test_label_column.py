"""Labels of some rows in a column of files and of Dask frames; the same bits from everywhere."""

import numpy as np
import pandas as pd
import pytest

from sparseksc import KernelSpectralClustering, open_dataset
from sparseksc.data.source import BLOCK_ROWS

pytest.importorskip("pyarrow")


def table(n=900, seed=0):
    """Three clusters of which two have names, and some of their rows."""
    rng = np.random.default_rng(seed)
    which = np.arange(n) % 3
    X = np.array([(0.0, 0.0), (9.0, 0.0), (0.0, 9.0)])[which] + rng.normal(size=(n, 2))
    names = np.full(n, None, dtype=object)
    few = rng.permutation(n)[: n // 10]
    names[few] = np.array(["ant", "bee", None], dtype=object)[which[few]]
    return pd.DataFrame({"x": X[:, 0], "kind": names, "y": X[:, 1]})


def model(n_clusters=3, **more):
    return KernelSpectralClustering(
        n_clusters, kernel="landmarks", max_rank=100, random_state=0, **more
    )


def same(one, other):
    assert one.classes_.tolist() == other.classes_.tolist()
    for name in ("coef_", "bias_", "prototypes_", "tree_", "cluster_sizes_"):
        assert getattr(one, name).tobytes() == getattr(other, name).tobytes(), name


@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl"])
def test_a_column_of_a_file_is_y(tmp_path, ending):
    rows = table()
    path = tmp_path / f"rows.{ending}"
    if ending == "parquet":
        rows.to_parquet(path)
    elif ending == "csv":
        rows.to_csv(path, index=False)
    else:
        rows.to_json(path, orient="records", lines=True, double_precision=15)
    data = open_dataset(path, label="kind")
    assert data.feature_names == ["x", "y"]
    found = model().fit(data)
    assert found.classes_.tolist() == ["ant", "bee", "cluster 1"]
    centres = pd.DataFrame({"x": [0.0, 9.0, 0.0], "y": [0.0, 0.0, 9.0]})
    assert found.predict(centres).tolist() == found.classes_.tolist()
    if ending != "jsonl":  # which has fewer digits
        same(found, model().fit(rows[["x", "y"]].to_numpy(), rows["kind"]))
    assert set(found.predict(data)) == set(found.classes_)


def test_numbers_in_a_column_are_integers(tmp_path):
    rows = table()
    rows["kind"] = [{"ant": "4", "bee": "7"}.get(name, "") for name in rows["kind"]]
    rows.to_csv(tmp_path / "rows.csv", index=False)
    found = model().fit(open_dataset(tmp_path / "rows.csv", label="kind", ids=["kind"]))
    assert found.classes_.tolist() == [4, 7, 8]


def test_a_column_that_does_not_fit_is_refused(tmp_path):
    rows = table()
    for kind, words in (("", "No row has a label"), ("ant", "Every row has a label")):
        rows.assign(kind=kind).to_csv(tmp_path / "rows.csv", index=False)
        with pytest.raises(ValueError, match=words):
            model().fit(open_dataset(tmp_path / "rows.csv", label="kind"))
    with pytest.raises(ValueError, match="nothing"):
        open_dataset(tmp_path / "rows.csv", label="nothing")
    with pytest.raises(ValueError, match="name of a column"):
        open_dataset(tmp_path / "rows.csv", label=3)
    with pytest.raises(ValueError, match="files with names"):
        open_dataset([np.ones((5, 2))], label="kind")


def test_dask_frames_take_a_column_of_their_own():
    dd = pytest.importorskip("dask.dataframe")
    rows = table()
    frame = dd.from_pandas(rows, npartitions=1)
    found = model().fit(frame[["x", "y"]], frame["kind"])
    same(found, model().fit(rows[["x", "y"]].to_numpy(), rows["kind"]))
    assert set(found.labels_.compute()) == {"ant", "bee", "cluster 1"}


@pytest.mark.slow
def test_array_parquet_and_dask_in_the_same_blocks_give_the_same_bits(tmp_path):
    """Three blocks: labels, classes and tree."""
    da = pytest.importorskip("dask.array")
    rows = table(2 * BLOCK_ROWS + 5_000)
    X = rows[["x", "y"]].to_numpy()
    parts = [rows[:70_000], rows[70_000:]]  # files need not end where blocks do
    for number, part in enumerate(parts):
        part.to_parquet(tmp_path / f"{number}.parquet", row_group_size=30_000)
    files = open_dataset(tmp_path / "*.parquet", label="kind")
    blocks = da.from_array(X, chunks=(BLOCK_ROWS, 2))
    whole = model().fit(X, rows["kind"])
    streamed = model().fit(files)
    lazy = model().fit(blocks, rows["kind"])
    same(whole, streamed)
    same(whole, lazy)
    np.testing.assert_array_equal(streamed.predict(files), whole.labels_)
    np.testing.assert_array_equal(lazy.labels_.compute(), whole.labels_)
    rbf = [KernelSpectralClustering(3, bandwidth=4.0, max_rank=50, random_state=0) for _ in "123"]
    for one, data in zip(rbf, (X, files, blocks), strict=True):
        one.fit(data, None if data is files else rows["kind"])
        same(one, rbf[0])
