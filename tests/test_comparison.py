import numpy as np
import pandas as pd
import pytest

from sparseksc import KernelSpectralClustering, compare, load, open_dataset
from sparseksc.data.files import locate
from sparseksc.data.formats.base import Request
from sparseksc.preprocessing import TableEncoder
from sparseksc.preprocessing.stream import EncodedStream, TableFiles, fit_to_files


def points(sizes, centers, seed=0):
    rng = np.random.default_rng(seed)
    return np.concatenate(
        [rng.normal(c, 0.7, size=(n, 2)) for n, c in zip(sizes, centers, strict=True)]
    )


A, B, C, D = (0.0, 0.0), (9.0, 0.0), (0.0, 9.0), (9.0, 9.0)


def fitted(X, n_clusters, **more):
    model = KernelSpectralClustering(n_clusters, bandwidth=4.0, random_state=0)
    return model.fit(X, **more)


def test_a_cluster_keeps_its_number_when_sizes_swap():
    old = fitted(points((300, 200, 100), (A, B, C)), 3)
    X = points((100, 200, 300), (A, B, C), seed=1)
    plain, new = fitted(X, 3), fitted(X, 3, align_to=old)
    assert plain.predict([A, B, C]).tolist() != old.predict([A, B, C]).tolist()
    assert new.predict([A, B, C]).tolist() == old.predict([A, B, C]).tolist() == [0, 1, 2]
    np.testing.assert_array_equal(new.labels_, new.predict(X))
    np.testing.assert_array_equal(new.cluster_sizes_, np.bincount(new.labels_))
    groups = new.cut(2)
    np.testing.assert_array_equal(groups[new.labels_], new.predict(X, n_clusters=2))
    assert not hasattr(new, "classes_")


def test_a_vanished_cluster_leaves_a_gap_or_none(tmp_path):
    old = fitted(points((300, 200, 100), (A, B, C)), 3)
    X = points((300, 250, 120), (A, C, D), seed=1)
    new = fitted(X, 3, align_to=old)
    assert new.predict([A, C, D]).tolist() == [0, 2, 3]
    assert new.classes_.tolist() == [0, 2, 3]
    new.save(tmp_path / "new.ksc")
    assert load(tmp_path / "new.ksc").predict([A, C, D]).tolist() == [0, 2, 3]
    closed = fitted(X, 3, align_to=old, close_gaps=True)
    assert closed.predict([A, C, D]).tolist() == [0, 1, 2]


def test_names_are_kept():
    X = points((100, 100), (A, B))
    names = np.full(200, None, dtype=object)
    names[:4], names[100:104] = "left", "right"
    old = fitted(X, 2, y=names)
    new = fitted(points((50, 90, 70), (A, B, C), seed=1), 3, align_to=old)
    assert new.predict([A, B, C]).tolist() == ["left", "right", "cluster 1"]
    with pytest.raises(ValueError, match="one of the two"):
        fitted(X, 2, y=names, align_to=old)


def test_frames_streams_and_dask_are_aligned_alike():
    da = pytest.importorskip("dask.array")
    old_rows = points((300, 200), (A, B))
    X = points((100, 300), (A, B), seed=1)
    frame, old_frame = (pd.DataFrame(rows, columns=["x", "y"]) for rows in (X, old_rows))
    model = KernelSpectralClustering(2, bandwidth=0.5, scale=True, random_state=0)
    old = KernelSpectralClustering(2, bandwidth=0.5, scale=True, random_state=0).fit(old_frame)
    model.fit(frame, align_to=old)
    assert model.predict(pd.DataFrame([A, B], columns=["x", "y"])).tolist() == [0, 1]
    old = fitted(old_rows, 2)
    for data in (open_dataset([X]), da.from_array(X, chunks=(200, 2))):
        new = fitted(data, 2, align_to=old)
        assert new.predict([A, B]).tolist() == [0, 1]
    np.testing.assert_array_equal(new.labels_.compute(), new.predict(X))


