"""Tables of any types of columns in, labels beside them out."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

from sparseksc import load

pytestmark = pytest.mark.filterwarnings("default")

#: Means of four measurements of three species, as of the penguins of Palmer Station, and the share
#: of the males in them.
SPECIES = {
    "Adelie": (38.8, 18.3, 190, 3700, 152),
    "Chinstrap": (48.8, 18.4, 196, 3733, 68),
    "Gentoo": (47.5, 15.0, 217, 5076, 124),
}
ISLANDS = {"Adelie": ["Biscoe", "Dream", "Torgersen"], "Chinstrap": ["Dream"], "Gentoo": ["Biscoe"]}
MEASURED = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]


@pytest.fixture(scope="module")
def penguins():
    """A table of the shape of palmerpenguins: 344 rows, text, blanks."""
    rng = np.random.default_rng(0)
    parts = []
    for species, (*means, count) in SPECIES.items():
        male = rng.random(count) < 0.5
        size = rng.normal(size=count) + np.where(male, 1.0, -1.0)
        noise = rng.normal(size=(count, 4)) * [2.0, 0.8, 5.0, 250.0]
        values = np.array(means) + size[:, None] * [1.5, 0.6, 3.0, 300.0] + noise
        part = pd.DataFrame(values.round(1), columns=MEASURED)
        part.insert(0, "species", species)
        part.insert(1, "island", rng.choice(ISLANDS[species], count))
        part["sex"] = np.where(male, "male", "female")
        part["year"] = rng.choice([2007, 2008, 2009], count)
        parts.append(part)
    table = pd.concat(parts, ignore_index=True)
    table.loc[[3, 271], [*MEASURED, "sex"]] = np.nan
    table.loc[[8, 9, 10, 11, 47, 178, 218, 256, 268], "sex"] = np.nan
    return table


@pytest.fixture
def file(penguins, tmp_path):
    penguins.to_csv(tmp_path / "penguins.csv", index=False)
    return "penguins.csv"


def test_a_table_of_penguins_just_works(ksc, file, penguins, tmp_path):
    done = ksc("fit", file, "-k", 3, "--report", "r.html", "--labels", "out.csv", "--append")
    assert done.code == 0, done.err
    assert done.out.startswith(
        "Columns: 5 numbers (bill_length_mm, bill_depth_mm, flipper_length_mm, body_mass_g, year; "
        "8 missing values filled in), 3 categories (species: 3 levels, island: 3 levels, sex: 2 "
        "levels; 11 missing values).\n3 clusters in 344 rows"
    )
    before, after = (
        (tmp_path / name).read_text().splitlines() for name in ("penguins.csv", "out.csv")
    )
    assert after[0] == f"{before[0]},label"
    assert [line.rpartition(",")[0] for line in after] == before
    labels = [int(line.rpartition(",")[2]) for line in after[1:]]
    assert adjusted_rand_score(penguins["species"], labels) >= 0.9
    assert "species_Adelie" in (tmp_path / "r.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "arrow", "npz"])
@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl", "xlsx"])
def test_labels_are_written_beside_all_columns_of_any_format(
    ksc, kind, ending, penguins, fast, tmp_path
):
    name, table = f"penguins.{kind}", penguins.astype({"island": "category"})
    if kind == "jsonl":
        table.to_json(tmp_path / name, orient="records", lines=True)
    elif kind == "xlsx":
        table.to_excel(tmp_path / name, index=False)
    elif kind == "csv":
        table.to_csv(tmp_path / name, index=False)
    else:
        table.to_parquet(tmp_path / name, row_group_size=100)
    line = ("--drop-columns", "species", *fast, "-o", "m.ksc", "--append", "--labels")
    done = ksc("fit", name, *line, f"fit.{ending}")
    assert done.code == 0, done.err
    done = ksc("predict", "m.ksc", name, "--append", "--membership", "-o", f"out.{ending}")
    assert done.code == 0, done.err
    found, more = (read(tmp_path / f"{one}.{ending}") for one in ("fit", "out"))
    assert list(found) == [*table.columns, "label"]
    assert list(more)[:-3] == list(found)
    np.testing.assert_array_equal(np.array(more["label"]), np.array(found["label"]))
    assert [str(one) for one in found["species"]] == table["species"].tolist()
    mass = pd.to_numeric(pd.Series(list(found["body_mass_g"])), errors="coerce")
    np.testing.assert_array_equal(mass, table["body_mass_g"])
    if ending in ("csv", "parquet"):
        years = pd.Series(found["year"]).astype(str).tolist()
        assert years == table["year"].astype(str).tolist()


def read(path):
    if path.suffix == ".npz":
        with np.load(path) as archive:
            return {name: archive[name] for name in archive}
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    if path.suffix == ".arrow":
        return pd.read_feather(path)
    return pd.read_csv(path)


def test_the_model_file_keeps_what_was_done(ksc, file, penguins, fast, tmp_path):
    assert ksc("fit", file, *fast, "-o", "m.ksc", "--drop-columns", "species,year").code == 0
    header = json.loads(ksc("info", "m.ksc", "--json").out)
    assert [one["kind"] for one in header["table"]["columns"]].count("category") == 2
    assert "table" in ksc("info", "m.ksc").out
    # Other levels, other orders, other columns.
    new = penguins.sample(frac=1.0, random_state=0).assign(extra="x")[
        ["sex", "extra", *MEASURED, "island"]
    ]
    new.iloc[0, -1] = "Atlantis"
    new.to_csv(tmp_path / "new.csv", index=False)
    done = ksc("predict", "m.ksc", "new.csv", "-o", "labels.csv", "--id", "body_mass_g")
    assert done.code == 0, done.err
    labels = pd.read_csv(tmp_path / "labels.csv")
    assert list(labels.columns) == ["body_mass_g", "label"]
    np.testing.assert_array_equal(labels["label"], load(tmp_path / "m.ksc").predict(new))
    assert ksc("report", "m.ksc", file, "--id", "species", "-o", "r.html").code == 0
    done = ksc("predict", "m.ksc", file, "--columns", "sex")
    assert (done.code, done.out) == (2, "")
    new.drop(columns="island").to_csv(tmp_path / "less.csv", index=False)
    done = ksc("predict", "m.ksc", "less.csv")
    assert "was trained with other columns: less.csv has no column 'island'" in done.err


def test_missing_values_are_filled_dropped_or_refused(ksc, file, fast, tmp_path):
    out = ksc("fit", file, *fast, "--labels", "all.csv", "--append", "--missing", "drop")
    assert "11 rows with missing values have no label" in out.err
    assert len(pd.read_csv(tmp_path / "all.csv")) == 333
    out = ksc("fit", file, *fast, "--labels", "none.csv", "--missing", "error")
    assert out.code == 1
    assert "missing values" in out.err
    assert not (tmp_path / "none.csv").exists()
    # Numbers with blanks are a table as well, and seen when they are met.
    blanks = "a,b\n" + "1,2\n3,4\n8,9\n" * 40 + ",5\n"
    (tmp_path / "blanks.csv").write_text(blanks)
    out = ksc("fit", "blanks.csv", "-k", 2, "--bandwidth", 1, "--labels", "l.csv")
    assert out.code == 0, out.err
    assert "1 missing value filled in" in out.out
    assert len(pd.read_csv(tmp_path / "l.csv")) == 121


def test_columns_are_chosen_left_out_and_taken_as_codes(ksc, file, fast):
    def columns(*options):
        done = ksc("fit", file, *fast, "--labels", "l.csv", "--json", *options)
        assert done.code == 0, done.err
        return json.loads(done.out)["columns"]

    assert columns("--numeric-only", "--drop-columns", "year") == MEASURED
    assert "year_2007" in columns("--columns", "year,sex", "--categorical", "year")
    assert "species_Gentoo" not in columns("--id", "species")
    done = ksc("fit", file, *fast, "--labels", "l.csv", "--drop-columns", "nope")
    assert "drop_columns names 'nope', but the table has species, island" in done.err


def test_an_index_is_named_and_left_out(ksc, penguins, fast, tmp_path):
    numbers = penguins[MEASURED].dropna()
    numbers.to_csv(tmp_path / "numbers.csv")
    done = ksc("fit", "numbers.csv", *fast, "--labels", "l.csv", "--append", "--json")
    found = json.loads(done.out)
    assert found["columns"] == MEASURED
    assert found["notes"] == ["The index is no feature: ''."]
    assert pd.read_csv(tmp_path / "l.csv").columns[0] == "Unnamed: 0"
    numbers.set_index(numbers.index * 2).to_parquet(tmp_path / "numbers.parquet")
    done = ksc("fit", "numbers.parquet", *fast, "--labels", "l.csv", "--json")
    assert json.loads(done.out)["notes"] == ["The index is no feature: '__index_level_0__'."]


def test_arrays_are_appended_to_as_columns_with_numbers(ksc, files, fast, points, tmp_path):
    X, _ = points
    done = ksc("fit", files / "points.npy", *fast, "--labels", "l.csv", "--append")
    assert done.code == 0, done.err
    found = pd.read_csv(tmp_path / "l.csv")
    assert list(found.columns) == ["column1", "column2", "label"]
    np.testing.assert_array_equal(found[["column1", "column2"]], X)


def test_what_cannot_be_appended_to_is_refused(ksc, fast, tmp_path):
    (tmp_path / "points.csv").write_text("a,label\n1,2\n3,4\n5,6\n7,8\n")
    line = ("fit", "points.csv", "-k", 2, "--bandwidth", 1)
    done = ksc(*line, "--labels", "out.csv", "--append")
    assert "has a column 'label', which the labels have too" in done.err
    assert not (tmp_path / "out.csv").exists()
    assert ksc(*line, "-o", "m.ksc", "--append").code == 2
    assert "keep all columns" in ksc(*line, "--labels", "out.npy", "--append").err


def test_places_in_a_file(ksc, tmp_path):
    rng = np.random.default_rng(0)
    group = np.arange(300) % 2
    places = np.array([[10.0, 179.0], [-60.0, 20.0]])[group] + rng.normal(size=(300, 2))
    places[:, 1] = (places[:, 1] + 180.0) % 360.0 - 180.0
    table = pd.DataFrame(places, columns=["lat", "lon"]).assign(town=np.arange(300) % 7)
    table[["lon", "lat", "town"]].to_csv("towns.csv", index=False)
    asked = ("fit", "towns.csv", "-k", 2, "--metric", "haversine", "--labels", "out.csv")
    done = ksc(*asked, "--columns", "lat,lon", "--append", "-o", "model.ksc")
    assert done.code == 0, done.err
    assert done.err == ""
    labels = pd.read_csv("out.csv")["label"]
    assert adjusted_rand_score(group, labels) == 1.0
    assert ksc("predict", "model.ksc", "towns.csv", "-o", "again.csv").code == 0
    np.testing.assert_array_equal(pd.read_csv("again.csv")["label"], labels)
    done = ksc(*asked)
    assert done.code == 1
    assert "X must have two columns, got 3 columns" in done.err
    table["lat"] = table["lat"].where(table.index != 4)
    table.to_csv("towns.csv", index=False)
    done = ksc(*asked, "--columns", "lat,lon")
    assert done.code == 1
    assert "towns.csv has other columns or missing values: choose the columns" in done.err


def test_whole_numbers_that_are_rounded_are_named(ksc, fast):
    ids = 2**60 + 512 * np.random.default_rng(0).integers(0, 10**6, 90)
    table = pd.DataFrame({"x": np.arange(90) % 3 * 5.0, "c": ["a", "b", "c"] * 30, "id": ids})
    for name in ("a.csv", "a.parquet"):
        table.to_csv(name, index=False) if name == "a.csv" else table.to_parquet(name, index=False)
        done = ksc("fit", name, *fast, "-o", "model.ksc")
        assert done.code == 0, done.err
        assert done.err.count("Column 'id' holds whole numbers beyond 2^53") == 1
