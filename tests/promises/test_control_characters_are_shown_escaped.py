"""Names and messages of others cannot command a terminal, nor change how a page reads."""

import csv
import os
import pty
import re
import subprocess
import warnings

import numpy as np
import pytest

from sparseksc import KernelSpectralClustering, load, open_dataset
from sparseksc.execution.notices import warn
from sparseksc.report import write_report
from sparseksc.tuning import tune
from tests.promises.running import FAST, PROGRAM, needs_program, run, two_groups, write_csv

pytest.importorskip("pyarrow", reason="reading CSV files needs pyarrow")

#: Clears the screen, rings, goes back to the start of the line, C1, a bidirectional override.
EVIL = "x\x1b[2J\x07\r\x9b31m\u202ey"
SHOWN = r"x\x1b[2J\x07\r\x9b31m\u202ey"
FORBIDDEN = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def safe(text):
    """Whether a text can be shown; bytes are what a program printed."""
    text = text.decode() if isinstance(text, bytes) else text
    return FORBIDDEN.search(text) is None


@pytest.fixture
def folder(tmp_path):
    """Data whose file, column and ids hold control characters, and its model."""
    X = two_groups()
    columns = f"name,{EVIL.replace(chr(13), '')},b"
    write_csv(tmp_path / f"{EVIL}.csv", X, columns, [f'"{EVIL}"'] * len(X))
    data = open_dataset(tmp_path / f"{EVIL}.csv", ids=["name"])
    model = KernelSpectralClustering(2, bandwidth=1.0).fit(data)
    model.save(tmp_path / f"{EVIL}.ksc")
    return tmp_path


@needs_program
@pytest.mark.parametrize(
    ("line", "code"),
    [
        (["info", f"{EVIL}.ksc"], 0),
        (["fit", f"{EVIL}.csv", "--id", "name", *FAST, "--labels", f"{EVIL}2.csv"], 0),
        (["predict", f"{EVIL}.ksc", f"{EVIL}.csv", "-o", f"{EVIL}3.csv"], 0),
        (["fit", f"{EVIL}.csv", *FAST, "-o", f"{EVIL}.csv"], 2),
        (["fit", f"{EVIL}.csv", *FAST, "-o", "m.ksc"], 0),
        (["fit", f"{EVIL}.csv", "--columns", "name", *FAST, "-o", "m.ksc"], 1),
        (["fit", f"{EVIL}none.csv", *FAST, "-o", "m.ksc"], 1),
        (["fit", f"{EVIL}.csv", "--columns", f"{EVIL}9", *FAST, "-o", "m.ksc"], 2),
        (["fit", f"{EVIL}.csv", "--columns", "b", *FAST, "-o", f"{EVIL}/m.ksc"], 1),
        (["predict", f"{EVIL}.csv", f"{EVIL}.csv"], 1),
        (["predict", f"{EVIL}.ksc", f"{EVIL}.csv", "-o", f"{EVIL}.xls"], 2),
        (["predict", f"{EVIL}.ksc", "other.csv"], 1),
        (["segment", f"{EVIL}.csv", "-o", "s.png"], 1),
        (["segment", "a.png", "-o", f"{EVIL}"], 2),
        (["report", f"{EVIL}.ksc", f"{EVIL}.csv", "-o", EVIL], 2),
        (["tune", f"{EVIL}.csv", "--id", "name", "--plot", EVIL], 2),
        (["fit", "--kernel", EVIL, "x.csv"], 2),
        ([EVIL], 2),
    ],
    ids=str,
)
def test_what_the_program_prints_is_safe(folder, line, code):
    write_csv(folder / "other.csv", two_groups())
    done = run(folder, *line)
    assert done.returncode == code, done.stderr
    assert safe(done.stdout)
    assert safe(done.stderr)
    assert rb"\x1b[2J" in done.stdout + done.stderr


@needs_program
def test_labels_on_a_terminal_are_escaped_and_in_a_pipe_as_they_are(folder):
    line = ["predict", f"{EVIL}.ksc", f"{EVIL}.csv", "--id", "name"]
    done = run(folder, *line)
    assert f'"{EVIL}",0'.encode() in done.stdout
    leader, follower = pty.openpty()
    process = subprocess.Popen([PROGRAM, *line], cwd=folder, stdout=follower, stderr=follower)
    os.close(follower)
    seen = b""
    while True:
        try:
            part = os.read(leader, 65_536)
        except OSError:  # the other end is closed
            break
        seen += part
    os.close(leader)
    assert process.wait() == 0
    assert safe(seen.replace(b"\r\n", b"\n"))
    assert SHOWN.encode() in seen


