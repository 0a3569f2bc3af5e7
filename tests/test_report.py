"""Reports: what is computed, what is said, and that nothing breaks the page."""

import re
import sys
from copy import copy
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs, make_circles
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel

from sparseksc import KernelSpectralClustering, load, open_dataset
from sparseksc.report import write_report
from sparseksc.report.facts import gather
from sparseksc.report.numbers import decimals, number
from sparseksc.report.palette import CLUSTERS_DARK, CLUSTERS_LIGHT, DARK, LIGHT
from sparseksc.report.profile import LARGEST_EFFECT
from sparseksc.report.provenance import code_to_repeat

for needed in ("bokeh", "jinja2", "matplotlib"):
    pytest.importorskip(needed)

LIMIT = 3_000_000


@pytest.fixture(scope="module")
def data():
    """Three clusters of 150, 100 and 50 rows, apart in the first two of four features."""
    X, _ = make_blobs([150, 100, 50], centers=[[0, 0], [8, 0], [0, 8]], random_state=0)
    noise = np.random.default_rng(0).normal(size=(300, 2))
    return np.hstack([X, noise, np.full((300, 1), 7.0)])


@pytest.fixture(scope="module")
def model(data):
    return KernelSpectralClustering(random_state=0).fit(data)


@pytest.fixture(scope="module")
def plain(data):
    return KernelSpectralClustering(3, bandwidth=8.0, random_state=0).fit(data)


@pytest.fixture
def write(tmp_path):
    """A function that writes a report and returns the page."""

    def page_of(estimator, X, **options):
        path = tmp_path / "report.html"
        write_report(estimator, X, path, **options)
        text = path.read_text(encoding="utf-8")
        assert len(text.encode()) < LIMIT
        return text

    return page_of


