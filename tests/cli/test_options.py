"""What is written on the line is understood, or refused with a sentence."""

import click
import pytest

from sparseksc.cli import options
from sparseksc.cli.options import bandwidths, cluster_numbers, column_names, delimiter
from sparseksc.cli.program import fit
from sparseksc.config.domains import OneOf
from sparseksc.config.parameters import PARAMETERS


def test_options_have_the_defaults_names_and_help_of_the_table_of_parameters():
    shown = {option.name: option for option in fit.params}
    for name in (*options.MODEL_PARAMETERS, "n_jobs", "memory_limit"):
        assert shown[name].help == PARAMETERS[name].help
        assert shown[name].default == PARAMETERS[name].default
        if isinstance(PARAMETERS[name].domain, OneOf):
            names = set(PARAMETERS[name].domain.names) - {"precomputed"}
            assert set(shown[name].type.choices) == names


@pytest.mark.parametrize(
    ("text", "value"),
    [("auto", "auto"), ("3", 3), ("2..4", [2, 3, 4]), ("7..7", 7), ("8,2,4", [8, 2, 4])],
)
def test_numbers_of_clusters(text, value):
    assert cluster_numbers(text) == value


@pytest.mark.parametrize("text", ["", "three", "2..", "..5", "5..2", "0", "-3", "2,,3", "1e3"])
def test_what_is_not_a_number_of_clusters_is_refused(text):
    with pytest.raises(click.BadParameter, match="must be a number of clusters"):
        cluster_numbers(text)


def test_an_endless_range_is_refused():
    with pytest.raises(click.BadParameter, match="more than 1000 numbers"):
        cluster_numbers("2..999999999999")


def test_bandwidths():
    assert bandwidths("auto") == "auto"
    assert bandwidths("0.5") == 0.5
    assert bandwidths("0.1,1,1e1") == [0.1, 1.0, 10.0]
    for text in ("", "wide", "-1", "0", "nan", "inf", "1,,2"):
        with pytest.raises(click.BadParameter, match="must be a positive number"):
            bandwidths(text)


def test_names_of_columns():
    assert column_names("a,b , c") == ["a", "b", "c"]
    assert column_names('"x,y",z') == ["x,y", "z"]
    for text in ("", ",", "a,,b"):
        with pytest.raises(click.BadParameter, match="names separated by commas"):
            column_names(text)


def test_delimiters():
    assert [delimiter(text) for text in (";", "tab", r"\t")] == [";", "\t", "\t"]
    for text in ("", ";;", '"'):
        with pytest.raises(click.BadParameter, match="one character"):
            delimiter(text)
