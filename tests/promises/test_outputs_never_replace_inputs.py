"""No output is written over, or among, the files that are read."""

import os

import numpy as np
import pytest
import scipy.sparse as sp

from sparseksc import KernelSpectralClustering, load, open_dataset
from sparseksc.report import write_report
from tests.promises.running import FAST, contents, needs_program, run, two_groups, write_csv

pytest.importorskip("pyarrow", reason="reading CSV files needs pyarrow")

IS, WOULD_BE, TWICE = "is one of the files", "would be one of the files", "for two outputs"


@pytest.fixture
def folder(tmp_path):
    """Two files of data with links to them, the same in a folder, a picture and a model."""
    X = two_groups()
    (tmp_path / "data").mkdir()
    for name in ("p1.csv", "p2.csv", "data/p1.csv", "data/p2.csv"):
        write_csv(tmp_path / name, X)
    os.link(tmp_path / "p1.csv", tmp_path / "hard.csv")
    (tmp_path / "soft.csv").symlink_to("p2.csv")
    (tmp_path / "soft.png").symlink_to("photo.png")
    # Leads to a file that is not there, and would be among those of the pattern.
    (tmp_path / "later.csv").symlink_to("p3.csv")
    (tmp_path / "alias").symlink_to("data")
    data = open_dataset(tmp_path / "p1.csv", ids=["name"])
    KernelSpectralClustering(2, bandwidth=1.0).fit(data).save(tmp_path / "m.csv")
    os.link(tmp_path / "m.csv", tmp_path / "same_model.csv")
    os.link(tmp_path / "m.csv", tmp_path / "m.html")
    return tmp_path


FIT = ("fit", "p?.csv", "--id", "name", *FAST)
PREDICT = ("predict", "m.csv", "p?.csv", "--id", "name")
REPORT = ("report", "m.csv", "p?.csv", "--id", "name")
LINES = [
    ((*FIT, "--labels", "p1.csv"), IS),
    ((*FIT, "-o", "p2.csv"), IS),
    ((*FIT, "-o", "hard.csv"), IS),
    ((*FIT, "--labels", "soft.csv"), IS),
    ((*FIT, "--labels", "p3.csv"), WOULD_BE),
    ((*FIT, "--labels", "later.csv"), WOULD_BE),
    ((*FIT, "-o", "m.ksc", "--checkpoint", "p1.csv"), IS),
    ((*FIT, "-o", "m.ksc", "--checkpoint", "p3.csv"), WOULD_BE),
    ((*FIT, "-o", "both", "--report", "../both.html", "--checkpoint", "./both"), TWICE),
    (("fit", "data", *FAST, "--labels", "data/new.csv"), WOULD_BE),
    (("fit", "alias", *FAST, "--labels", "data/p1.csv"), IS),
    (("fit", "data/**/*.csv", *FAST, "-o", "data/new.csv"), WOULD_BE),
    (("fit", "d*/p?.csv", *FAST, "-o", "alias/p9.csv"), WOULD_BE),
    ((*PREDICT, "-o", "hard.csv"), IS),
    ((*PREDICT, "-o", "p3.csv"), WOULD_BE),
    ((*PREDICT, "-o", "same_model.csv"), IS),
    ((*REPORT, "-o", "m.html"), IS),
    (("report", "m.csv", "p*", "--id", "name", "-o", "page.html"), WOULD_BE),
    (("tune", "p?.csv", "--id", "name", "-k", "2", "-o", "p1.csv"), IS),
    (("tune", "p?.csv", "--id", "name", "-k", "2", "-o", "t.png", "--plot", "./t.png"), TWICE),
    (("segment", "photo.png", "-k", "2", "-o", "soft.png"), IS),
    (("segment", "photo.png", "-k", "2", "-o", "s.png", "--overlay", "./s.png"), TWICE),
]


@needs_program
@pytest.mark.parametrize(("line", "sentence"), LINES, ids=lambda value: str(value[0]))
def test_a_command_refuses_before_any_work(folder, line, sentence):
    image = pytest.importorskip("PIL.Image")
    image.fromarray(np.zeros((8, 8, 3), np.uint8)).save(folder / "photo.png")
    before = contents(folder)
    done = run(folder, *line)
    assert (done.returncode, done.stdout) == (2, b"")
    assert sentence in done.stderr.decode()
    assert contents(folder) == before


@needs_program
def test_standard_streams_are_compared_as_the_files_they_are(folder):
    before = contents(folder)
    with open(folder / "p1.csv") as incoming:
        done = run(
            folder, "fit", "-", "--id", "name", *FAST, "--labels", "hard.csv", stdin=incoming
        )
    assert done.returncode == 2
    with open(folder / "p1.csv", "a") as appended:
        done = run(folder, *PREDICT, stdout=appended)
    assert done.returncode == 2
    assert contents(folder) == before