class Outline(HTMLParser):
    """Tags, and the text outside of scripts and styles."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.text, self._inside = [], [], None
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self._inside = tag

    def handle_endtag(self, tag):
        if tag == self._inside:
            self._inside = None

    def handle_data(self, text):
        if self._inside is None:
            self.text.append(text)

    def named(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]


def shown(page):
    """What a reader sees, as one line."""
    return " ".join(" ".join(Outline(page).text).split())


# ------------------------------------------------------------------------------ what is computed


def test_sizes_and_moments_are_those_of_all_rows(plain, data):
    survey = gather(plain, data, None).survey
    for cluster in range(3):
        mine = data[plain.labels_ == cluster]
        assert survey.sizes[cluster] == len(mine)
        np.testing.assert_allclose(survey.means[cluster], mine.mean(axis=0), rtol=1e-12)
        np.testing.assert_allclose(survey.deviations[cluster], mine.std(axis=0), atol=1e-12)
    strengths = plain.membership(data).max(axis=1)
    assert survey.mean_strength == pytest.approx(strengths.mean())
    assert survey.strengths.sum() == 300
    assert survey.strengths[:, :10].sum() == (strengths < 0.5).sum()


@pytest.mark.parametrize("offset, unit", [(1e8, 1.0), (0.0, 1e120), (0.0, 1e-120)])
def test_moments_survive_offsets_and_units(data, offset, unit):
    X = data[:, :2] * unit + offset
    model = KernelSpectralClustering(3, bandwidth=8.0 * unit**2, random_state=0).fit(X)
    facts = gather(model, X, None)
    centred = (X - offset) / unit
    for cluster in range(3):
        mine = centred[model.labels_ == cluster]
        np.testing.assert_allclose(
            facts.survey.deviations[cluster] / unit, mine.std(axis=0), rtol=1e-5
        )
    assert np.isfinite(facts.profile.effects).all()
    assert np.isfinite([facts.points.data.x, facts.points.data.y]).all()


def test_blocks_and_kinds_of_data_do_not_matter(plain, data, tmp_path):
    np.save(tmp_path / "rows.npy", data)
    whole = gather(plain, data, None)
    kinds = [
        open_dataset(tmp_path / "rows.npy", block_rows=7),
        np.asfortranarray(data),
        data.tolist(),
    ]
    for X in kinds:
        facts = gather(plain, X, None)
        np.testing.assert_array_equal(facts.survey.sizes, whole.survey.sizes)
        np.testing.assert_allclose(facts.survey.means, whole.survey.means, rtol=1e-9)
        np.testing.assert_allclose(facts.profile.medians, whole.profile.medians)
        np.testing.assert_array_equal(facts.survey.between.rows, whole.survey.between.rows)
        assert facts.answer == whole.answer


def test_effects_are_standardised_differences_with_the_rest(plain, data):
    facts = gather(plain, data, None)
    labels = plain.labels_
    for place, feature in enumerate(facts.profile.features[:4]):
        for cluster in range(3):
            mine, rest = data[labels == cluster, feature], data[labels != cluster, feature]
            pooled = (len(mine) * mine.var() + len(rest) * rest.var()) / len(data)
            expected = (mine.mean() - rest.mean()) / np.sqrt(pooled)
            assert facts.profile.effects[cluster, place] == pytest.approx(expected)


def test_the_telling_features_come_first(plain, data):
    profile = gather(plain, data, None).profile
    assert set(profile.features[:2]) == {0, 1}
    assert (profile.explained[:2] > 0.8).all()
    assert (profile.explained[2:] < 0.05).all()
    assert profile.features[-1] == 4  # the constant one
    assert profile.explained[-1] == 0.0
    assert (profile.effects[:, -1] == 0.0).all()


def test_features_that_do_not_overlap_have_the_largest_effect():
    X = np.repeat([[0.0, 1.0], [5.0, 1.0]], 20, axis=0)
    model = KernelSpectralClustering(2, bandwidth=1.0, random_state=0).fit(X)
    profile = gather(model, X, None).profile
    assert sorted(profile.effects[:, 0]) == [-LARGEST_EFFECT, LARGEST_EFFECT]


def test_the_rows_between_clusters_are_the_nearest_to_a_tie(plain, data):
    between = gather(plain, data, None).survey.between
    ordered = np.sort(plain.membership(data), axis=1)
    tie = ordered[:, -2] / ordered[:, -1]
    np.testing.assert_array_equal(between.rows, np.argsort(-tie, kind="stable")[:12])
    np.testing.assert_array_equal(between.labels, plain.labels_[between.rows])
    np.testing.assert_allclose(between.X, data[between.rows])


def test_large_data_is_sampled_and_says_so(tmp_path):
    X, _ = make_blobs(30_000, centers=[[0, 0], [9, 9]], random_state=0)
    model = KernelSpectralClustering(2, bandwidth=8.0, random_state=0).fit(X[:2000])
    facts = gather(model, X, None)
    assert facts.survey.n_rows == 30_000
    np.testing.assert_array_equal(facts.survey.sizes, np.bincount(model.predict(X)))
    assert facts.sample_size == 20_000
    assert len(facts.points.rows) == 3000
    assert "uniform random sample of 20,000 rows (67 %)" in facts.sampling
    assert any("trained on 2,000 rows" in doubt for doubt in facts.doubts)


@pytest.mark.slow
def test_a_million_rows(tmp_path, write):
    X, _ = make_blobs(10**6, n_features=4, centers=3, random_state=0)
    np.save(tmp_path / "rows.npy", X)
    model = KernelSpectralClustering(3, bandwidth=8.0, max_rank=50, random_state=0).fit(X[:5000])
    text = shown(write(model, open_dataset(tmp_path / "rows.npy")))
    for cluster, size in enumerate(np.bincount(model.predict(X))):
        assert f"Cluster {cluster} {size:,} " in text
    assert "exact, from all 1,000,000 rows" in text


# ----------------------------------------------------------------------------------- what is said


def test_the_answer_is_a_sentence(plain, data):
    facts = gather(plain, data, None)
    assert facts.answer == "The 300 rows fall into 3 clusters of 150, 100 and 50 rows."
    assert "They differ most in feature 0 and feature 1." in facts.explanation


def test_shapes_have_no_telling_feature():
    X, _ = make_circles(400, factor=0.4, noise=0.03, random_state=0)
    model = KernelSpectralClustering(2, bandwidth=0.05, random_state=0).fit(X)
    facts = gather(model, X, None)
    assert "No single feature tells them apart" in facts.explanation


def test_the_page_tells_the_facts(model, data, write):
    page = write(model, data, title="Three groups")
    text = shown(page)
    for fact in (
        "Three groups",
        "The 300 rows fall into 3 clusters of 150, 100 and 50 rows.",
        "feature 0",
        "Why 3 clusters",
        " ".join(model.tuning_.summary().split()),
        "The eigenvalues as numbers",
        "random_state=0",
        "scikit-learn",
        "All numbers and pictures show all 300 rows.",
    ):
        assert fact in text, fact
    for cluster, size in enumerate((150, 100, 50)):
        assert re.search(rf"Cluster {cluster} {size} ", text)


def test_every_chart_has_words_and_every_table_a_caption(model, data, write):
    page = write(model, data)
    outline = Outline(page)
    ids = [attrs["id"] for _, attrs in outline.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    images = [attrs for attrs in outline.named("svg") if attrs.get("role") == "img"]
    assert len(images) == 5
    assert all(attrs["aria-labelledby"] in ids for attrs in images)
    assert len(outline.named("table")) == len(outline.named("caption"))
    assert all("scope" in attrs for attrs in outline.named("th"))
    labelled = [attrs["aria-labelledby"] for _, attrs in outline.tags if "aria-labelledby" in attrs]
    assert set(labelled) <= set(ids)
    targets = [a["href"][1:] for a in outline.named("a")]
    assert set(targets) <= set(ids)
    assert outline.named("html") == [{"lang": "en"}]
    assert len(outline.named("h1")) == len(outline.named("main")) == 1


def test_nothing_points_to_the_network(model, data, write):
    outline = Outline(write(model, data))
    addresses = [
        attrs[name]
        for _, attrs in outline.tags
        for name in ("href", "src", "xlink:href", "action", "srcset")
        if name in attrs
    ]
    assert all(address.startswith(("#", "data:")) for address in addresses)
    (policy,) = [a["content"] for a in outline.named("meta") if a.get("http-equiv")]
    assert policy.startswith("default-src 'none'")


def test_the_same_model_and_data_give_the_same_page(model, data, write):
    assert write(model, data) == write(model, data)


def test_the_command_replaces_the_code(plain, data, write):
    assert "KernelSpectralClustering(n_clusters=3" in shown(write(plain, data))
    text = shown(write(plain, data, command="ksc fit 'a & b.csv' -k 3"))
    assert "ksc fit 'a & b.csv' -k 3" in text
    assert "KernelSpectralClustering(" not in text


def test_the_code_repeats_the_result(data, tmp_path):
    pd.DataFrame(data[:, :2], columns=["a", "b"]).to_csv(tmp_path / "d.csv", index=False)
    X = open_dataset(tmp_path / "d.csv", columns=["b", "a"], block_rows=100)
    model = KernelSpectralClustering(3, bandwidth=np.array([8.0, 7.0]), random_state=1).fit(X)
    names = {}
    exec(code_to_repeat(gather(model, X, None).rows), names)
    np.testing.assert_array_equal(names["model"].coef_, model.coef_)


def test_without_a_search_the_page_says_so(plain, data, write):
    text = shown(write(plain, data))
    assert "The number of clusters was given, 3" in text
    assert "The best model for each number of clusters" not in text


def test_names_of_rows(plain, data, write):
    names = [f"sample {row}" for row in range(300)]
    weakest = gather(plain, data, None).survey.between.rows[0]
    assert f"sample {weakest} " in shown(write(plain, data, ids=names))
    assert "Rows are counted from 0" not in shown(write(plain, data, ids=names))
    assert f"sample {weakest} " in shown(write(plain, pd.DataFrame(data, index=names)))
    with pytest.raises(ValueError, match="ids has 299 names for 300 rows"):
        write(plain, data, ids=names[:-1])
    with pytest.raises(ValueError, match="ids has 299 names for 300 rows"):
        write(plain, open_dataset([data]), ids=names[:-1])


def test_data_frames_of_polars(data, write):
    frame = pl.from_numpy(data, schema=list("abcde"))
    model = KernelSpectralClustering(3, bandwidth=8.0, random_state=0).fit(frame)
    text = shown(write(model, frame))
    assert "a data frame (polars)" in text
    assert "They differ most in" in text and "Rows are counted from 0" in text


def test_models_from_a_file_and_standardised_features(data, tmp_path, write):
    X = data * [1.0, 100.0, 1.0, 1.0, 1.0]
    model = KernelSpectralClustering(scale=True, random_state=0).fit(X)
    model.save(tmp_path / "model.ksc")
    loaded = load(tmp_path / "model.ksc")
    assert not hasattr(loaded, "labels_")
    facts = gather(loaded, X, None)
    np.testing.assert_array_equal(facts.survey.sizes, np.bincount(model.labels_))
    np.testing.assert_allclose(
        facts.profile.overall_means, X.mean(axis=0)[facts.profile.features], atol=1e-12
    )
    assert facts.doubts == []
    text = shown(write(loaded, X))
    assert "Features standardised yes" in text
    assert "scale=True" in text
    assert text == shown(write(model, X))


def test_a_model_without_what_training_kept(plain, data, write):
    bare = copy(plain)
    for name in ("labels_", "residual_", "n_samples_seen_", "timings_", "n_outliers_"):
        del bare.__dict__[name]
    bare.n_clusters = "auto"
    assert "was not kept with this model" in shown(write(bare, data))


# -------------------------------------------------------------------------------------- warnings


def test_doubts_are_on_the_page(write):
    X = np.random.default_rng(0).normal(size=(500, 2))
    with pytest.warns(UserWarning):
        model = KernelSpectralClustering([2, 3, 4], random_state=0).fit(X)
    text = shown(write(model, X))
    assert "Before you rely on this" in text
    assert " ".join(model.tuning_.doubt.split()) in text


def test_empty_clusters_and_outliers_are_reported(plain, data, write):
    present = data[plain.labels_ != 2]
    assert "Cluster 2 has no rows in this data." in gather(plain, present, None).doubts
    text = shown(write(plain, present))
    assert "Cluster 2 0 0 % – No rows of this data." in text
    facts = gather(plain, np.vstack([data, np.full((5, 5), 1e3)]), None)
    assert facts.survey.n_outliers == 5
    assert any("(5, 1.6 %) are unlike everything" in doubt for doubt in facts.doubts)


def test_one_feature_that_drowns_the_others_is_reported(data, plain):
    X = data[:, :4] * [1.0, 1000.0, 1.0, 1.0]
    model = KernelSpectralClustering(3, bandwidth=8e6, random_state=0).fit(X)
    assert any("“feature 1” varies far more" in doubt for doubt in gather(model, X, None).doubts)
    assert not any("varies far more" in doubt for doubt in gather(plain, data, None).doubts)


# ------------------------------------------------------------------------------------ odd inputs


def test_names_cannot_break_out(write):
    X, _ = make_blobs(90, centers=[[0, 0], [9, 9]], random_state=0)
    names = [
        "</script><script>alert(1)</script>",
        "größe 日本 & --> ]]> $\\alpha$ #0072b2 {{ 7*7 }}",
    ]
    frame = pd.DataFrame(X, columns=names)
    model = KernelSpectralClustering(2, bandwidth=8.0, random_state=0).fit(frame)
    page = write(model, frame, title="<img src=x onerror=alert(1)>", ids=["</td><b>"] * 90)
    outline = Outline(page)
    assert len(outline.named("script")) == 3
    assert not outline.named("img") and not any("onerror" in attrs for _, attrs in outline.tags)
    for name in (*names, "<img src=x onerror=alert(1)>", "</td><b>"):
        assert name in shown(page)


def test_a_single_feature_and_a_single_cluster(write):
    X = np.concatenate([np.random.default_rng(0).normal(c, 0.1, 40) for c in (0, 5)])[:, None]
    model = KernelSpectralClustering(2, bandwidth=1.0, random_state=0).fit(X)
    assert "Each cluster has a lane of its own" in shown(write(model, X))
    single = KernelSpectralClustering(1, bandwidth=1.0, random_state=0).fit(X)
    text = shown(write(single, X))
    assert "The 80 rows form a single cluster." in text
    assert "How firmly" not in text


@pytest.mark.filterwarnings("ignore::sparseksc.DoubtWarning")
@pytest.mark.parametrize(("n_clusters", "spread"), [(1, 1.0), ("auto", 0.0)])
def test_a_search_without_models(n_clusters, spread, write):
    X = spread * np.random.default_rng(0).normal(size=(50, 2))
    model = KernelSpectralClustering(n_clusters, random_state=0).fit(X)
    assert model.tuning_.n_models == 0
    assert "None" not in model.tuning_.summary()
    assert "A single cluster, with no others to compare." in shown(write(model, X))


@pytest.mark.parametrize("X", [np.zeros((2, 3)), np.ones((9, 1)), np.eye(4)])
def test_hardly_any_data(X, write):
    model = KernelSpectralClustering(1, bandwidth=1.0, random_state=0).fit(X)
    assert "nan" not in shown(write(model, X)).lower().split()
    write(model, X[:1])


def test_forty_clusters_of_a_hundred_features(write):
    X, _ = make_blobs(2000, n_features=100, centers=40, random_state=0)
    model = KernelSpectralClustering(40, bandwidth=800.0, random_state=0).fit(X)
    page = write(model, X)
    assert "the 30 most telling of 100 features" in shown(page)
    assert len([a for a in Outline(page).named("input") if a.get("name") == "pick"]) == 41


def test_wide_sparse_rows(data, write):
    rng = np.random.default_rng(1)
    wide = sp.hstack([data[:, :2], sp.random_array((300, 5000), density=0.001, rng=rng)])
    X = sp.csr_matrix(wide)
    model = KernelSpectralClustering(3, bandwidth=8.0, random_state=0).fit(X)
    text = shown(write(model, X))
    assert "most telling of 5002 features" in text
    assert "a sparse matrix" in text


def test_a_kernel_matrix_has_no_features(data, write):
    X = rbf_kernel(data[:, :2], gamma=1 / 8)
    model = KernelSpectralClustering(3, kernel="precomputed", random_state=0).fit(X)
    text = shown(write(model, X))
    assert "3 clusters" in text
    assert "Profiles" not in text


def test_candidates_that_are_vectors(data, write):
    pairs = [np.array([8.0, 6.0]), np.array([6.0, 8.0])]
    model = KernelSpectralClustering([2, 3], bandwidth=pairs, random_state=0).fit(data[:, :2])
    assert "bandwidth, candidate" in shown(write(model, data[:, :2]))


def test_a_report_that_fails_leaves_what_was_there(plain, data, tmp_path):
    path = tmp_path / "report.html"
    path.write_text("before")
    with pytest.raises(ValueError, match="NaN"):
        write_report(plain, np.full((3, 5), np.nan), path)
    with pytest.raises(ValueError, match="4 features"):
        write_report(plain, data[:, :4], path)
    assert path.read_text() == "before"
    with pytest.raises(FileNotFoundError, match="no folder"):
        write_report(plain, data, tmp_path / "missing" / "report.html")
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.parametrize("package", ["matplotlib", "bokeh", "jinja2"])
def test_a_missing_package_is_named_before_any_work(package, plain, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=f"{package}: install it, .* extra 'report'"):
        write_report(plain, "no data at all", tmp_path / "report.html")
    assert not list(tmp_path.iterdir())


def test_unfitted_models_are_refused(data, tmp_path):
    with pytest.raises(NotFittedError):
        write_report(KernelSpectralClustering(), data, tmp_path / "report.html")


# ---------------------------------------------------------------------------------------- colours


def luminance(colour):
    parts = np.array([int(colour[place : place + 2], 16) for place in (1, 3, 5)]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme, clusters", [(LIGHT, CLUSTERS_LIGHT), (DARK, CLUSTERS_DARK)])
def test_contrasts_are_those_of_wcag_aa(theme, clusters):
    for ground in ("page", "panel", "note"):
        for text in ("ink", "quiet", "link"):
            assert contrast(theme[text], theme[ground]) >= 4.5, (text, ground)
    for colour in clusters:
        assert contrast(colour, theme["page"]) >= 3.0, colour


@pytest.mark.parametrize(
    "value, places, text",
    [(0.5, 2, "0.50"), (-0.0001, 2, "0.00"), (123456.7, 0, "123,457"), (1e20, 2, "1e20")],
)
def test_numbers_for_people(value, places, text):
    assert number(value, places) == text


def test_decimals_follow_the_spread():
    assert [decimals(spread) for spread in (0.0, 300.0, 1.5, 0.02, 1e-9)] == [None, 0, 2, 4, None]
