"""KernelSpectralClustering: a scikit-learn estimator, for any storage of the same data."""

import json
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import _get_feature_names

from sparseksc import KernelSpectralClustering, open_dataset
from sparseksc.core.encoding import ENCODINGS
from sparseksc.core.pivoting import RULES
from sparseksc.datasets import make_gaussians
from sparseksc.report import write_report

GOLDEN = Path(__file__).parent / "golden" / "gaussians.json"


class InnerProduct:
    """A kernel function whose name is the same in every process that runs some of the tests."""

    def __call__(self, X, Y):
        return X @ Y.T + 1.0

    def __repr__(self):
        return "InnerProduct()"


def expected_failures(estimator):
    """Checks whose data some kernels are not defined on, and which we are no case of."""
    if estimator.__sklearn_tags__().input_tags.sparse:
        reason = "the check takes what has predict_proba for a classifier of two or four classes"
        return dict.fromkeys(
            ("check_estimator_sparse_array", "check_estimator_sparse_matrix"), reason
        )
    if callable(estimator.kernel):
        return {"check_dtype_object": "a function may compare any objects, dicts among them"}
    if estimator.kernel == "precomputed":
        return {
            "check_clustering": "the check passes points where a kernel matrix is needed",
            "check_positive_only_tag_during_fit": "a kernel matrix minus its mean is none",
        }
    if estimator.kernel == "chi2":
        return {
            "check_clustering": "the check passes negative features in spite of the tag",
        }
    return {}


# The data of most checks has no clusters, which a search rightly doubts.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sparseksc.DoubtWarning")
@parametrize_with_checks([KernelSpectralClustering()], expected_failed_checks=expected_failures)
def test_scikit_learn_checks_of_the_defaults(estimator, check):
    check(estimator)


