"""The demonstration: a table of what it took, and a figure."""

import pytest

from sparseksc.demo import main

pytest.importorskip("matplotlib")


def test_the_demonstration_prints_a_table_and_draws_a_figure(tmp_path, capsys):
    main(["--points", "20000", "--out", str(tmp_path / "new")])
    printed = capsys.readouterr().out
    values = dict(line.rsplit("  ", 1) for line in printed.splitlines() if "  " in line.strip())
    values = {name.strip(): value.strip() for name, value in values.items()}
    assert values["points"] == "20,000"
    assert values["ARI of the training points"] == values["ARI of the new points"] == "1.0000"
    assert (tmp_path / "new" / "spirals.png").read_bytes().startswith(b"\x89PNG")


def test_the_rank_bounds_the_reduced_set(tmp_path, capsys):
    main(["--points", "1000", "--bandwidth", "0.05", "--rank", "60", "--out", str(tmp_path)])
    assert "60 points" in capsys.readouterr().out
