"""The encoding of a table as the first nodes of an ONNX graph: an input for each column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import TensorProto, helper

from sparseksc.preprocessing import TableEncoder
from sparseksc.preprocessing.columns import EncodedColumn

if TYPE_CHECKING:
    from sparseksc.persistence.onnx import Graph

#: Domain of LabelEncoder, and its version.
ML_DOMAIN, ML_OPSET = "ai.onnx.ml", 3


def add_encoder(graph: Graph, encoder: TableEncoder) -> tuple[str, list[Any], str]:
    """Add the encoding of the columns that a model uses.

    A column of texts is an input of texts of shape (n, 1), without blanks around them, and empty
    where missing; any other column one of float64, NaN where missing: truth values are 0 and 1,
    dates days since 1970, durations seconds.

    Returns
    -------
    X : str
        Features in the units of the table, shape (n, d).
    inputs : list
        Descriptions of the inputs.
    lacking : str
        Whether a row has a missing value that the encoder does not fill in, shape (n,); empty where
        it fills them in.
    """
    features, inputs, lacking = [], [], []
    for column in encoder.columns_:
        if column.kind == "left out":
            continue
        text = column.kind == "category"
        kind = TensorProto.STRING if text else TensorProto.DOUBLE
        inputs.append(helper.make_tensor_value_info(column.name, kind, ["n", 1]))
        found, missing = (_levels if text else _numbers)(graph, column)
        features += found
        lacking.append(missing)
    X = graph.add("Concat", *features, axis=1)
    if encoder.missing == "impute":
        return X, inputs, ""
    flags = graph.add("Concat", *(_as_numbers(graph, one) for one in lacking), axis=1)
    any_missing = graph.add("ReduceMax", flags, axes=[1], keepdims=0)
    return X, inputs, graph.add("Greater", any_missing, graph.constant(0.5))


def _numbers(graph: Graph, column: EncodedColumn) -> tuple[list[str], str]:
    """Return the features of a column of numbers, and which of them are missing."""
    missing = graph.add("IsNaN", column.name)
    features = [graph.add("Where", missing, graph.constant(column.fill), column.name)]
    return features + [_as_numbers(graph, missing)] * column.indicator, missing


def _levels(graph: Graph, column: EncodedColumn) -> tuple[list[str], str]:
    """Return the features of a column of texts: rows of a table, found by the level."""
    n_levels, width = len(column.levels), len(column.feature_names)
    # The last two rows of the table are those of other levels and of missing ones.
    table = np.zeros((n_levels + 2, width))
    table[:n_levels, :n_levels] = np.eye(n_levels)
    table[n_levels, n_levels : n_levels + 1] = float(column.pooled)
    table[n_levels + 1, -1] = float(column.indicator)
    numbers = graph.add(
        "LabelEncoder",
        column.name,
        domain=ML_DOMAIN,
        keys_strings=[*column.levels, ""],
        values_int64s=[*range(n_levels), n_levels + 1],
        default_int64=n_levels,
    )
    flat = graph.add("Squeeze", numbers, graph.constant([1], np.int64))
    missing = graph.add("Equal", numbers, graph.constant(n_levels + 1, np.int64))
    return [graph.add("Gather", graph.constant(table), flat, axis=0)], missing


def _as_numbers(graph: Graph, flags: str) -> str:
    return graph.add("Cast", flags, to=TensorProto.DOUBLE)