def test_what_was_split_merged_born_and_died_is_told(tmp_path):
    X = points((200, 200, 200), (A, B, C))
    two, three = fitted(X, 2), fitted(X, 3)
    assert {change.kind for change in compare(two, three, X).changes} == {"split", "kept"}
    assert {change.kind for change in compare(three, two, X).changes} == {"merged", "kept"}
    moved = fitted(points((200, 200, 200), (A, B, (40.0, 40.0))), 3)
    rows = np.concatenate([X, points((200,), ((40.0, 40.0),))])
    told = compare(three, moved, rows)
    kinds = sorted(change.kind for change in told.changes)
    assert kinds == ["born", "died", "kept", "kept"]
    assert "born: none -> " in str(told)


def test_the_table_is_drawn():
    pytest.importorskip("matplotlib").use("Agg")
    X = points((200, 200, 200), (A, B, C))
    display = compare(fitted(X, 2), fitted(X, 3), X).plot()
    assert display.image_.get_array().shape == (3, 4)
    assert [text.get_text() for text in display.ax_.get_xticklabels()] == ["0", "1", "2", "none"]


def test_other_features_are_refused():
    old = fitted(points((50, 50), (A, B)), 2)
    with pytest.raises(ValueError, match="features"):
        fitted(np.random.default_rng(0).normal(size=(50, 3)), 2, align_to=old)


def test_the_name_of_a_file_is_no_model():
    with pytest.raises(TypeError, match="load files first"):
        fitted(points((50, 50), (A, B)), 2, align_to="old.ksc")


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{"bandwidth": 4.0}, {"kernel": "landmarks"}])
def test_clusters_of_a_stream_keep_their_numbers_while_they_drift_and_swap(settings):
    rng = np.random.default_rng(0)
    model = KernelSpectralClustering(3, random_state=0, **settings)
    first = None
    for step in range(100):
        centers = np.array([A, (12.0, 0.0), (0.0, 12.0)]) + 0.02 * step
        which = rng.choice(3, 300, p=rng.dirichlet(np.full(3, 2.0)))
        model.partial_fit(centers[which] + rng.normal(size=(300, 2)), forgetting=0.9)
        found = model.predict(centers).tolist()
        first = first or found
        assert found == first


def animals(sizes, seed=0, *, gaps=False):
    """A table of a text and two numbers, whose groups are apart in all three."""
    rng = np.random.default_rng(seed)
    kinds = np.repeat(["cat", "dog", "hen"], sizes)
    places = dict(zip(["cat", "dog", "hen"], (A, B, C), strict=True))
    values = np.array([places[kind] for kind in kinds]) + rng.normal(0, 0.7, (len(kinds), 2))
    frame = pd.DataFrame({"kind": kinds, "x": values[:, 0], "y": values[:, 1]})
    if gaps:
        frame.loc[::7, "x"] = np.nan
    return frame.sample(frac=1.0, random_state=seed).reset_index(drop=True)


def fitted_table(path, align_to=None, rows=100, **options):
    """A model of a file, as the command line makes it."""
    files = TableFiles(*locate([str(path)], Request(block_rows=rows)))
    source = EncodedStream(files, fit_to_files(TableEncoder(scale=False, **options), files))
    model = KernelSpectralClustering(3, kernel="landmarks", scale=True, random_state=0)
    return model.fit(source, align_to=align_to)


