"""Statistics in one pass: the same however the rows arrive."""

from itertools import pairwise

import numpy as np
import pytest

from sparseksc.preprocessing import statistics
from sparseksc.preprocessing.statistics import TableStatistics, gather

pa = pytest.importorskip("pyarrow", reason="tables need pyarrow")

KINDS = {"x": "number", "row": "number", "c": "category"}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    x = np.where(rng.random(50_000) < 0.1, np.nan, rng.exponential(size=50_000))
    levels = rng.choice(["a", "b", "c"], 50_000, p=[0.7, 0.2, 0.1])
    return pa.table({"x": x, "row": np.arange(5, 50_005), "c": levels})


def test_moments_counts_and_medians_are_those_of_all_rows(table):
    found = gather(table.to_batches(max_chunksize=7_000), KINDS)
    x = table["x"].to_numpy()
    np.testing.assert_allclose(
        found.spread("x"), [np.nanmean(x), np.nanstd(x), np.nanmin(x), np.nanmax(x)], rtol=1e-12
    )
    assert found.missing("x") == np.isnan(x).sum()
    assert found.levels["c"].counts["b"] == (table["c"].to_numpy() == "b").sum()
    assert found.counts_rows("row")
    assert not found.counts_rows("x")
    assert np.nanmedian(found.sampled("x")) == pytest.approx(np.nanmedian(x), rel=0.05)


def test_merged_parts_have_the_sample_of_the_whole(table):
    whole = gather(table.to_batches(), KINDS)
    cuts = [0, 10_000, 10_000, 33_333, 50_000]
    parts = [
        gather(table.slice(start, stop - start).to_batches(), KINDS, start)
        for start, stop in pairwise(cuts)
    ]
    merged = TableStatistics(KINDS)
    for part in parts:
        merged = merged.merge(part)
    np.testing.assert_array_equal(merged.sampled("x"), whole.sampled("x"))
    np.testing.assert_allclose(merged.spread("x"), whole.spread("x"), rtol=1e-12)
    assert merged.levels["c"].counts == whole.levels["c"].counts
    assert merged.counts_rows("row")
    assert merged.n_rows == 50_000
    swapped = parts[2].merge(parts[0])
    assert not swapped.counts_rows("row")


def test_texts_without_end_are_not_kept(monkeypatch):
    monkeypatch.setattr(statistics, "MOST_LEVELS", 100)
    names = pa.table({"c": [f"name {number}" for number in range(1000)]})
    found = gather(names.to_batches(max_chunksize=60), {"c": "category"})
    assert found.levels["c"].too_many
    assert len(found.levels["c"].counts) < 200


def test_infinity_has_a_place():
    batches = pa.table({"x": [1.0, 2.0, np.inf]}).to_batches(max_chunksize=2)
    with pytest.raises(ValueError, match="Row 3 has the value inf in column 'x'"):
        gather(batches, {"x": "number"})
