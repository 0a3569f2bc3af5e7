"""`ksc predict` labels files of every kind."""

import gzip

import numpy as np
import pytest

from sparseksc import KernelSpectralClustering, load

pytestmark = pytest.mark.filterwarnings("default")

pq = pytest.importorskip("pyarrow.parquet")


def partition(labels):
    """The same for the same clusters, whatever their numbers."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return first[inverse]


def read_labels(path):
    """Columns of a table of labels."""
    name = path.name
    if name.endswith(".npy"):
        return {"label": np.load(path)}
    if name.endswith(".npz"):
        with np.load(path) as archive:
            return {key: archive[key].tolist() for key in archive}
    if name.endswith(".csv.gz") or name.endswith(".csv"):
        text = gzip.decompress(path.read_bytes()) if name.endswith(".gz") else path.read_bytes()
        head, *rows = [line.split(",") for line in text.decode().splitlines()]
        return dict(zip(head, map(list, zip(*rows, strict=True)), strict=True))
    reader = (
        pq.read_table
        if name.endswith(".parquet")
        else pytest.importorskip("pyarrow.feather").read_table
    )
    return reader(path).to_pydict()


def _frame(X):
    pd = pytest.importorskip("pandas")
    return pd.DataFrame(X, columns=["a", "b"])


@pytest.mark.parametrize("output", ["npy", "npz", "parquet", "arrow", "csv", "csv.gz"])
@pytest.mark.parametrize("data", ["points.csv", "points.parquet", "points.npz"])
def test_predict_reads_and_writes_every_kind_of_file(ksc, files, points, tmp_path, data, output):
    X, names = points
    target = tmp_path / f"labels.{output}"
    ids = () if output == "npy" else ("--id", "name")
    more = ("--columns", "a,b") if output == "npy" and data != "points.npz" else ()
    done = ksc("predict", files / "model.ksc", files / data, "-o", target, *ids, *more)
    assert (done.code, done.err) == (0, "")
    table = read_labels(target)
    assert [int(label) for label in table["label"]] == load(files / "model.ksc").predict(
        _frame(X)
    ).tolist()
    if ids:
        assert list(table["name"]) == names


def test_columns_are_found_by_name_in_whatever_order(ksc, files, points, tmp_path):
    X, _ = points
    rows = "".join(f"{b},note,{a}\n" for a, b in X)
    (tmp_path / "new.csv").write_text("b,remark,a\n" + rows)
    assert ksc("predict", files / "model.ksc", "new.csv", "-o", "labels.npy").code == 0
    expected = load(files / "model.ksc").predict(_frame(X))
    np.testing.assert_array_equal(np.load(tmp_path / "labels.npy"), expected)


def test_scaling_is_part_of_the_model(ksc, fast, points, tmp_path):
    X, _ = points
    # Without scaling, the second column would drown the first.
    np.save(tmp_path / "points.npy", X * [1.0, 1e6])
    assert ksc("fit", "points.npy", *fast, "--scale", "-o", "model.ksc").code == 0
    assert ksc("predict", "model.ksc", "points.npy", "-o", "labels.npy").code == 0
    labels = np.load(tmp_path / "labels.npy")
    assert len(np.unique(labels)) == 3
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    expected = KernelSpectralClustering(3, bandwidth=1.0, random_state=0).fit_predict(scaled)
    np.testing.assert_array_equal(partition(labels), partition(expected))


def test_a_level_labels_by_coarser_clusters(ksc, tmp_path):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(c, 0.5, size=(60, 2)) for c in (0.0, 4.0, 30.0)])
    np.save(tmp_path / "x.npy", X)
    model = KernelSpectralClustering(3, bandwidth=4.0, random_state=0).fit(X)
    model.save(tmp_path / "m.ksc")
    target = tmp_path / "labels.npy"
    done = ksc("predict", tmp_path / "m.ksc", tmp_path / "x.npy", "--level", 2, "-o", target)
    assert done.code == 0, done.err
    np.testing.assert_array_equal(np.load(target), model.predict(X, n_clusters=2))
    done = ksc("predict", tmp_path / "m.ksc", tmp_path / "x.npy", "--level", 4, "-o", target)
    assert done.code != 0 and "from 1 to 3" in done.err


def test_a_model_that_is_aligned_keeps_its_numbers(ksc, tmp_path):
    rng = np.random.default_rng(0)
    for name, places in {"old": (0.0, 6.0, 12.0), "new": (6.0, 12.0, 18.0)}.items():
        sizes = (90, 60, 30) if name == "old" else (30, 60, 90)
        parts = [rng.normal(c, 0.4, size=(n, 2)) for n, c in zip(sizes, places, strict=True)]
        np.save(tmp_path / f"{name}.npy", np.concatenate(parts))
    arguments = ("-k", 3, "--bandwidth", 2)
    done = ksc("fit", tmp_path / "old.npy", *arguments, "-o", tmp_path / "old.ksc")
    assert done.code == 0, done.err
    more = ("--align-to", tmp_path / "old.ksc", "--labels", tmp_path / "labels.csv")
    done = ksc("fit", tmp_path / "new.npy", *arguments, "-o", tmp_path / "new.ksc", *more)
    assert done.code == 0, done.err
    new = load(tmp_path / "new.ksc")
    assert new.predict([[6.0, 6.0], [12.0, 12.0], [18.0, 18.0]]).tolist() == [1, 2, 3]
    assert set(read_labels(tmp_path / "labels.csv")["label"]) == {"1", "2", "3"}
