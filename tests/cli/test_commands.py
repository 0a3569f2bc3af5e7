"""The commands do with files what the library does with arrays."""

import gzip
import io
import json
import os
import sys

import numpy as np
import pytest

from sparseksc import KernelSpectralClustering, load

pq = pytest.importorskip("pyarrow.parquet")
pytestmark = pytest.mark.filterwarnings("default")


#: A small search.
FEW = ("-k", "2..4", "--bandwidth", "0.5,1")


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


def _frame(X):
    pd = pytest.importorskip("pandas")
    return pd.DataFrame(X, columns=["a", "b"])


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


def test_standard_input_and_output_are_csv(ksc, files, points, monkeypatch):
    content = (files / "points.csv").read_bytes()
    outs = []
    for stream in (content, gzip.compress(content)):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stream)))
        done = ksc("predict", files / "model.ksc", "-", "--id", "name")
        assert (done.code, done.err) == (0, "")
        outs.append(done.out)
    head, *rows = outs[0].splitlines()
    assert head == "name,label"
    assert [row.split(",")[0] for row in rows] == points[1]
    assert outs[0] == outs[1]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a,b\n1,2\n1,x\n")))
    done = ksc("predict", files / "model.ksc", "-")
    assert done.code == 1
    assert done.err.startswith("ksc: standard input has 'x' in row 2 (line 3), column 'b'")


def test_fit_writes_labels_to_standard_output_and_words_to_standard_error(ksc, files, fast):
    done = ksc("fit", files / "points.npy", *fast, "--labels", "-")
    assert done.code == 0
    assert done.out.startswith("label\n")
    assert len(done.out.splitlines()) == 301
    assert done.err.startswith("3 clusters in 300 rows")


def test_several_files_folders_and_patterns_are_read_as_one(ksc, files, points, fast, tmp_path):
    X, _ = points
    (tmp_path / "parts").mkdir()
    for number in range(3):
        np.save(tmp_path / "parts" / f"part{number}.npy", X[100 * number : 100 * (number + 1)])
    whole = ksc("fit", files / "points.npy", *fast, "--labels", "-").out
    for data in (["parts"], ["parts/*.npy"], [f"parts/part{number}.npy" for number in range(3)]):
        assert ksc("fit", *data, *fast, "--labels", "-").out == whole


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