def test_errors_of_the_library_are_safe(folder, tmp_path):
    path = tmp_path / f"{EVIL}.csv"
    model = load(tmp_path / f"{EVIL}.ksc")
    other = tmp_path / f"{EVIL}\nother.csv"
    write_csv(other, two_groups())
    (tmp_path / f"{EVIL}.npy").write_bytes(b"nothing")
    (tmp_path / f"{EVIL}.parquet").write_bytes(b"nothing")
    (tmp_path / f"{EVIL}.npz").write_bytes(b"nothing")
    broken = tmp_path / f"{EVIL}broken.csv"
    broken.write_text("a,b\n1,2\n1,nan\n" * 2)
    changed = open_dataset(other, ids=["name"])
    write_csv(other, two_groups(70))
    good = tmp_path / f"{EVIL}good.csv"
    good.write_text("a,b\n" + "1,2\n" * 9 + "1,nan\n")
    fit = KernelSpectralClustering(2, bandwidth=1.0).fit
    ways = [
        lambda: open_dataset(path),
        lambda: open_dataset(path, columns=[EVIL + "\n"]),
        lambda: open_dataset([path, other], ids=["name"]),
        lambda: open_dataset(f"{path}*.none"),
        lambda: open_dataset(f"{path}.none"),
        lambda: open_dataset(tmp_path / f"{EVIL}.npy"),
        lambda: open_dataset(tmp_path / f"{EVIL}.npz"),
        lambda: open_dataset(tmp_path / f"{EVIL}.parquet"),
        lambda: fit(open_dataset(broken)),
        lambda: fit(open_dataset(good)),
        lambda: fit(changed),
        lambda: fit(two_groups(), checkpoint=path),
        lambda: model.predict(open_dataset(other, ids=["name"])),
        lambda: fit(two_groups()).predict(two_groups(), out=f"{path}.xls"),
        lambda: model.save(tmp_path / EVIL / "model"),
        lambda: load(path),
    ]
    for way in ways:
        with pytest.raises(Exception, match=r"\\x1b") as caught:
            way()
        assert safe(str(caught.value)), str(caught.value)
        assert "\n" not in str(caught.value)


def test_warnings_and_summaries_are_safe():
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        warn(f"The column {EVIL} is odd.", UserWarning)
    assert str(shown[0].message) == f"The column {SHOWN} is odd."
    found = tune(two_groups(), [2, 3], [1.0], random_state=0)
    object.__setattr__(found, "doubt", EVIL)
    assert found.summary().endswith(SHOWN)


def test_a_report_is_safe(folder, tmp_path):
    pytest.importorskip("bokeh")
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(two_groups(), columns=[EVIL, "b"])
    frame.index = [f"{EVIL}{row}" for row in range(len(frame))]
    model = KernelSpectralClustering(2, bandwidth=1.0).fit(frame)
    model.warnings_ = [f"Look: {EVIL}"]
    write_report(model, frame, tmp_path / "page.html", title=EVIL, command=f"ksc {EVIL}")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    own = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)  # Bokeh's code has such marks
    assert safe(own)
    assert SHOWN in own
    data = re.search(r'<script[^>]*type="application/json".*?</script>', page, re.DOTALL)
    assert data is None or safe(data[0])


def test_a_carriage_return_in_an_id_does_not_end_the_row(folder):
    done = run(folder, "predict", f"{EVIL}.ksc", f"{EVIL}.csv", "--id", "name", "-o", "labels.csv")
    assert done.returncode == 0, done.stderr
    with open(folder / "labels.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows[:2] == [["name", "label"], [EVIL, "0"]]
    assert {len(row) for row in rows} == {2}


def test_models_keep_the_names_as_they_are(folder):
    names = load(folder / f"{EVIL}.ksc").feature_names_in_
    assert names[0] == EVIL.replace("\r", "")
    assert np.asarray(names).tolist()[1] == "b"