@needs_program
def test_other_files_of_the_same_folders_and_devices_can_be_written(folder):
    done = run(folder, *FIT, "-o", "data/m.ksc", "--labels", "data/q.csv", "--report", "page.html")
    assert done.returncode == 0, done.stderr
    done = run(folder, "fit", "data/p1.csv", "--id", "name", *FAST, "-o", "data/new.csv")
    assert done.returncode == 0, done.stderr


SOURCES = {
    "pattern": (lambda f: open_dataset(f / "p?.csv", ids=["name"]), "p1.csv", "p3.csv"),
    "folder": (lambda f: open_dataset(f / "data", ids=["name"]), "data/p1.csv", "alias/new.csv"),
    "list": (lambda f: open_dataset([f / "p1.csv", f / "p2.csv"], ids=["name"]), "hard.csv", None),
    "link": (lambda f: open_dataset(f / "soft.csv", ids=["name"]), "p2.csv", None),
    "map": (lambda f: np.load(f / "x.npy", mmap_mode="r"), "x.npy", None),
    "view": (lambda f: np.load(f / "x.npy", mmap_mode="r")[::-1], "x.npy", None),
    "frame": (lambda f: frame_of(np.load(f / "x.npy", mmap_mode="r")), "x.npy", None),
    "sparse": (lambda f: sparse_of(f / "v.npy"), "v.npy", None),
    "maps": (lambda f: open_dataset([np.load(f / "x.npy", mmap_mode="r")] * 2), "x.npy", None),
    "cluster": (lambda f: open_dataset(f / "*.npy").to_dask(), "x.npy", "y.npy"),
    "lines": (lambda f: open_dataset(f / "p?.csv", ids=["name"]).to_dask(), "p1.csv", "p3.csv"),
}


def frame_of(X):
    return pytest.importorskip("pandas").DataFrame(X, copy=False)


def sparse_of(path):
    X = two_groups()
    np.save(path, X.ravel())
    shape = (np.tile([0, 1], len(X)), np.arange(0, 2 * len(X) + 1, 2))
    matrix = sp.csr_matrix(X.shape)
    matrix.indices, matrix.indptr = shape
    matrix.data = np.load(path, mmap_mode="r")
    return matrix


@pytest.mark.parametrize("kind", SOURCES)
def test_the_library_refuses_what_a_source_reads(folder, kind, monkeypatch):
    pytest.importorskip("dask.dataframe")
    np.save(folder / "x.npy", two_groups())
    make, read, among = SOURCES[kind]
    X = make(folder)
    model = KernelSpectralClustering(2, bandwidth=1.0).fit(X)
    before = contents(folder)
    # The names were given before, and hold wherever the process is now.
    monkeypatch.chdir("/")
    ways = [
        lambda path: model.predict(X, out=path),
        lambda path: model.save(path),
        lambda path: model.to_onnx(path),
        lambda path: write_report(model, X, path),
        lambda path: KernelSpectralClustering(2, bandwidth=1.0).fit(X, checkpoint=path),
    ]
    for way in ways:
        with pytest.raises(ValueError, match=IS):
            way(folder / read)
        if among is not None:
            with pytest.raises(ValueError, match=WOULD_BE):
                way(folder / among)
    assert contents(folder) == before


def test_names_are_kept_when_the_process_goes_elsewhere(folder, monkeypatch, tmp_path):
    odd = tmp_path / "a[1]"
    odd.mkdir()
    write_csv(odd / "p1.csv", two_groups())
    monkeypatch.chdir(odd)
    data = open_dataset("p?.csv", ids=["name"])
    model = KernelSpectralClustering(2, bandwidth=1.0).fit(data)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=IS):
        model.save(odd / "p1.csv")
    with pytest.raises(ValueError, match=WOULD_BE):
        model.save(odd / "p2.csv")
    model.save(odd / "model.ksc")
    again = load(odd / "model.ksc")
    again.save(odd / "model.ksc")


def test_rows_that_were_added_later_are_kept_too(folder):
    np.save(folder / "x.npy", two_groups())
    model = KernelSpectralClustering(2, bandwidth=1.0).partial_fit(two_groups())
    model.partial_fit(np.load(folder / "x.npy", mmap_mode="r"))
    with pytest.raises(ValueError, match=IS):
        model.save(folder / "x.npy")
    model.fit(two_groups())
    model.save(folder / "x.npy")
