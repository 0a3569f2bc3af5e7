"""Numbers in words, as the commands say them."""

import pytest

from sparseksc.cli.console import Reporter
from sparseksc.cli.words import cluster_table, count, short_bandwidth


@pytest.mark.parametrize(
    ("number", "words"), [(0, "0 rows"), (1, "1 row"), (2, "2 rows"), (12_345, "12,345 rows")]
)
def test_a_number_has_its_noun(number, words):
    assert count(number, "row") == words


@pytest.mark.parametrize(
    ("bandwidth", "words"),
    [(None, "none"), (0.123456, "0.1235"), ([1.0, 2e-9], "1, 2e-09"), ((3.0,), "3")],
)
def test_bandwidths_have_few_digits(bandwidth, words):
    assert short_bandwidth(bandwidth) == words


def test_the_table_of_clusters_has_sizes_and_shares(capsys):
    cluster_table(Reporter(as_json=False), [1500.0, 500.0])
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split() == ["cluster", "rows", "share"]
    assert [row.split() for row in rows] == [["0", "1,500", "75.0%"], ["1", "500", "25.0%"]]


def test_clusters_without_rows_have_a_share_of_zero(capsys):
    cluster_table(Reporter(as_json=False), [0.0])
    assert capsys.readouterr().out.splitlines()[1].split() == ["0", "0", "0.0%"]