def test_tune_writes_every_model_and_a_picture(ksc, files, tmp_path):
    pytest.importorskip("matplotlib")
    done = ksc(
        *("tune", files / "points.npy", "-k", "2..4", "--bandwidth", "0.5,1,2"),
        *("-o", "tuning.json", "--plot", "tuning.png"),
    )
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("3 clusters at bandwidth")
    found = json.loads((tmp_path / "tuning.json").read_text())
    assert found["bandwidths"] == [0.5, 1.0, 2.0]
    assert np.shape(found["surfaces"]["ams"]) == (3, len(found["n_clusters"]))
    assert (tmp_path / "tuning.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads(ksc("tune", files / "points.npy", *FEW, "-o", "-").out)


def test_info_says_what_is_in_a_model(ksc, files):
    done = ksc("info", files / "model.ksc")
    assert done.code == 0
    for words in ("3 clusters, found in 300 rows and 2 columns", "a, b", "rbf, bandwidth 1", "yes"):
        assert words in done.out


def test_doubts_are_warnings_and_part_of_the_json(ksc, tmp_path):
    np.save(tmp_path / "cloud.npy", np.random.default_rng(0).normal(size=(300, 2)))
    done = ksc("fit", "cloud.npy", "--bandwidth", "1,10", "-o", "model.ksc", "--json")
    assert done.code == 0
    assert done.err.startswith("warning: ")
    assert done.err.count("\n") == 1
    assert json.loads(done.out)["warnings"] == [done.err.removeprefix("warning: ").strip()]


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


def test_headers_and_delimiters_of_csv_files(ksc, points, fast, tmp_path):
    X, _ = points
    (tmp_path / "bare.csv").write_text("".join(f"{a};{b}\n" for a, b in X))
    done = ksc("fit", "bare.csv", *fast, "-o", "model.ksc", "--delimiter", ";")
    assert done.code == 1
    assert "--no-header" in done.err
    line = ("fit", "bare.csv", *fast, "-o", "model.ksc", "--delimiter", ";", "--no-header")
    assert ksc(*line).code == 0
    assert json.loads(ksc("info", "model.ksc", "--json").out)["training"]["n_samples"] == 300


def test_the_demonstration_runs(ksc, tmp_path):
    pytest.importorskip("matplotlib")
    done = ksc("demo", "--points", "2000", "-o", "pictures")
    assert (done.code, done.err) == (0, "")
    assert "ARI of the new points" in done.out
    assert (tmp_path / "pictures" / "spirals.png").exists()


def test_reports_of_a_fit_and_of_a_saved_model(ksc, files, fast, tmp_path):
    pytest.importorskip("bokeh")
    data = (files / "points.csv", "--id", "name")
    done = ksc("fit", *data, *fast, "-o", "model.ksc", "--report", "fit.html")
    assert (done.code, done.err) == (0, "")
    page = (tmp_path / "fit.html").read_text(encoding="utf-8")
    assert "3 clusters" in page
    assert "--report fit.html" in page
    done = ksc("report", "model.ksc", *data, "--title", "Spring & summer", "-o", "later.html")
    assert (done.code, done.err) == (0, "")
    page = (tmp_path / "later.html").read_text(encoding="utf-8")
    assert "<title>Spring &amp; summer" in page
    assert "ksc report model.ksc" in page


def test_ids_name_the_rows_of_a_report(files, points):
    from sparseksc.cli.page import RowNames
    from sparseksc.data.files import open_dataset

    names = RowNames(open_dataset(files / "points.csv", ids=["name"], block_rows=70))
    assert len(names) == 300
    assert list(names) == points[1]
    assert names[np.intp(299)] == "299"
    assert names[5:7] == ["005", "006"]
    pair = RowNames(open_dataset(files / "points.npz", ids=["name"], block_rows=70))
    assert pair[123] == "123"


def test_segment_draws_the_segments_of_a_picture(ksc, tmp_path):
    Image = pytest.importorskip("PIL.Image")
    pixels = np.full((60, 80, 3), [200, 60, 50], dtype=np.uint8)
    pixels[:, 40:] = [50, 80, 190]
    pixels[30:, :40] = [60, 170, 80]
    Image.fromarray(pixels).save(tmp_path / "photo.png")
    done = ksc("segment", "photo.png", "-o", "segments.npy", "--overlay", "overlay.jpg")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("3 segments in 80 x 60 pixels")
    labels = np.load(tmp_path / "segments.npy")
    assert labels.shape == (60, 80)
    with Image.open(tmp_path / "overlay.jpg") as drawn:
        assert (drawn.size, drawn.format) == ((80, 60), "JPEG")
    done = ksc("segment", "photo.png", "-k", "3", "-o", "segments.png", "--json")
    assert json.loads(done.out)["n_segments"] == 3
    with Image.open(tmp_path / "segments.png") as stored:
        np.testing.assert_array_equal(np.asarray(stored), labels)
        shown = np.asarray(stored.convert("RGB")).astype(int)
    assert np.abs(shown - pixels)[labels == labels[0, 0]].mean() < 10


@pytest.mark.parametrize(
    ("line", "code", "sentence"),
    [
        (["missing.jpg", "-o", "s.png"], 1, "There is no file missing.jpg."),
        (["words.jpg", "-o", "s.png"], 1, "words.jpg is not a picture"),
        (["words.jpg", "-o", "s.gif"], 2, "must end in one of .png, .npy"),
        (["words.jpg", "--overlay", "s.csv"], 2, "must end in one of .png, .jpg"),
        (["words.jpg"], 2, "Nothing would be kept"),
    ],
)
def test_what_is_not_a_picture_is_refused(ksc, tmp_path, line, code, sentence):
    pytest.importorskip("PIL.Image")
    (tmp_path / "words.jpg").write_text("not a picture")
    done = ksc("segment", *line)
    assert (done.code, done.out) == (code, "")
    assert sentence in done.err
    assert done.err.count("\n") == 1


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


def test_an_output_that_may_not_be_written_is_named(ksc, files, fast, tmp_path):
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o500)
    if os.access(folder, os.W_OK):
        pytest.skip("this user may write everywhere")
    done = ksc("fit", files / "points.npy", *fast, "-o", "closed/model.ksc")
    assert (done.code, done.err) == (1, "ksc: closed/model.ksc: Permission denied.\n")