# Centred data and a linear kernel give half of the points a negative degree.
@pytest.mark.filterwarnings("ignore::sparseksc.BandwidthWarning")
@parametrize_with_checks(
    [
        KernelSpectralClustering(3, bandwidth=1.0),
        KernelSpectralClustering(2, bandwidth=10.0, scale=True),
        KernelSpectralClustering(3, bandwidth=5.0, icd_bandwidth=3.0, encoding="direction"),
        KernelSpectralClustering(2, bandwidth=2.0, kernel="chi2"),
        KernelSpectralClustering(2, kernel="linear"),
        KernelSpectralClustering(2, kernel="precomputed"),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [
        KernelSpectralClustering(1, bandwidth=1.0),
        KernelSpectralClustering(2, bandwidth=10.0, pivoting="block", encoding="sign"),
        KernelSpectralClustering(3, bandwidth=2.0, kernel="laplacian", criterion="blf"),
        KernelSpectralClustering(2, bandwidth=2.0, kernel="polynomial", pivoting="random"),
        KernelSpectralClustering(2, kernel="landmarks"),
        KernelSpectralClustering(2, kernel="cosine"),
        KernelSpectralClustering(2, kernel=InnerProduct(), pivoting="renyi"),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks_of_more_settings(estimator, check):
    check(estimator)


def fitted_bits(ksc):
    arrays = ksc.labels_, ksc.coef_, ksc.bias_, ksc.eigenvalues_, ksc.prototypes_
    return [np.ascontiguousarray(array).tobytes() for array in arrays]


@pytest.fixture(scope="module")
def points():
    """5,000 points, enough for several chunks and a selection sample."""
    return make_gaussians(5000, n_clusters=4, n_features=3, overlap=0.3, random_state=0)


def estimator(**changes):
    return KernelSpectralClustering(4, bandwidth=8.0, random_state=0, n_jobs=1).set_params(
        **changes
    )


# What a user gets


def test_labels_scores_and_memberships_have_the_promised_shapes(points):
    X, y = points
    ksc = estimator(max_rank=50).fit(X)
    assert adjusted_rand_score(y, ksc.labels_) > 0.99
    assert ksc.n_clusters_ == 4
    assert ksc.bandwidth_ == 8.0
    assert ksc.reduced_set_.shape == (50, 3)
    np.testing.assert_array_equal(ksc.reduced_set_, X[ksc.reduced_set_indices_])
    assert ksc.coef_.shape == (50, 3)
    assert ksc.bias_.shape == ksc.eigenvalues_.shape == (3,)
    assert ksc.prototypes_.shape == (4, 3)
    assert 0.0 < ksc.residual_ < 1.0
    assert ksc.transform(X[:7]).shape == (7, 3)
    assert ksc.membership(X[:7]).shape == (7, 4)
    np.testing.assert_array_equal(ksc.predict_proba(X), ksc.membership(X))
    assert ksc.outliers(X[:7]).shape == (7,)
    np.testing.assert_allclose(ksc.membership(X).sum(axis=1), 1.0, rtol=1e-14)
    sizes = np.bincount(ksc.labels_)
    assert (np.diff(sizes) <= 0).all()


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_predicting_the_training_data_gives_its_labels(points, encoding):
    X = points[0]
    ksc = estimator(encoding=encoding).fit(X)
    np.testing.assert_array_equal(ksc.predict(X), ksc.labels_)
    np.testing.assert_array_equal(estimator(encoding=encoding).fit_predict(X), ksc.labels_)
    np.testing.assert_array_equal(np.argmax(ksc.membership(X), axis=1), ksc.labels_)


@pytest.mark.parametrize("criterion", ["ams", "blf", "bas"])
@pytest.mark.parametrize("n_clusters", [2, 4])
def test_the_score_prefers_a_good_bandwidth(points, criterion, n_clusters):
    if criterion == "bas" and n_clusters == 2:
        pytest.skip("BAS needs three clusters")
    X = points[0]
    scores = [
        estimator(n_clusters=n_clusters, bandwidth=bandwidth, criterion=criterion).fit(X).score(X)
        for bandwidth in (8.0, 5000.0)
    ]
    assert scores[1] < scores[0] <= 1.0


def test_one_cluster_holds_everything(points):
    ksc = estimator(n_clusters=1).fit(points[0])
    assert not ksc.labels_.any()
    assert ksc.transform(points[0][:3]).shape == (3, 0)
    assert ksc.score(points[0]) == 0.0


def test_two_bandwidths_separate_selection_from_scores(points):
    X, y = points
    ksc = estimator(icd_bandwidth=12.0, max_rank=60).fit(X)
    assert adjusted_rand_score(y, ksc.labels_) > 0.99
    other = estimator(bandwidth=12.0, max_rank=60).fit(X)
    np.testing.assert_array_equal(ksc.reduced_set_indices_, other.reduced_set_indices_)
    np.testing.assert_allclose(ksc.eigenvalues_, other.eigenvalues_, rtol=1e-12)
    assert ksc.bandwidth_ == 8.0


# The same data, stored in other ways


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "chi2", "cosine", "linear", "polynomial"])
@pytest.mark.parametrize("pivoting", RULES)
def test_the_number_of_threads_does_not_change_a_bit(points, kernel, pivoting):
    X = points[0] - points[0].min(axis=0)
    K = 4 if kernel not in ("cosine", "linear") else 2
    fits = [
        estimator(n_clusters=K, kernel=kernel, pivoting=pivoting, max_rank=40, n_jobs=n_jobs).fit(X)
        for n_jobs in (1, 2, 4)
    ]
    assert fitted_bits(fits[0]) == fitted_bits(fits[1]) == fitted_bits(fits[2])
    transformed = [ksc.transform(X).tobytes() for ksc in fits]
    assert transformed[0] == transformed[1] == transformed[2]


@pytest.mark.parametrize(
    "kernel",
    [
        "rbf",
        "laplacian",
        "chi2",
        "linear",
        "polynomial",
        "cosine",
    ],
)
def test_the_storage_of_an_array_does_not_change_a_bit(points, kernel, tmp_path):
    X = points[0] - points[0].min(axis=0)
    K = 4 if kernel not in ("cosine", "linear") else 2
    np.save(tmp_path / "X.npy", X)
    read_only = X.copy()
    read_only.flags.writeable = False
    wide = np.zeros((len(X), 6))
    wide[:, ::2] = X
    stored = {
        "Fortran order": np.asfortranarray(X),
        "read-only": read_only,
        "memory map": np.load(tmp_path / "X.npy", mmap_mode="r"),
        "strided": wide[:, ::2],
        "big endian": X.astype(">f8"),
        "list": X.tolist(),
    }
    expected = estimator(n_clusters=K, kernel=kernel, max_rank=40).fit(X)
    for name, data in stored.items():
        ksc = estimator(n_clusters=K, kernel=kernel, max_rank=40).fit(data)
        assert fitted_bits(ksc) == fitted_bits(expected), name
        assert ksc.transform(data).tobytes() == expected.transform(X).tobytes(), name


def test_the_training_data_is_left_alone(points):
    X = points[0].copy()
    estimator().fit(X).transform(X)
    np.testing.assert_array_equal(X, points[0])


def test_float32_is_kept_and_gives_the_same_clusters(points):
    X = points[0].astype(np.float32)
    ksc = estimator().fit(X)
    assert ksc.reduced_set_.dtype == np.float32
    assert ksc.transform(X).dtype == np.float32
    assert ksc.coef_.dtype == np.float64
    same = np.mean(ksc.labels_ == estimator().fit(points[0]).labels_)
    assert same > 0.999


@pytest.mark.parametrize("container", [sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_array])
@pytest.mark.parametrize("kernel", ["rbf", "cosine", "linear", "polynomial"])
def test_sparse_rows_give_the_clusters_of_dense_rows(points, kernel, container):
    X = np.round(points[0][:800])
    K = 4 if kernel in ("rbf", "polynomial") else 2
    ksc = estimator(n_clusters=K, kernel=kernel, bandwidth=16.0, tol=0.01, max_rank=40)
    dense, sparse = clone(ksc).fit(X), clone(ksc).fit(container(X))
    np.testing.assert_allclose(sparse.eigenvalues_, dense.eigenvalues_, atol=1e-6)
    np.testing.assert_array_equal(sparse.labels_, dense.labels_)
    np.testing.assert_array_equal(sparse.predict(container(X)), dense.predict(X))


def test_sparse_rows_work_with_two_bandwidths_and_weights(points):
    X = np.round(points[0][:800])
    weights = np.linspace(0.5, 2.0, 800)
    ksc = estimator(icd_bandwidth=20.0, bandwidth=16.0, max_rank=40)
    dense = clone(ksc).fit(X, sample_weight=weights)
    sparse = clone(ksc).fit(sp.csr_array(X), sample_weight=weights)
    np.testing.assert_array_equal(sparse.labels_, dense.labels_)


#: scikit-learn before 1.9 asks frames for a protocol that polars 2 no longer has.
NAMES_OF_POLARS = pytest.mark.skipif(
    _get_feature_names(pl.DataFrame({"height": [1.0]})) is None,
    reason="this scikit-learn does not see the names of this polars",
)


@pytest.mark.parametrize("frame", [pd.DataFrame, pytest.param(pl.DataFrame, marks=NAMES_OF_POLARS)])
def test_data_frames_give_the_clusters_of_their_values(points, frame):
    X = points[0]
    data = frame(dict(zip(("height", "width", "depth"), X.T, strict=True)))
    ksc = estimator().fit(data)
    assert fitted_bits(ksc) == fitted_bits(estimator().fit(X))
    assert list(ksc.feature_names_in_) == ["height", "width", "depth"]
    np.testing.assert_array_equal(ksc.predict(data), ksc.labels_)


def test_a_precomputed_kernel_gives_the_clusters_of_its_points(points):
    X = points[0][:600]
    omega = rbf_kernel(X, gamma=1 / 8.0)
    given = estimator(kernel="precomputed", max_rank=60).fit(omega)
    ksc = estimator(max_rank=60).fit(X)
    np.testing.assert_array_equal(given.labels_, ksc.labels_)
    np.testing.assert_array_equal(given.reduced_set_, ksc.reduced_set_indices_)
    new = points[0][600:900]
    rows = rbf_kernel(new, X, gamma=1 / 8.0)
    np.testing.assert_array_equal(given.predict(rows), ksc.predict(new))


def test_a_function_gives_the_clusters_of_the_kernel_it_computes(points):
    X = points[0][:600]
    ksc = estimator(kernel=rbf_kernel, kernel_params={"gamma": 1 / 8.0}, max_rank=60).fit(X)
    np.testing.assert_array_equal(ksc.labels_, estimator(max_rank=60).fit(X).labels_)
    assert ksc.bandwidth_ is None


@pytest.mark.parametrize("pivoting", RULES)
def test_permuted_rows_have_permuted_labels(blobs, pivoting):
    X, _ = blobs
    order = np.random.default_rng(1).permutation(len(X))
    settings = {"n_clusters": 3, "bandwidth": 2.0, "pivoting": pivoting}
    labels = estimator(**settings).fit(X).labels_
    np.testing.assert_array_equal(estimator(**settings).fit(X[order]).labels_, labels[order])


@given(exponent=st.integers(-40, 40), kernel=st.sampled_from(["rbf", "laplacian", "polynomial"]))
@settings(max_examples=25, deadline=None)
def test_another_unit_of_length_with_the_bandwidth_changes_no_bit(exponent, kernel):
    X = make_gaussians(200, n_clusters=3, random_state=5)[0]
    unit = 2.0**exponent
    power = 1 if kernel == "laplacian" else 2
    ksc = KernelSpectralClustering(3, kernel=kernel, bandwidth=4.0, max_rank=40).fit(X)
    scaled = clone(ksc).set_params(bandwidth=4.0 * unit**power).fit(unit * X)
    assert fitted_bits(scaled) == fitted_bits(ksc)


@given(unit=st.floats(1e-6, 1e6))
@settings(max_examples=25, deadline=None)
def test_any_unit_of_length_gives_the_same_labels(unit):
    X = make_gaussians(200, n_clusters=3, random_state=5)[0]
    ksc = KernelSpectralClustering(3, bandwidth=4.0, max_rank=40).fit(X)
    scaled = clone(ksc).set_params(bandwidth=4.0 * unit**2).fit(unit * X)
    np.testing.assert_array_equal(scaled.labels_, ksc.labels_)


# In the company of scikit-learn


def test_pickles_and_clones(points):
    X = points[0]
    ksc = estimator().fit(X)
    copy = pickle.loads(pickle.dumps(ksc))
    assert fitted_bits(copy) == fitted_bits(ksc)
    assert copy.transform(X).tobytes() == ksc.transform(X).tobytes()
    assert not hasattr(clone(ksc), "labels_")
    assert clone(ksc).get_params() == ksc.get_params()


def test_pipelines_and_grid_searches(points):
    X, y = points
    pipe = make_pipeline(StandardScaler(), KernelSpectralClustering(4, bandwidth=0.1))
    assert adjusted_rand_score(y, pipe.fit_predict(X)) > 0.99
    assert pipe.transform(X[:5]).shape == (5, 3)
    grid = {"kernelspectralclustering__bandwidth": [0.1, 100.0]}
    search = GridSearchCV(pipe, grid, cv=2).fit(X[:1000])
    assert search.best_params_ == {"kernelspectralclustering__bandwidth": 0.1}


@pytest.mark.parametrize(("library", "frame"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_scores_come_as_a_frame_with_names_when_asked_for(points, library, frame):
    ksc = estimator().fit(points[0]).set_output(transform=library)
    scores = ksc.transform(points[0][:5])
    assert isinstance(scores, frame)
    assert list(scores.columns) == [f"kernelspectralclustering{k}" for k in range(3)]
    assert list(ksc.get_feature_names_out()) == list(scores.columns)


@pytest.mark.parametrize(
    "method", ["predict", "transform", "membership", "predict_proba", "outliers", "score"]
)
def test_new_points_are_checked_too(points, method):
    ksc = estimator()
    with pytest.raises(NotFittedError, match="not fitted yet"):
        getattr(ksc, method)(points[0])
    ksc.fit(points[0])
    with pytest.raises(ValueError, match=r"X has 2 features, but .* expecting 3"):
        getattr(ksc, method)(points[0][:, :2])
    with pytest.raises(ValueError, match="contains NaN"):
        getattr(ksc, method)(np.full((2, 3), np.nan))
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        getattr(ksc, method)(np.empty((0, 3)))


def test_new_points_of_a_chi2_kernel_must_not_be_negative(points):
    X = points[0] - points[0].min(axis=0)
    ksc = estimator(kernel="chi2").fit(X)
    with pytest.raises(ValueError, match=r"Negative values in data .* the least is -1"):
        ksc.predict(-np.ones((2, 3)))


def test_seeds_of_every_kind_are_taken(points):
    for seed in (0, np.int64(3), 2**40, None, np.random.RandomState(0), np.random.default_rng(0)):
        assert estimator(random_state=seed, max_rank=30).fit(points[0]).n_clusters_ == 4
    twice = [estimator(random_state=7, max_rank=30).fit(points[0]) for _ in range(2)]
    assert fitted_bits(twice[0]) == fitted_bits(twice[1])


def test_fitting_again_forgets_the_first_fit(points):
    ksc = estimator().fit(points[0])
    ksc.set_params(n_clusters=2).fit(points[0][:500, :2])
    assert ksc.n_features_in_ == 2
    assert ksc.labels_.shape == (500,)
    assert ksc.coef_.shape[1] == 1


# Golden results


def golden_fit(encoding):
    X, _ = make_gaussians(400, n_clusters=4, n_features=3, overlap=0.35, random_state=11)
    X = np.round(X, 6)  # so that the data does not depend on the last digits of a generator
    return KernelSpectralClustering(4, bandwidth=6.0, max_rank=12, encoding=encoding).fit(X)


@pytest.mark.parametrize("encoding", json.loads(GOLDEN.read_text())["labels"])
def test_results_are_those_of_the_last_release(encoding):
    ksc, golden = golden_fit(encoding), json.loads(GOLDEN.read_text())
    close = {"rtol": 0.0, "atol": 1e-9}
    np.testing.assert_array_equal(ksc.reduced_set_indices_, golden["reduced_set_indices"])
    np.testing.assert_allclose(ksc.eigenvalues_, golden["eigenvalues"], **close)
    np.testing.assert_allclose(ksc.coef_, golden["coef"], **close)
    np.testing.assert_allclose(ksc.bias_, golden["bias"], **close)
    assert "".join(map(str, ksc.labels_)) == golden["labels"][encoding]


@pytest.mark.parametrize("kernel", ["rbf", "cosine", "linear", "polynomial"])
def test_a_model_of_dense_rows_labels_sparse_ones_and_the_other_way_round(kernel):
    X, _ = make_blobs(200, centers=3, n_features=4, random_state=0)
    X[X < 0] = 0.0
    for fitted, other in ((X, sp.csr_array(X)), (sp.csr_array(X), X)):
        ksc = KernelSpectralClustering(
            2, kernel=kernel, bandwidth=5.0 if kernel == "rbf" else "auto", random_state=0
        ).fit(fitted)
        np.testing.assert_allclose(ksc.transform(other), ksc.transform(fitted), atol=1e-9)


# Labels that go to a file


OPENED = {
    "source": open_dataset,
    "memmap": lambda path: np.load(path, mmap_mode="r"),
    "view": lambda path: np.asarray(np.load(path, mmap_mode="r")),
    "blocks": lambda path: open_dataset([np.load(path, mmap_mode="r")]),
}


@pytest.mark.parametrize("opened", OPENED)
def test_data_is_not_written_over(opened, tmp_path):
    path = tmp_path / "points.npy"
    np.save(path, np.random.default_rng(0).normal(size=(50, 2)))
    before = path.read_bytes()
    data = OPENED[opened](path)
    model = KernelSpectralClustering(2, bandwidth=1.0, scale=True, random_state=0).fit(data)
    (tmp_path / "link.npy").symlink_to(path)
    for name in (path, tmp_path / "link.npy"):
        with pytest.raises(ValueError, match="is one of the files that are read"):
            model.predict(data, out=name)
        with pytest.raises(ValueError, match="is one of the files that are read"):
            write_report(model, data, name)
    assert path.read_bytes() == before
    model.predict(data, out=tmp_path / "labels.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "labels.npy"), model.predict(data))


def test_columns_may_have_any_name(tmp_path):
    pd = pytest.importorskip("pandas")
    X = np.random.default_rng(0).normal(size=(50, 2))
    frame = pd.DataFrame(X, columns=["paths", "filename"])
    model = KernelSpectralClustering(2, bandwidth=1.0, random_state=0).fit(frame)
    model.predict(frame, out=tmp_path / "labels.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "labels.npy"), model.labels_)


def test_memberships_beside_labels_need_a_file():
    X = np.random.default_rng(0).normal(size=(50, 2))
    model = KernelSpectralClustering(2, bandwidth=1.0, random_state=0).fit(X)
    with pytest.raises(ValueError, match=r"give out, or call membership"):
        model.predict(X, with_membership=True)