def named_groups(model, frame):
    """Cluster of each kind of animal, which must be one."""
    labels = model.predict(frame)
    found = {
        kind: set(labels[(frame["kind"] == kind).to_numpy()]) for kind in ("cat", "dog", "hen")
    }
    assert all(len(numbers) == 1 for numbers in found.values())
    return {kind: int(numbers.pop()) for kind, numbers in found.items()}


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_models_of_tables_are_aligned(tmp_path, ending):
    first, second = tmp_path / f"first.{ending}", tmp_path / f"second.{ending}"
    then, now = animals((300, 200, 100)), animals((100, 200, 300), seed=1)
    # Another order of the columns, one column more, and levels in another order.
    now = now.assign(age=np.arange(600) * 7 % 13)[["y", "age", "kind", "x"]]
    for frame, path in ((then, first), (now, second)):
        frame.to_csv(path, index=False) if ending == "csv" else frame.to_parquet(path)
    old = fitted_table(first)
    plain, new = fitted_table(second), fitted_table(second, align_to=old)
    assert named_groups(plain, now) != named_groups(old, then)
    assert named_groups(new, now) == named_groups(old, then) == {"cat": 0, "dog": 1, "hen": 2}
    assert [change.kind for change in compare(old, new, now).changes] == ["kept"] * 3
    inner = compare(old, new, now).table[:3, :3]
    np.testing.assert_array_equal(inner, np.diag(np.diag(inner)))
    assert inner.sum() > 0.9 * 600
    pytest.importorskip("polars")
    import polars

    same = compare(old, new, polars.from_pandas(now))
    np.testing.assert_array_equal(same.table, compare(old, new, now).table)


def test_rows_that_one_model_leaves_out_are_not_compared(tmp_path):
    frame = animals((300, 200, 100), gaps=True)
    frame.to_csv(tmp_path / "animals.csv", index=False)
    filled = fitted_table(tmp_path / "animals.csv")
    fewer = fitted_table(tmp_path / "animals.csv", align_to=filled, missing="drop")
    table = compare(filled, fewer, frame).table
    assert table.sum() == frame["x"].notna().sum()
    inner = table[:3, :3]
    np.testing.assert_array_equal(inner, np.diag(np.diag(inner)))


def test_a_model_of_numbers_and_one_of_a_table(tmp_path):
    frame = animals((300, 200, 100))
    frame.to_csv(tmp_path / "animals.csv", index=False)
    old = fitted(frame[["x", "y"]], 3)
    new = fitted_table(tmp_path / "animals.csv", align_to=old)
    assert [change.kind for change in compare(old, new, frame).changes] == ["kept"] * 3
    with pytest.raises(ValueError, match="the column 'y', which these rows do not have"):
        compare(old, new, frame[["kind", "x"]])
    with pytest.raises(ValueError, match="columns that have no names"):
        compare(fitted(frame[["x", "y"]].to_numpy(), 3), new, frame)
    with pytest.raises(ValueError, match="on files or data frames with their columns, got ndarray"):
        compare(old, new, frame[["x", "y"]].to_numpy())
    words = frame.assign(x="far")
    with pytest.raises(ValueError, match="trained with numbers"):
        compare(old, new, words)


def test_labels_tree_and_numbers_from_parquet_are_those_of_the_array(tmp_path):
    pytest.importorskip("pyarrow")
    X = points((300, 200, 100), (A, B, C))
    names = np.full(600, None, dtype=object)
    names[::15] = np.repeat(["a", "b", "c"], (300, 200, 100))[::15]
    frame = pd.DataFrame(X, columns=["x", "y"])
    frame.to_parquet(tmp_path / "rows.parquet")
    frame.assign(name=names).to_parquet(tmp_path / "named.parquet")
    stream = open_dataset(tmp_path / "rows.parquet")
    old = fitted(X[::-1][:550], 3)
    for array, file in (
        (fitted(frame, 3), fitted(stream, 3)),
        (fitted(frame, 3, align_to=old), fitted(stream, 3, align_to=old)),
        (
            fitted(frame, 3, y=names),
            fitted(open_dataset(tmp_path / "named.parquet", label="name"), 3),
        ),
    ):
        np.testing.assert_array_equal(array.tree_, file.tree_)
        np.testing.assert_array_equal(array.coef_, file.coef_)
        np.testing.assert_array_equal(array.predict(frame), file.predict(stream))
        np.testing.assert_array_equal(array.cut(2), file.cut(2))
