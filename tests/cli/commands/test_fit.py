"""`ksc fit` does with files what the library does with arrays."""

import gzip
import json
from time import process_time

import numpy as np
import pytest

from sparseksc import KernelSpectralClustering, load

pytestmark = pytest.mark.filterwarnings("default")

pq = pytest.importorskip("pyarrow.parquet")


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


def test_fit_saves_a_model_and_labels_like_the_library(ksc, files, points, fast, tmp_path):
    X, names = points
    done = ksc(
        *("fit", files / "points.parquet", *fast, "--columns", "b,a", "--id", "name"),
        *("-o", "model.ksc", "--labels", "labels.csv", "--membership"),
    )
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("3 clusters in 300 rows and 2 columns: rbf kernel, bandwidth 1,")
    expected = KernelSpectralClustering(3, bandwidth=1.0, random_state=0).fit(X[:, ::-1])
    table = read_labels(tmp_path / "labels.csv")
    assert list(table) == ["name", "label", "membership_0", "membership_1", "membership_2"]
    assert table["name"] == names
    assert [int(label) for label in table["label"]] == expected.labels_.tolist()
    strengths = np.array([table[f"membership_{k}"] for k in range(3)], dtype=float).T
    np.testing.assert_array_equal(strengths, expected.membership(X[:, ::-1]))
    model = load(tmp_path / "model.ksc")
    assert list(model.feature_names_in_) == ["b", "a"]
    np.testing.assert_array_equal(model.coef_, expected.coef_)


@pytest.mark.parametrize("work", [("-k", "3", "--bandwidth", "1"), ("-k", "2..4")])
def test_any_number_of_threads_can_be_asked_for(ksc, files, work, tmp_path):
    started = process_time()
    for count in ("1", "1000000"):
        done = ksc("fit", files / "points.npy", *work, "--n-jobs", count, "-o", f"{count}.ksc")
        assert (done.code, done.err) == (0, "")
    assert process_time() - started < 10.0
    one, many = (load(tmp_path / f"{count}.ksc") for count in ("1", "1000000"))
    np.testing.assert_array_equal(one.coef_, many.coef_)


def test_the_parameters_reach_the_model(ksc, files, tmp_path):
    done = ksc(
        *("fit", files / "points.npy", "-k", "3", "--kernel", "polynomial", "--degree", "2"),
        *("--coef0", "0.5", "--max-rank", "6", "--tol", "0.01", "--pivoting", "random"),
        *("--encoding", "direction", "--criterion", "ams", "--random-state", "7"),
        *("--n-jobs", "1", "--memory-limit", "1GB", "--checkpoint", "run.ckpt", "-o", "model.ksc"),
    )
    assert done.code == 0, done.err
    given = json.loads(ksc("info", "model.ksc", "--json").out)["parameters"]
    expected = {
        "kernel": "polynomial",
        "kernel_params": {"degree": 2, "coef0": 0.5},
        "max_rank": 6,
        "tol": 0.01,
        "pivoting": "random",
        "encoding": "direction",
        "criterion": "ams",
        "random_state": 7,
    }
    assert {name: given[name] for name in expected} == expected
    assert not (tmp_path / "run.ckpt").exists()


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (["--n-jobs", "0"], "n_jobs"),
        (["--max-rank", "all"], "'all' must be a number of at least 1, or auto"),
        (["--memory-limit", "much"], "memory_limit must be a positive number"),
        (["--memory-limit", "1KB"], "lower max_rank or selection_size, or raise the limit"),
        (["--checkpoint", "nowhere/run.ckpt"], "nowhere to write the checkpoint to"),
        (["--labels", "model.ksc.csv", "--report", "."], "must end in .html"),
        (["--kernel", "chi2"], "chi2"),
    ],
)
def test_what_the_library_refuses_is_a_sentence_too(ksc, files, fast, tmp_path, line, sentence):
    done = ksc("fit", files / "points.npy", *fast, "-o", "model.ksc", *line)
    assert done.code in (1, 2)
    assert done.out == ""
    assert sentence in done.err
    assert done.err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_doubt_is_said_once(ksc, tmp_path):
    X = np.random.default_rng(0).normal(size=(400, 3)) * [1.0, 1.0, 1e6]
    np.save(tmp_path / "cloud.npy", X)
    for command in (("fit", "--output", tmp_path / "m.ksc"), ("tune",)):
        done = ksc(command[0], tmp_path / "cloud.npy", *command[1:], "-k", "2,3,4")
        words = done.out + done.err
        assert words.count("the right number of clusters was not tried") == 1
        assert words.count("as hard to divide as to cut off") == 1
        assert "use --scale." in done.err


def test_landmarks_need_no_bandwidth(ksc, tmp_path, points):
    np.save(tmp_path / "points.npy", points[0])
    line = ("fit", "points.npy", "--kernel", "landmarks", "-k", "3", "--n-neighbors", "5")
    done = ksc(*line, "-o", "m.ksc")
    assert done.code == 0
    assert "landmarks kernel, 150 landmarks." in done.out + done.err
    shown = ksc("info", "m.ksc")
    assert "landmarks, n_neighbors 5, metric euclidean" in shown.out + shown.err
    wrong = ksc(*line, "--bandwidth", "2", "-o", "other.ksc")
    assert wrong.code == 1
    assert "has no bandwidth" in wrong.err


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_column_of_labels_names_the_clusters(ksc, tmp_path, kind):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(c, 0.5, size=(80, 2)) for c in (0.0, 6.0)])
    species = np.full(160, None, dtype=object)
    species[:4], species[80:84] = "low", "high"
    frame = pd.DataFrame({"a": X[:, 0], "species": species, "b": X[:, 1]})
    data, labels = tmp_path / f"data.{kind}", tmp_path / "labels.csv"
    getattr(frame, f"to_{kind}")(data, index=False)
    model = tmp_path / "m.ksc"
    done = ksc("fit", data, "-k", 2, "--label", "species", "--labels", labels, "-o", model)
    assert done.code == 0, done.err
    assert load(model).classes_.tolist() == ["high", "low"]
    assert list(load(model).feature_names_in_) == ["a", "b"]
    written = pd.read_csv(labels)["label"]
    assert (written == np.repeat(["low", "high"], 80)).all()
    done = ksc("predict", model, data, "-o", tmp_path / "again.csv")
    assert done.code == 0, done.err
    assert pd.read_csv(tmp_path / "again.csv")["label"].tolist() == written.tolist()
    done = ksc("fit", data, "--label", "genus", "-o", model)
    assert done.code != 0 and "genus" in done.err


def test_a_column_with_all_labels_is_refused(ksc, tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": np.arange(20.0), "species": ["x", "y"] * 10})
    frame.to_csv(tmp_path / "data.csv", index=False)
    done = ksc("fit", tmp_path / "data.csv", "--label", "species", "-o", tmp_path / "m.ksc")
    assert done.code != 0 and "Every row has a label in the column 'species'" in done.err
