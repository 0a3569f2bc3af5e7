"""Background noise: what is found, and that it is the same everywhere."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score, f1_score

from benchmarks.labelled_sets import DATA, load
from sparseksc import KernelSpectralClustering, open_dataset
from sparseksc import load as load_model
from sparseksc.search.noise import Trial, choose_trial
from sparseksc.search.result import DoubtWarning


def background(X, y, n, seed=0):
    """Uniform noise, labelled -1, in the box of some points."""
    low, high = X.min(axis=0), X.max(axis=0)
    noise = np.random.default_rng(seed).uniform(low, high, size=(n, X.shape[1]))
    return np.vstack([X, noise]), np.append(y, np.full(n, -1))


@pytest.fixture(scope="module")
def three():
    centers = [[0.0, 0.0], [8.0, 0.0], [4.0, 7.0]]
    X, y = make_blobs(1800, centers=centers, cluster_std=0.7, random_state=0)
    return background(X, y, 200)


def fit(X, **parameters):
    return KernelSpectralClustering(random_state=0, **parameters).fit(X)


@pytest.mark.parametrize("kernel", ["auto", "rbf", "landmarks", "laplacian"])
@pytest.mark.parametrize("noise", [0.1, "auto"])
def test_the_clusters_are_found_and_the_noise_is_in_none(three, kernel, noise):
    X, y = three
    model = fit(X, n_clusters=3, kernel=kernel, noise=noise)
    inside = (y >= 0) & (model.labels_ >= 0)
    assert adjusted_rand_score(y[inside], model.labels_[inside]) > 0.99
    # Some of it lies inside the clusters.
    assert f1_score(y < 0, model.labels_ < 0) > (0.6 if noise == "auto" else 0.7)
    assert model.noise_share_ == pytest.approx((model.labels_ < 0).mean())
    assert model.cluster_sizes_.tolist() == np.bincount(model.labels_[model.labels_ >= 0]).tolist()
    assert np.array_equal(model.predict(X), model.labels_)


def test_noise_that_bridges_moons_is_found_with_them():
    X, y = background(*make_moons(2000, noise=0.05, random_state=1), 250)
    model = fit(X, noise="auto")
    assert model.n_clusters_ == 2
    inside = (y >= 0) & (model.labels_ >= 0)
    assert adjusted_rand_score(y[inside], model.labels_[inside]) > 0.98
    assert f1_score(y < 0, model.labels_ < 0) > 0.6


def test_without_noise_nobody_is_in_no_cluster():
    X, _ = make_blobs(900, n_features=6, centers=4, random_state=0)
    assert (fit(X, noise="auto").labels_ >= 0).all()
    assert fit(X).noise_share_ == 0.0


@pytest.mark.parametrize("shape", ["gaussian", "square"])
def test_one_cloud_has_no_noise(shape):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(2000, 2)) if shape == "gaussian" else rng.uniform(size=(2000, 2))
    with pytest.warns(DoubtWarning):
        model = fit(X, noise="auto")
    assert model.noise_share_ == 0.0


@pytest.mark.parametrize("noise", [0.1, "auto"])
def test_streams_dask_and_threads_give_the_same_labels(three, noise):
    X, _ = three
    expected = fit(X, n_clusters=3, kernel="landmarks", noise=noise, n_jobs=1).labels_
    stream = open_dataset([X[:700], X[700:]])
    for data in (stream, stream.to_dask()):
        model = fit(data, n_clusters=3, kernel="landmarks", noise=noise)
        assert np.array_equal(model.predict(X), expected)
        assert model.noise_share_ == pytest.approx((expected < 0).mean())
    parallel = fit(X, n_clusters=3, kernel="landmarks", noise=noise, n_jobs=2)
    assert np.array_equal(parallel.labels_, expected)


def test_a_run_with_a_checkpoint_is_the_same(three, tmp_path):
    X, _ = three
    for data in (X, open_dataset([X[:700], X[700:]])):
        plain = fit(data, n_clusters=3, bandwidth=1.0, noise=0.1)
        saved = KernelSpectralClustering(3, bandwidth=1.0, noise=0.1, random_state=0)
        saved.fit(data, checkpoint=tmp_path / "run")
        assert np.array_equal(saved.predict(X), plain.predict(X))
        assert np.array_equal(saved.coef_, plain.coef_)


@pytest.mark.parametrize("kernel", ["rbf", "landmarks"])
def test_files_and_onnx_graphs_carry_the_density(three, kernel, tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    X, _ = three
    model = fit(X, n_clusters=3, kernel=kernel, noise=0.1)
    new = np.random.default_rng(5).uniform(-3.0, 11.0, size=(500, 2))
    expected = model.predict(new)
    assert (expected == -1).any() and (expected >= 0).any()
    model.save(tmp_path / "model.ksc")
    loaded = load_model(tmp_path / "model.ksc")
    assert np.array_equal(loaded.predict(new), expected)
    assert loaded.noise_share_ == model.noise_share_
    model.to_onnx(tmp_path / "model.onnx")
    session = runtime.InferenceSession(tmp_path / "model.onnx")
    assert np.array_equal(session.run(["labels"], {"X": new})[0], expected)


def test_weights_of_noise_are_counted(three):
    X, _ = three
    weights = np.where(np.arange(len(X)) % 2, 1.0, 3.0)
    model = KernelSpectralClustering(3, bandwidth=1.0, noise=0.1, random_state=0)
    model.fit(X, sample_weight=weights)
    share = weights[model.labels_ < 0].sum() / weights.sum()
    assert share <= 0.1
    assert model.noise_share_ == pytest.approx(share)


@pytest.mark.parametrize("noise", [0.0, 1.0, -0.1, float("nan"), True, "some", "Auto"])
def test_what_is_no_share_is_refused(noise):
    with pytest.raises(ValueError, match="noise must be a share above 0 and below 1, 'auto'"):
        fit(np.eye(4), noise=noise)


def test_a_criterion_without_separations_finds_no_noise():
    with pytest.raises(ValueError, match="criterion='ams' has not"):
        fit(np.eye(9), criterion="ams", noise="auto")


def test_few_rows_are_searched_as_far_as_they_go():
    X = np.repeat(np.eye(4), [5, 5, 5, 1], axis=0)
    assert fit(X, n_clusters=4, noise="auto").noise_share_ == 0.0


def test_a_kernel_without_features_has_no_noise():
    for kernel in ("precomputed", lambda A, B: A @ B.T):
        with pytest.raises(ValueError, match="noise needs features"):
            fit(np.eye(4), n_clusters=2, kernel=kernel, noise=0.1)
    with pytest.raises(AttributeError):
        KernelSpectralClustering(2, noise=0.1).partial_fit(np.eye(4))


def test_a_report_leaves_noise_out_and_says_so(three, tmp_path):
    from sparseksc.report import write_report

    X, _ = three
    model = fit(X, n_clusters=3, bandwidth=1.0, noise=0.1)
    page = tmp_path / "report.html"
    write_report(model, X, page)
    noise = int((model.labels_ < 0).sum())
    assert f"{noise:,} more rows (10 %) are noise." in page.read_text(encoding="utf-8")
    with pytest.raises(ValueError, match="All rows are noise"):
        write_report(model, np.full((5, 2), 1e3), tmp_path / "none.html")
    assert not (tmp_path / "none.html").exists()


def test_figures_show_noise_in_grey(three):
    pytest.importorskip("matplotlib")
    from sparseksc.plotting import RegionsDisplay, ScoresDisplay
    from sparseksc.plotting.canvas import NOISE_COLOUR

    X, _ = three
    model = fit(X, n_clusters=3, bandwidth=1.0, noise=0.1)
    plane = RegionsDisplay.from_estimator(model, X, resolution=20)
    colours = plane.points_.get_facecolors()
    assert np.array_equal((colours == NOISE_COLOUR).all(axis=1), model.labels_ < 0)
    names = [
        text.get_text() for text in ScoresDisplay.from_estimator(model, X).ax_.get_legend().texts
    ]
    assert names == ["noise", "cluster 0", "cluster 1", "cluster 2"]


def test_the_example_of_the_page_runs():
    page = Path(__file__).resolve().parents[2] / "docs" / "noise.md"
    if not page.exists():
        pytest.skip(f"needs {page}")
    code = page.read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    names = {}
    exec(code, names)
    assert names["ksc"].n_clusters_ == 2
    assert names["ksc"].predict([[0.5, 5.0]]).tolist() == [-1]


@pytest.mark.parametrize(
    ("separations", "numbers", "expected"),
    [
        ([3.0, 3.5, 3.9], [2, 2, 2], 0),  # tails: never clearly better
        ([0.5, 1.2, 1.4], [2, 2, 2], 0),
        ([0.5, 1.6, 4.0], [2, 2, 2], 2),  # bridges that go with the last share
        ([0.5, 3.2, 4.0], [2, 2, 2], 1),
        ([-np.inf, 0.9, 0.9], [1, 2, 2], 0),  # no clear clusters, with or without some rows
        ([-np.inf, 1.1, 1.2], [1, 2, 2], 1),
        ([2.0, 4.0, 4.0], [2, 2, 3], 1),  # most find two clusters
        ([2.0, 4.0, 4.0], [2, 3, 3], 1),
        ([0.5, 4.0, 4.0], [2, 2, 3], 2),  # one each, as that with all rows is not clear
        ([0.5, 4.0, 4.0, 4.0], [8, 2, 2, 3], 1),
    ],
)
def test_as_few_rows_as_needed_are_left_out(separations, numbers, expected):
    qualities = [-np.inf if K == 1 else 1.0 + 0.1 * K for K in numbers]
    assert choose_trial(list(map(Trial, numbers, qualities, separations))) == expected


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("chameleon_t4_8k", 0.95),
        ("chameleon_t7_10k", 0.7),
    ],
)
def test_letters_and_waves_in_noise(name, least):
    folder = Path(DATA).parent / "battery-more"
    if not folder.exists():
        pytest.skip(f"needs {folder}")
    problem = next(one for one in load(folder) if one.name == name)
    y = problem.answers[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtWarning)
        labels = fit(problem.X, noise="auto").labels_
    assert adjusted_rand_score(y[y > 0], labels[y > 0]) >= least
    assert f1_score(y == 0, labels < 0) >= 0.75
