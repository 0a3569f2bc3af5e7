"""Bad input: one sentence on stderr, exit code 1 or 2, and every output as it was.

What may take memory, and what ends with the process, runs the installed program; the others run in
this process.
"""

import json
import os
import resource
import zipfile

import numpy as np
import pytest

pq = pytest.importorskip("pyarrow.parquet")

BEFORE = b"what was there before"


@pytest.fixture
def refused(ksc, program, tmp_path):
    """Run a command that must fail, and return its sentence."""

    def run(*arguments, outputs, installed=False, **more):
        for name in outputs:
            (tmp_path / name).write_bytes(BEFORE)
        done = program(*arguments, **more) if installed else ksc(*arguments)
        assert done.code in (1, 2), done.err
        assert done.out == ""
        assert done.err.startswith("ksc: ")
        assert done.err.count("\n") == 1, done.err
        assert "Traceback" not in done.err
        for name in outputs:
            assert (tmp_path / name).read_bytes() == BEFORE
        assert not [name for name in os.listdir(tmp_path) if name.startswith(".ksc-")]
        assert done.megabytes < 400
        return done.err.removeprefix("ksc: ").strip()

    return run


@pytest.fixture
def refuse_fit(refused, fast):
    def run(*data, **more):
        outputs = ["model.ksc", "labels.csv"]
        return refused(
            "fit",
            *data,
            *fast,
            "-o",
            "model.ksc",
            "--labels",
            "labels.csv",
            outputs=outputs,
            **more,
        )

    return run


@pytest.fixture
def refuse_predict(refused):
    def run(model, data, **more):
        return refused("predict", model, data, "-o", "labels.csv", outputs=["labels.csv"], **more)

    return run


def test_a_missing_file(refuse_fit):
    assert refuse_fit("nothing.parquet", installed=True) == "There is no file nothing.parquet."


def test_an_empty_file(refuse_fit, tmp_path):
    (tmp_path / "empty.csv").touch()
    assert refuse_fit("empty.csv") == "empty.csv is empty."


def test_a_directory_without_matching_files(refuse_fit, tmp_path):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.jpg").touch()
    assert refuse_fit("photos").startswith("The directory photos has no files that can be read")


def test_a_csv_with_text(refuse_fit, tmp_path):
    # Of many numbers: a word among a few that are repeated is a level beside others.
    numbers = "".join(f"1,{n}.5\n" for n in range(20))
    (tmp_path / "points.csv").write_text(f"a,b\n{numbers}3,blue\n")
    assert refuse_fit("points.csv") == (
        "points.csv has 'blue' in row 21 (line 22), column 'b', which is not a number: correct it, "
        "leave the column out, or keep it as an id."
    )


def test_a_csv_with_ragged_rows(refuse_fit, tmp_path):
    (tmp_path / "points.csv").write_text("a,b\n1,2\n3\n")
    assert refuse_fit("points.csv") == (
        "points.csv has 1 field in row 2 (line 3) where 2 are expected: correct that line."
    )


def test_a_csv_with_missing_values(refuse_fit, tmp_path):
    (tmp_path / "points.csv").write_text("a,b\n1,2\nNaN,4\n")
    assert refuse_fit("points.csv", "--missing", "error") == (
        "points.csv has the missing value NaN in row 2 (line 3), column 'a': fill it in, or "
        "remove the row."
    )


def test_a_parquet_with_a_missing_column(refuse_fit, files):
    sentence = refuse_fit(files / "points.parquet", "--columns", "a,c")
    assert sentence.endswith("points.parquet has no column 'c'; it has name, a and b.")


def test_predicting_with_other_columns(refuse_predict, files, tmp_path):
    (tmp_path / "new.csv").write_text("a,c\n1,2\n")
    assert refuse_predict(files / "model.ksc", "new.csv") == (
        "The model was trained with other columns: new.csv has no column 'b'; it has a and c."
    )


def test_predicting_with_another_number_of_features(refuse_predict, files, tmp_path):
    np.save(tmp_path / "new.npy", np.ones((5, 3)))
    assert refuse_predict(files / "model.ksc", "new.npy").startswith(
        "The model was trained with 2 columns, but the data has 3 columns"
    )


def changed(name, content):
    """Damaged copies of a model."""
    if name == "truncated":
        return content[: len(content) // 2]
    if name == "bit-flipped":
        place = len(content) - 100
        return content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :]
    if name == "newer":
        return content.replace(b'"version":"5"', b'"version":"6"')
    assert name == "empty"
    return b""


@pytest.mark.parametrize("damage", ["truncated", "bit-flipped", "newer", "empty"])
def test_a_damaged_model(refuse_predict, files, tmp_path, damage):
    content = (files / "model.ksc").read_bytes()
    damaged = changed(damage, content)
    assert damaged != content
    (tmp_path / "model.ksc").write_bytes(damaged)
    sentence = refuse_predict("model.ksc", files / "points.csv")
    assert sentence.startswith("model.ksc ")
    if damage == "newer":
        assert "version" in sentence


def test_a_model_with_10_gigabytes_of_header(refuse_predict, files, tmp_path):
    with (tmp_path / "model.ksc").open("wb") as file:
        file.write((10 * 2**30).to_bytes(8, "little") + b'{"')
        file.truncate(11 * 2**30)  # takes no room: there is nothing in it
    sentence = refuse_predict("model.ksc", files / "points.csv", installed=True)
    assert sentence.startswith("model.ksc ")


def test_zip_bombs(refuse_predict, files, tmp_path):
    header = json.dumps({"descr": "<f8", "fortran_order": False, "shape": (1, 2**26)})
    header = header.replace("[", "(").replace("]", ")").replace("false", "False").ljust(117) + "\n"
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as bomb:
        with bomb.open("X.npy", "w") as member:
            member.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
            for _ in range(512):
                member.write(bytes(2**20))
    sentence = refuse_predict(files / "model.ksc", "bomb.npz", installed=True)
    assert sentence.startswith("The model was trained with 2 columns, but the data has 67108864")
    os.rename(tmp_path / "bomb.npz", tmp_path / "bomb.ksc")
    sentence = refuse_predict("bomb.ksc", files / "points.csv", installed=True)
    assert sentence.startswith("bomb.ksc ")


def test_an_output_in_a_folder_that_does_not_exist(refused, files, fast):
    sentence = refused(
        *("fit", files / "points.npy", *fast, "-o", "nowhere/model.ksc", "--labels", "labels.csv"),
        outputs=["labels.csv"],
    )
    assert sentence.startswith("There is no folder ")
    assert sentence.endswith("nowhere to write model.ksc to.")


def test_an_output_in_a_folder_that_is_full(refuse_fit, files, tmp_path):
    X = np.random.default_rng(0).normal(size=(100_000, 2))
    np.save(tmp_path / "points.npy", X)

    def little_room():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    # The model fits, the labels do not: neither appears.
    sentence = refuse_fit("points.npy", installed=True, preexec_fn=little_room)
    assert sentence == f"{tmp_path / 'labels.csv'}: File too large."


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_an_output_that_is_a_full_device(refused, files, fast):
    sentence = refused("fit", files / "points.npy", *fast, "-o", "/dev/full", outputs=[])
    assert sentence == "/dev/full: No space left on device."


def test_debug_shows_where_an_error_came_from(program):
    done = program("fit", "nothing.csv", "-o", "model.ksc", "--debug")
    assert done.code == 1
    assert "Traceback" in done.err
    assert "FileNotFoundError: There is no file nothing.csv." in done.err
