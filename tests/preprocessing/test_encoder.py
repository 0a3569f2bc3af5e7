"""TableEncoder: what scikit-learn's parts do, for tables of all libraries and any size."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from sparseksc import KernelSpectralClustering, load
from sparseksc.preprocessing import TableEncoder
from sparseksc.report import write_report

pa = pytest.importorskip("pyarrow", reason="tables need pyarrow")


@pytest.fixture
def table():
    """300 rows of two far groups, with blanks, in columns of all kinds."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, 300)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=300) + 8 * group,
            "weight": rng.exponential(size=300),
            "colour": np.where(group, "red", rng.choice(["green", "blue"], 300)),
            "sold": group.astype(bool),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 365, 300), "D"),
            "tag": [f"T{number:03d}" for number in range(300)],
        }
    )
    frame.loc[::10, "weight"] = np.nan
    frame.loc[5::10, "colour"] = None
    frame["group"] = group
    return frame


def test_it_does_what_the_parts_of_scikit_learn_do(table):
    frame = table[["size", "weight", "colour"]]
    encoder = TableEncoder().fit(frame)
    parts = ColumnTransformer(
        [
            ("size", StandardScaler(), ["size"]),
            ("weight", SimpleImputer(strategy="median", add_indicator=True), ["weight"]),
            (
                "colour",
                make_pipeline(
                    SimpleImputer(strategy="constant", fill_value="missing"),
                    OneHotEncoder(sparse_output=False),
                ),
                ["colour"],
            ),
        ]
    )
    theirs = parts.set_output(transform="pandas").fit_transform(frame)
    ours = pd.DataFrame(encoder.transform(frame), columns=encoder.get_feature_names_out())
    np.testing.assert_allclose(ours["size"], theirs["size__size"], atol=1e-12)
    unscaled = pd.DataFrame(
        encoder.scaling_.undo(ours.to_numpy()), columns=encoder.get_feature_names_out()
    )
    np.testing.assert_allclose(unscaled["weight"], theirs["weight__weight"], atol=1e-12)
    for one, other in {
        "weight_missing": "weight__missingindicator_weight",
        "colour_red": "colour__colour_red",
        "colour_green": "colour__colour_green",
        "colour_missing": "colour__colour_missing",
    }.items():
        np.testing.assert_allclose(unscaled[one], theirs[other].astype(float), atol=1e-12)


def test_tables_of_all_libraries_give_the_same_numbers(table):
    polars = pytest.importorskip("polars")
    encoder = TableEncoder(drop_columns=["group"])
    expected = encoder.fit_transform(table)
    assert np.isfinite(expected).all()
    arrow = pa.Table.from_pandas(table)
    for other in (arrow, polars.from_arrow(arrow)):
        np.testing.assert_array_equal(clone(encoder).fit_transform(other), expected)
    categories = table.astype({"colour": "category"})
    np.testing.assert_array_equal(clone(encoder).fit_transform(categories), expected)


def test_dask_frames_are_encoded_lazily_and_alike(table):
    dd = pytest.importorskip("dask.dataframe")
    encoder = TableEncoder(drop_columns=["group"])
    expected = encoder.fit_transform(table)
    frame = dd.from_pandas(table, npartitions=4)
    lazily = clone(encoder).fit(frame)
    assert lazily.get_feature_names_out().tolist() == encoder.get_feature_names_out().tolist()
    found = lazily.transform(frame)
    assert type(found).__module__.startswith("dask")
    np.testing.assert_allclose(found.compute(), expected, rtol=1e-12, atol=1e-12)


def test_missing_values_are_filled_dropped_or_refused(table):
    frame = table[["size", "weight", "colour"]]
    assert len(TableEncoder().fit_transform(frame)) == 300
    kept = TableEncoder(missing="drop").fit_transform(frame)
    assert len(kept) == len(frame.dropna())
    with pytest.raises(ValueError, match="Column 'weight' has 30 missing values"):
        TableEncoder(missing="error").fit(frame)
    strict = TableEncoder(missing="error").fit(frame.dropna())
    with pytest.raises(ValueError, match="Row 1 has no value in column 'weight'"):
        strict.transform(frame)


def test_new_rows_may_have_new_levels_other_orders_and_more_columns(table):
    encoder = TableEncoder(columns=["size", "colour"]).fit(table)
    new = pd.DataFrame({"colour": ["violet", "red"], "other": [1, 2], "size": [0.0, 1.0]})
    X = encoder.transform(new)
    names = encoder.get_feature_names_out().tolist()
    assert not X[0, [names.index(f"colour_{one}") for one in ("red", "green", "blue")]].any()
    assert X[1, names.index("colour_red")] > 0
    with pytest.raises(ValueError, match="has no column 'size'"):
        encoder.transform(new[["colour"]])


def test_wrong_parameters_are_refused(table):
    for parameters, sentence in [
        ({"missing": "maybe"}, "missing must be one of"),
        ({"columns": ["nope"]}, "columns names 'nope', but the table has size, weight"),
        ({"categorical": "colour"}, "categorical must be a list of names"),
        ({"max_categories": 1}, "max_categories must be at least 2"),
        ({"min_frequency": 2.0}, "min_frequency must be from 0 to 1"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            TableEncoder(**parameters).fit(table)


def test_it_is_a_transformer_of_scikit_learn(table):
    frame = table.drop(columns="group")
    encoder = TableEncoder().set_output(transform="pandas")
    assert encoder.fit_transform(frame).columns.tolist() == encoder.get_feature_names_out().tolist()
    pipeline = make_pipeline(TableEncoder(), KernelSpectralClustering(2, random_state=0))
    labels = pipeline.fit_predict(frame)
    assert len(set(zip(labels, table["group"], strict=True))) == 2
    again = pickle.loads(pickle.dumps(encoder))
    assert again.summary() == encoder.summary()


def test_plain_values_are_enough(table):
    encoder = TableEncoder(scale=False, drop_columns=["group"]).fit(table)
    again = TableEncoder.meant(json.loads(json.dumps(encoder.plain())))
    np.testing.assert_array_equal(again.transform(table), encoder.transform(table))
    assert again.summary() == encoder.summary()
    np.testing.assert_array_equal(again.scaling_.scale, encoder.scaling_.scale)


def test_a_model_of_a_mixed_file_labels_data_frames(table, tmp_path):
    pytest.importorskip("click")
    from sparseksc.cli.main import main

    table.drop(columns="group").to_parquet(tmp_path / "table.parquet")
    model = tmp_path / "model.ksc"
    assert main(["fit", str(tmp_path / "table.parquet"), "-k", "2", "-o", str(model)]) == 0
    loaded = load(model)
    labels = loaded.predict(table)
    assert len(set(zip(labels, table["group"], strict=True))) == 2
    features = loaded.table_encoder_.set_output(transform="pandas").transform(table)
    np.testing.assert_array_equal(loaded.predict(features), labels)
    np.testing.assert_array_equal(loaded.predict(pa.Table.from_pandas(table)), labels)
    write_report(loaded, table, tmp_path / "page.html")
    assert "colour_red" in (tmp_path / "page.html").read_text("utf-8")
    assert not hasattr(loaded.fit(np.random.default_rng(0).normal(size=(50, 2))), "table_encoder_")
