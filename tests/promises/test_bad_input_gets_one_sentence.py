"""Whatever is given: a right answer, or one sentence that says what to do; no foreign error."""

import re
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances

from sparseksc import KernelSpectralClustering, open_dataset, tune
from sparseksc.core.clusters.availability import BandwidthWarning
from sparseksc.search.result import DoubtWarning

X = make_blobs(150, centers=[[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]], random_state=0)[0]
DISTANCES = pairwise_distances(X)
NEIGHBOURS = (DISTANCES < 2.0).astype(float)
WORKS = None


@pytest.fixture(autouse=True)
def only_foreign_warnings():
    """Let doubts about the clusters pass; every other warning is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kind in (DoubtWarning, BandwidthWarning, ConvergenceWarning):
            warnings.simplefilter("ignore", kind)
        yield


def read_only():
    array = X.copy()
    array.flags.writeable = False
    return array


def with_value(value):
    array = X.copy()
    array[3, 1] = value
    return array


def frame(**columns):
    return pytest.importorskip("pandas").DataFrame({"a": X[:, 0], **columns})


def as_matrix():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.matrix(X)


def one_sentence(error):
    """Whether a text is for a person: short, in one line, with an end, and without numbers of X."""
    text = str(error.value)
    return len(text) < 320 and "\n" not in text and text.endswith(".") and "array([" not in text


TEXT = "X must hold numbers only, got 'x' in column"
SHAPE = r"X must have two dimensions, got shape \(5,\): Reshape your data"

#: What is given as X, without a model and with one, and the sentence for it.
TABLES = {
    "read-only": (read_only, WORKS),
    "in Fortran order": (lambda: np.asfortranarray(X), WORKS),
    "every other row": (lambda: X[::2], WORKS),
    "lists": (lambda: X.tolist(), WORKS),
    "numbers as objects": (lambda: X.astype(object), WORKS),
    "numbers as text": (lambda: X.astype(str), WORKS),
    "masked array without a masked value": (lambda: np.ma.masked_array(X), WORKS),
    "int8": (lambda: (5 * X).astype(np.int8), WORKS),
    "uint64": (lambda: (5 * X + 100).astype(np.uint64), WORKS),
    "bool": (lambda: X > 4.0, WORKS),
    "float16": (lambda: X.astype(np.float16), WORKS),
    "longdouble": (lambda: X.astype(np.longdouble), WORKS),
    "sparse": (lambda: sp.csc_array(X), WORKS),
    "numbers in a data frame": (lambda: frame(b=X[:, 1]), WORKS),
    "one column": (lambda: X[:, :1], WORKS),
    "masked": (lambda: np.ma.masked_less(X, 0.0), "X has masked values: remove such rows"),
    "matrix": (as_matrix, "got np.matrix: use np.asarray"),
    "complex": (lambda: X + 1j, "Complex data not supported: pass real and imaginary parts"),
    "text": (lambda: np.full((9, 2), "x"), TEXT + " 0: turn it into numbers or leave it out"),
    "objects": (lambda: np.array([[1.0, "x"]] * 9, object), TEXT + " 1"),
    "dates": (lambda: np.arange(18).astype("M8[s]").reshape(9, 2), "only, got datetime64"),
    "text in a data frame": (lambda: frame(b="x"), TEXT + " 'b'"),
    "dates in a data frame": (
        lambda: frame(b=np.arange(150).astype("M8[s]")),
        "only, got datetime64.* in column 'b'",
    ),
    "ragged lists": (lambda: [[1.0, 2.0], [3.0]], "its rows have different lengths"),
    "no dimension": (lambda: np.float64(1.0), r"got shape \(\)"),
    "one dimension": (lambda: np.zeros(5), SHAPE),
    "three dimensions": (lambda: np.zeros((4, 3, 2)), r"got shape \(4, 3, 2\)"),
    "no rows": (lambda: np.zeros((0, 2)), r"0 sample\(s\)"),
    "no columns": (lambda: np.zeros((5, 0)), r"0 feature\(s\)"),
    "NaN": (lambda: with_value(np.nan), "X contains NaN, first in row 3, column 1: remove or"),
    "infinity": (lambda: with_value(np.inf), "X contains infinity, first in row 3, column 1"),
    "NaN in a sparse matrix": (lambda: sp.csr_array(with_value(np.nan)), "X contains NaN: remove"),
    "missing in a data frame": (lambda: frame(b=[None, *X[1:, 1]]), "NaN, first in row 0, column"),
    "integer that is no float": (lambda: [[10**400, 1], [2, 3]], "integer that is too large"),
    "none": (lambda: None, "X must be an array, .* got None"),
    "name of a file": (lambda: "data.csv", "got the text 'data.csv': open files by sparseksc.open"),
    "dict": (lambda: {"a": [1.0, 2.0]}, "X must be an array, .* got dict"),
    "iterator": (lambda: iter(X), "X must be an array, .* got "),
}


@pytest.mark.parametrize("given", TABLES)
@pytest.mark.parametrize("method", ["fit", "tune", "partial_fit", "predict"])
def test_tables(given, method):
    table, sentence = TABLES[given]
    table = table()
    model = KernelSpectralClustering(2, bandwidth=2.0, random_state=0)
    if method == "predict":
        model.fit(X[:, :1] if given == "one column" else X)
        if hasattr(table, "columns"):
            model.fit(X, None)
            table = table.rename(columns=lambda name: name) if sentence else table.to_numpy()
    call = {
        "fit": model.fit,
        "partial_fit": model.partial_fit,
        "predict": model.predict,
        "tune": lambda rows: tune(rows, [2, 3], random_state=0, progress=False),
    }[method]
    if sentence is WORKS:
        call(table)
        return
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X has feature names")
        with pytest.raises((ValueError, TypeError), match=sentence) as error:
            call(table)
    assert one_sentence(error)


#: X and parameters that do not go together, and the sentence for them.
CASES = {
    "one row": (X[:1], {}, r"1 sample\(s\)"),
    "two rows": (X[:2], {}, WORKS),
    "equal rows": (np.ones((50, 2)), {}, WORKS),
    "two clusters of equal rows": (
        np.ones((50, 2)),
        {"n_clusters": 2},
        "2 clusters asked for, but the data has 1 distinct row",
    ),
    "more clusters than points": (X, {"n_clusters": 200}, "200 clusters .* has 150 distinct rows"),
    "narrowest bandwidth": (X, {"n_clusters": 3, "bandwidth": 1e-300}, "1e-300 is too small"),
    "widest bandwidth": (X, {"n_clusters": 3, "bandwidth": 1e300}, "use a smaller bandwidth"),
    "widest bandwidth alone": (X, {"bandwidth": 1e300}, WORKS),
    "bandwidths of all sizes": (X, {"bandwidth": [1e-300, 1.0, 1e300]}, WORKS),
    "denormal bandwidth": (X, {"bandwidth": 1e-310}, "bandwidth must be positive and finite"),
    "narrow icd_bandwidth": (
        X,
        {"n_clusters": 3, "bandwidth": 1.0, "icd_bandwidth": 1e-300},
        "1e-300 is too small",
    ),
    "tiny inner products": (X * 1e-160, {"kernel": "linear"}, "kernel values are too small"),
    "tiny inner products of three": (
        X * 1e-160,
        {"kernel": "linear", "n_clusters": 3},
        "kernel values are too small for float64: rescale X",
    ),
    "huge inner products": (X * 1e153, {"kernel": "linear"}, "kernel values are too large"),
    "infinite inner products": (X * 1e160, {"kernel": "linear"}, "kernel values are too large"),
    "tiny powers": (X * 1e-160, {"kernel": "polynomial"}, "values of X are too small: rescale X"),
    "huge powers": (X * 1e153, {"kernel": "polynomial"}, "values of X are too large: rescale X"),
    "vanishing powers": (X * 1e-200, {"kernel": "polynomial"}, "X are too small: rescale X"),
    "large powers": (
        X,
        {"kernel": "polynomial", "n_clusters": 3, "bandwidth": 1e-300},
        "too large for float64: rescale X or use a larger bandwidth",
    ),
    "small rows": (X * 1e-150, {}, WORKS),
    "tiny rows": (X * 1e-170, {}, "distances between the rows are too small: rescale X"),
    "large rows": (X * 1e150, {}, WORKS),
    "huge rows": (X * 1e153, {}, "distances between the rows are too large: rescale X"),
    "huge rows of three": (X * 1e153, {"n_clusters": 3}, "too large: rescale X"),
    "huge sparse rows": (sp.csr_array(X * 1e153), {}, "too large: rescale X"),
    "huge rows to be scaled": (X * 1e153, {"scale": True}, "too large to be standardised"),
    "huge float32": ((X * 1e30).astype(np.float32), {}, "too large: rescale X"),
    "huge rows and landmarks": (X * 1e200, {"kernel": "landmarks"}, WORKS),
    "huge rows and landmarks of three": (
        X * 1e300,
        {"kernel": "landmarks", "n_clusters": 3},
        WORKS,
    ),
    "opposite rows and landmarks": (
        np.outer([1e200, 1.1e200, -1e200, -1.1e200], [1.0, 0.0]),
        {"kernel": "landmarks", "n_clusters": 2},
        WORKS,
    ),
    "huge sparse rows and landmarks": (
        sp.csr_array(X * 1e200),
        {"kernel": "landmarks"},
        "values of X are too large: rescale X",
    ),
    "huge cosines": (X * 1e300, {"kernel": "cosine"}, WORKS),
    "huge distances": (X * 1e300, {"kernel": "laplacian"}, WORKS),
    "sparse for a dense kernel": (sp.csr_array(X), {"kernel": "laplacian"}, r"Use '\.toarray\(\)'"),
    "distances as a kernel": (
        DISTANCES,
        {"kernel": "precomputed"},
        r"these are distances .* pass numpy\.exp\(-X\*\*2 / h\), with h around [0-9.]+, the square",
    ),
    "negative distances": (-DISTANCES, {"kernel": "precomputed"}, "Of distances D, pass numpy"),
    "links without the points": (
        NEIGHBOURS - np.eye(150),
        {"kernel": "precomputed", "n_clusters": 3},
        r"of links A between neighbours, A @ A\.T",
    ),
    "links": (
        NEIGHBOURS,
        {"kernel": "precomputed", "n_clusters": 3},
        r"zeros and ones that says which points are neighbours is not. .* A @ A\.T",
    ),
    "common neighbours": (NEIGHBOURS @ NEIGHBOURS.T, {"kernel": "precomputed"}, WORKS),
    "zeros and ones of clusters": (
        np.kron(np.eye(3), np.ones((9, 9))),
        {"kernel": "precomputed", "n_clusters": 3},
        WORKS,
    ),
    "a kernel of distances": (np.exp(-(DISTANCES**2)), {"kernel": "precomputed"}, WORKS),
    "infinite memory": (X, {"memory_limit": float("inf")}, "memory_limit must be a positive"),
    "memory as a point": (X, {"memory_limit": "."}, "memory_limit must be a positive"),
    "memory as a NumPy integer": (X, {"memory_limit": np.int64(10**9)}, WORKS),
    "memory as a NumPy number": (X, {"memory_limit": np.float32(1e9)}, WORKS),
}


@pytest.mark.parametrize("case", CASES)
def test_cases(case):
    table, parameters, sentence = CASES[case]
    model = KernelSpectralClustering(**parameters, random_state=0)
    if sentence is WORKS:
        np.testing.assert_array_equal(model.fit(table).labels_, model.predict(table))
        return
    with pytest.raises((ValueError, TypeError), match=sentence) as error:
        model.fit(table)
    assert one_sentence(error)


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        (np.full(150, np.nan), "sample_weight must be finite and not negative"),
        (np.ones(149), r"sample_weight must have shape \(150,\), got \(149,\)"),
        (np.ones(150) + 1j, "sample_weight must be an array of numbers"),
        (np.full(150, "1"), "sample_weight must be an array of numbers"),
        (np.ma.masked_equal(np.arange(150.0), 3.0), "sample_weight must be an array of numbers"),
        ([10**400] * 150, "sample_weight must be an array of numbers"),
        (np.full(150, 1e308), "sum of sample_weight is too large"),
        *((np.full(150, weight), WORKS) for weight in (1e-308, 1e-200, 1e200, 1e300)),
    ],
)
@pytest.mark.parametrize("method", ["fit", "tune", "partial_fit"])
def test_weights(weights, sentence, method):
    model = KernelSpectralClustering(3, random_state=0)
    call = {"fit": model.fit, "partial_fit": model.partial_fit}.get(method)
    if call is None:
        call = lambda X, sample_weight: tune(  # noqa: E731
            X, [2, 3], sample_weight=sample_weight, random_state=0, progress=False
        )
    if sentence is WORKS:
        call(X, sample_weight=weights)
        return
    with pytest.raises(ValueError, match=sentence) as error:
        call(X, sample_weight=weights)
    assert one_sentence(error)


@pytest.mark.parametrize(
    ("n_clusters", "validation", "sentence"),
    [
        ([2, 3], 1, "points of all its clusters"),
        ("auto", X[:1], "points of all its clusters"),
        ([2, 3], X[:0], "validation has no points"),
    ],
)
def test_too_few_points_to_evaluate_on(n_clusters, validation, sentence):
    with pytest.raises(ValueError, match=sentence) as error:
        tune(X, n_clusters, validation=validation, random_state=0)
    assert one_sentence(error)


@pytest.mark.parametrize("validation", ["x", [["a", "b"]], [[1.0], [2.0, 3.0]], [[1j, 2.0]]])
def test_points_to_evaluate_on(validation):
    with pytest.raises(ValueError, match="validation must be an integer or an array") as error:
        tune(X, [2, 3], validation=validation, progress=False)
    assert one_sentence(error)


# ----------------------------------------------------------------------------------------- files


def npy(header):
    text = header.encode().ljust(118) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + bytes(64)


@pytest.mark.parametrize(
    "content",
    [
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2, "),  # a TokenError of Python
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2)} }"),
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (10**9, 10**9)}"),
        npy(f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({2**62}, {2**62})}}"),
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 2)}"),
        npy("{'descr': [1], 'fortran_order': False, 'shape': (2, 2)}"),
        npy("{'descr': '|O', 'fortran_order': False, 'shape': (2, 2)}"),
        npy("(" * 60),
        npy("\\x00"),
        b"\x93NUMPY\x01",
        b"\x93NUMPY\x09\x00" + bytes(64),
        b"",
    ],
)
@pytest.mark.parametrize("ending", [".npy", ".npz"])
def test_headers_that_numpy_cannot_read(content, ending, tmp_path):
    import zipfile

    path = tmp_path / f"data{ending}"
    if ending == ".npy":
        path.write_bytes(content)
    else:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("X.npy", content)
    with pytest.raises(ValueError, match=re.escape(str(path))) as error:
        open_dataset(path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("reader", ["blocks", "dask"])
@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
def test_every_fault_of_a_columnar_file_has_its_name(ending, reader, tmp_path):
    pa = pytest.importorskip("pyarrow")
    feather = pytest.importorskip("pyarrow.feather")
    parquet = pytest.importorskip("pyarrow.parquet")

    path = tmp_path / f"data{ending}"
    table = pa.table({"a": np.arange(4000.0), "b": np.random.default_rng(0).normal(size=4000)})
    if ending == ".parquet":
        parquet.write_table(table, path, row_group_size=1000)
    else:
        feather.write_feather(table, path, compression="lz4", chunksize=1000)
    whole, rng, faults = path.read_bytes(), np.random.default_rng(0), 0
    if reader == "dask":
        pytest.importorskip("dask")
    for _ in range(60):
        content = bytearray(whole)
        start = int(rng.integers(4, len(whole) - 40))
        content[start : start + 30] = rng.integers(0, 256, 30, dtype=np.uint8).tobytes()
        path.write_bytes(content)
        try:
            data = open_dataset(path)
            rows = data.to_dask() if reader == "dask" else data
            for _ in rows.blocks():
                pass
        except ValueError as error:
            faults += 1
            if "has the value" not in str(error):
                assert str(path) in str(error)
    assert faults > 3


# ------------------------------------------------------------------------------ blocks elsewhere


@pytest.mark.parametrize(
    ("block", "sentence"),
    [
        (np.zeros((75, 1)), r"has the shape \(75, 1\), but \(75, 2\) was declared"),
        (np.zeros((75, 3)), r"has the shape \(75, 3\), but \(75, 2\) was declared"),
        (np.zeros((70, 2)), r"has the shape \(70, 2\), but \(75, 2\) was declared"),
        (np.zeros(75), r"has the shape \(75,\), but \(75, 2\) was declared"),
        (np.full((75, 2), "x"), "rows 75 to 150 of the Dask array must hold numbers, got <U1"),
        (np.full((75, 2), None), "rows 75 to 150 of the Dask array must hold numbers, got object"),
        (np.full((75, 2), np.nan), "Row 75 has the value nan in column 0: remove or fill"),
    ],
)
@pytest.mark.parametrize("method", ["fit", "scaled fit", "tune", "predict"])
def test_blocks_of_dask_that_are_not_as_declared(block, sentence, method):
    da = pytest.importorskip("dask.array")
    from dask.delayed import delayed

    parts = [da.from_delayed(delayed(one), (75, 2), float) for one in (X[:75], block)]
    rows = da.concatenate(parts)
    model = KernelSpectralClustering(2, bandwidth=2.0, random_state=0)
    call = {
        "fit": model.fit,
        "scaled fit": model.set_params(scale=method == "scaled fit").fit,
        "tune": lambda rows: tune(rows, [2, 3], random_state=0, progress=False),
        "predict": lambda rows: model.fit(X).predict(rows).compute(),
    }[method]
    with pytest.raises(ValueError, match=sentence) as error:
        call(rows)
    assert one_sentence(error)


@pytest.mark.parametrize(
    ("block", "sentence"),
    [
        (np.full((9, 2), "x"), "Blocks must hold numbers, got <U1"),
        (np.full((9, 2), 1j), "Blocks must hold numbers, got complex128"),
        (np.full((9, 2), None), "Blocks must hold numbers, got object"),
        (np.zeros((9, 3)), r"A block has the shape \(9, 3\) where 2 columns are expected"),
        (np.full((9, 2), np.inf), "Row 150 has the value inf in column 0"),
    ],
)
def test_blocks_of_a_stream(block, sentence):
    for blocks in ([X, block], lambda: iter([X, block])):
        with pytest.raises(ValueError, match=sentence) as error:
            KernelSpectralClustering(2, bandwidth=2.0).fit(open_dataset(blocks))
        assert one_sentence(error)
