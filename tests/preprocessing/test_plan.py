"""What becomes of columns, and what they weigh."""

import numpy as np
import pandas as pd
import pytest

from sparseksc.preprocessing import TableEncoder

pytest.importorskip("pyarrow", reason="tables need pyarrow")


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def reasons(table, **parameters):
    encoder = TableEncoder(**parameters).fit(table)
    return {one.name: one.reason for one in encoder.columns_ if one.kind == "left out"}


def test_columns_that_cannot_help_are_left_out_and_named(rng):
    table = pd.DataFrame(
        {
            "x": rng.normal(size=500),
            "same": 3.0,
            "nothing": np.nan,
            "row": np.arange(1, 501),
            "name": [f"name {number}" for number in range(500)],
            "street": [f"street {number // 2}" for number in range(500)],
            "only": "yes",
            "list": [[1]] * 500,
        }
    )
    assert reasons(table) == {
        "same": "constant",
        "nothing": "empty",
        "row": "row numbers",
        "name": "all different",
        "street": "250 rare levels",
        "only": "constant",
        "list": "holds list<item: int64>",
    }
    with pytest.raises(ValueError, match="No column of the table can be used"):
        TableEncoder().fit(table[["same", "name"]])


def test_rare_levels_are_pooled(rng):
    common = rng.choice(["a", "b"], 1000).astype(object)
    common[:12] = [f"rare {number}" for number in range(12)]
    encoder = TableEncoder().fit(pd.DataFrame({"c": common}))
    assert set(encoder.get_feature_names_out()) == {"c_a", "c_b", "c_infrequent"}
    many = pd.DataFrame({"c": rng.choice([f"{number:02d}x" for number in range(30)], 3000)})
    assert len(TableEncoder(max_categories=10).fit(many).get_feature_names_out()) == 10


def test_a_few_texts_among_numbers_are_faults(rng):
    values = [str(number) for number in range(99)] + ["?"]
    with pytest.raises(ValueError, match="holds numbers, but for values such as '\\?'"):
        TableEncoder().fit(pd.DataFrame({"x": values}))
    assert TableEncoder(categorical=["x"], min_frequency=0.0).fit(
        pd.DataFrame({"x": [*values, *values]})
    )
    engines = pd.DataFrame({"x": [str(4 + number % 3) for number in range(99)] + ["rotary"] * 2})
    assert len(TableEncoder().fit(engines).get_feature_names_out()) == 4


def test_a_mismatch_weighs_half_of_a_squared_median_difference(rng):
    table = pd.DataFrame(
        {
            "x": rng.normal(size=20_000),
            "c": rng.choice(["a", "b", "c"], 20_000),
            "f": [True, False] * 10_000,
        }
    )
    encoder = TableEncoder().fit(table)
    rows = pd.DataFrame({"x": [0.0, 0.0, 0.0], "c": ["a", "b", "a"], "f": [True, True, False]})
    X = encoder.transform(rows)
    median_square = 0.9539**2
    assert ((X[0] - X[1]) ** 2).sum() == pytest.approx(median_square / 2, rel=0.03)
    assert ((X[0] - X[2]) ** 2).sum() == pytest.approx(median_square / 2, rel=0.03)


def test_neighbours_among_few_values_are_no_farther_apart_than_levels(rng):
    table = pd.DataFrame(rng.normal(size=(9000, 3)), columns=["x", "y", "z"])
    encoder = TableEncoder().fit(table.assign(year=rng.choice([2007, 2008, 2009], 9000)))
    X = encoder.transform(table.iloc[[0, 0]].assign(year=[2007, 2008]))
    assert ((X[0] - X[1]) ** 2).sum() == pytest.approx(0.9539**2 / 2, rel=0.1)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("${:,}.50", "numbers that are written as texts, such as '$1,000.50'"),
        ("{}%", "numbers that are written as texts, such as '1000%'"),
        ("{}/01/30", "dates that are written in several ways, such as '1000/01/30'"),
        ("no {}", None),
        ("{}A", None),
    ],
)
def test_numbers_and_dates_as_texts_are_no_levels(text, words):
    numbers = np.append(np.arange(1000, 1080), np.arange(1000, 1010))
    table = pd.DataFrame({"x": np.arange(90.0) % 7, "c": [text.format(one) for one in numbers]})
    (column,) = [one for one in TableEncoder().fit(table).columns_ if one.name == "c"]
    assert column.kind == ("category" if words is None else "left out")
    assert words is None or column.reason == words
    asked = TableEncoder(categorical=["c"]).fit(table)
    assert [one.kind for one in asked.columns_ if one.name == "c"] == ["category"]
