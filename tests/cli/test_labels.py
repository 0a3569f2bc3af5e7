"""Labels on standard output."""

import numpy as np
import pytest

pytestmark = pytest.mark.filterwarnings("default")


def test_fit_writes_labels_to_standard_output_and_words_to_standard_error(ksc, files, fast):
    done = ksc("fit", files / "points.npy", *fast, "--labels", "-")
    assert done.code == 0
    assert done.out.startswith("label\n")
    assert len(done.out.splitlines()) == 301
    assert done.err.startswith("3 clusters in 300 rows")


def test_noise_is_written_counted_and_told(ksc, tmp_path):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(300, 2)), rng.normal(size=(300, 2)) + 9.0])
    X = np.vstack([X, rng.uniform(-4.0, 13.0, size=(60, 2))])
    np.savetxt(tmp_path / "points.csv", X, delimiter=",", header="x,y", comments="")
    done = ksc("fit", "points.csv", "-k", 2, "--noise", 0.1, "-o", "m.ksc", "--labels", "l.csv")
    assert done.code == 0, done.err
    assert "660 rows" in done.out
    assert "noise, in no cluster: 10.0 % of the rows" in done.out
    done = ksc("predict", "m.ksc", "points.csv", "-o", "again.csv")
    assert "noise, in no cluster: 66 rows" in done.out
    written = (tmp_path / "l.csv").read_text(encoding="utf-8")
    assert written == (tmp_path / "again.csv").read_text(encoding="utf-8")
    assert written.split().count("-1") == 66
    assert "noise" in ksc("info", "m.ksc").out
    done = ksc("fit", "points.csv", "--noise", 2, "-o", "m.ksc")
    assert done.code == 2
    assert "must be a share above 0 and below 1, or auto" in done.err
