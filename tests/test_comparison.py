import numpy as np
import pandas as pd
import pytest

from sparseksc import KernelSpectralClustering, compare, load, open_dataset


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
