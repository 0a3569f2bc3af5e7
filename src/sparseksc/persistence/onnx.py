r"""Models as ONNX graphs: labels and scores from standard operators, without this library.

The graph computes what :class:`~sparseksc.core.model.SparseModel` does, in float64: the scaling,
the kernel values between the rows and the pivots, the scores, the distances of the encoding.
Distances between rows and pivots are summed over the features by a ``Scan``, so that memory is
that of the (n, R) matrix of kernel values, whatever the number of features.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.preprocessing import normalize

from sparseksc._typing import Array, StrPath
from sparseksc._version import __version__
from sparseksc.core.density import Density
from sparseksc.core.encoding import (
    AngularDirections,
    Directions,
    Encoding,
    Means,
    Sides,
    SignCodes,
)
from sparseksc.core.model import NOISE, SparseModel, named
from sparseksc.data.atomic import atomic_write
from sparseksc.kernels import RBF, Exponential, Kernel, Landmarks, Polynomial
from sparseksc.kernels.landmarks import EVEN_SHARE
from sparseksc.kernels.metrics import METRICS
from sparseksc.preprocessing import TableEncoder
from sparseksc.scaling import Scaling

try:
    from onnx import TensorProto, checker, helper, numpy_helper
except ImportError:
    raise ImportError("ONNX files need the package onnx: pip install 'sparseksc[onnx]'.") from None

from sparseksc.persistence.onnx_tables import ML_DOMAIN, ML_OPSET, add_encoder  # needs onnx

OPSET, IR_VERSION = 17, 8


def export(
    model: SparseModel,
    scaling: Scaling | None,
    path: StrPath,
    encoder: TableEncoder | None = None,
) -> None:
    """Write the graph of a model to an ONNX file, with the encoding of its table, if any."""
    kind = model.projection.kernel.name
    if kind in ("callable", "precomputed"):
        raise ValueError(
            f"A model with a {kind} kernel has no ONNX form, since the kernel is not in the model."
        )
    content = model_proto(model, scaling, encoder)
    checker.check_model(content, full_check=True)
    with atomic_write(path) as file:
        file.write(content.SerializeToString())


class Graph:
    """Nodes and constants, added one after the other; every method returns a name."""

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, value: Any, dtype: Any = np.float64) -> str:
        """Add an array."""
        name = f"{self.prefix}constant{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.array(value, dtype=dtype), name))
        return name

    def add(self, operator: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        """Add a node with one output."""
        name = output or f"{self.prefix}value{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def row_sums(self, X: str) -> str:
        """Sum over the columns, shape (n, 1)."""
        return self.add("ReduceSum", X, self.constant([1], np.int64), keepdims=1)

    def positive_or_one(self, X: str) -> str:
        """Return what may be divided by."""
        positive = self.add("Greater", X, self.constant(0.0))
        return self.add("Where", positive, X, self.constant(1.0))

    def unit_rows(self, X: str) -> str:
        """Rows of length 1; a zero row stays zero."""
        lengths = self.add("Sqrt", self.row_sums(self.add("Mul", X, X)))
        return self.add("Div", X, self.positive_or_one(lengths))


def model_proto(
    model: SparseModel, scaling: Scaling | None, encoder: TableEncoder | None = None
) -> Any:
    """Build the graph: one input ``X``, or one for each column; outputs ``labels``, ``scores``."""
    projection = model.projection
    points: Any = projection.points
    sparse = not isinstance(points, np.ndarray)
    if sparse:
        points = points.toarray()
    kind = TensorProto.FLOAT if points.dtype == np.float32 else TensorProto.DOUBLE
    graph = Graph()
    inputs, lacking = [helper.make_tensor_value_info("X", kind, ["n", points.shape[1]])], ""
    if encoder is None:
        X = graph.add("Cast", "X", to=TensorProto.DOUBLE)
    else:
        X, inputs, lacking = add_encoder(graph, encoder)
    if scaling is not None:
        centred = graph.add("Sub", X, graph.constant(scaling.mean))
        X = graph.add("Div", centred, graph.constant(scaling.scale))
    K = model.encoding.n_clusters
    with_names = model.classes is not None
    labels = "labels" if model.noise is None and not lacking and not with_names else "clusters"
    if K == 1:
        _single_cluster(graph, X, labels)
    else:
        kernel, P = projection.kernel, points.astype(np.float64)
        if isinstance(kernel, Landmarks):
            products = _mixed_scores(graph, kernel, X, P, projection.coef)
        else:
            values = _kernel_values(graph, kernel, X, P)
            products = graph.add("MatMul", values, graph.constant(projection.coef))
        scores = graph.add("Add", products, graph.constant(projection.bias), output="scores")
        native = isinstance(projection.kernel, Exponential) and not sparse
        if kind == TensorProto.FLOAT and native:
            # The native scores of float32 data are rounded so, which far out decides the label.
            scores = graph.add("Cast", scores, to=TensorProto.FLOAT)
            scores = graph.add("Cast", scores, to=TensorProto.DOUBLE)
        _labels(graph, model.encoding, scores, labels)
    if model.noise is not None:
        output = "" if lacking or with_names else "labels"
        labels = _mark_noise(graph, model.noise, X, labels, output)
    if lacking:
        nothing, output = graph.constant(NOISE, np.int64), "" if with_names else "labels"
        labels = graph.add("Where", lacking, nothing, labels, output=output)
    label_kind: int = TensorProto.INT64
    if model.classes is not None:
        label_kind = _names(graph, model.classes, labels)
    body = helper.make_graph(
        graph.nodes,
        "sparseksc",
        inputs,
        [
            helper.make_tensor_value_info("labels", label_kind, ["n"]),
            helper.make_tensor_value_info("scores", TensorProto.DOUBLE, ["n", K - 1]),
        ],
        graph.constants,
    )
    return helper.make_model(
        body,
        producer_name="sparseksc",
        producer_version=__version__,
        opset_imports=[
            helper.make_opsetid("", OPSET),
            *([] if encoder is None else [helper.make_opsetid(ML_DOMAIN, ML_OPSET)]),
        ],
        ir_version=IR_VERSION,
    )


def _single_cluster(graph: Graph, X: str, labels: str) -> None:
    """Label everything 0; there are no scores."""
    rows = graph.add("Shape", X, start=0, end=1)
    zero = numpy_helper.from_array(np.zeros(1, dtype=np.int64))
    graph.add("ConstantOfShape", rows, output=labels, value=zero)
    shape = graph.add("Concat", rows, graph.constant([0], np.int64), axis=0)
    nothing = numpy_helper.from_array(np.zeros(1, dtype=np.float64))
    graph.add("ConstantOfShape", shape, output="scores", value=nothing)


# ------------------------------------------------------------------------------- kernel and scores


def _kernel_values(graph: Graph, kernel: Kernel, X: str, P: Array) -> str:
    """Matrix of k(x, p), shape (n, R)."""
    if isinstance(kernel, Exponential):
        inverse = kernel.inverse_bandwidth(P.shape[1])
        distances = _summed_over_features(graph, kernel.name, X, P, inverse)
        return graph.add("Exp", graph.add("Neg", distances))
    if isinstance(kernel, Polynomial):
        scale = 1.0 / np.sqrt(np.asarray(kernel.bandwidth, dtype=np.float64))
        X = graph.add("Mul", X, graph.constant(np.broadcast_to(scale, (P.shape[1],))))
        products = graph.add("MatMul", X, graph.constant((P * scale).T))
        shifted = graph.add("Add", products, graph.constant(kernel.coef0))
        return graph.add("Pow", shifted, graph.constant(int(kernel.degree)))
    if kernel.name == "cosine":
        X = _cosine_rows(graph, X)
        largest_of_pivots = np.abs(P).max(axis=1, keepdims=True)
        P = normalize(P / np.where(largest_of_pivots > 0, largest_of_pivots, 1.0))
    elif kernel.name != "linear":
        raise ValueError(f"A model with the {kernel.name} kernel has no ONNX form yet.")
    return graph.add("MatMul", X, graph.constant(P.T))


def _cosine_rows(graph: Graph, X: str) -> str:
    """Rows of length 1; divided by the largest entry first, whose square may not be a number."""
    largest = graph.add("ReduceMax", graph.add("Abs", X), axes=[1], keepdims=1)
    return graph.unit_rows(graph.add("Div", X, graph.positive_or_one(largest)))


def _mixed_scores(graph: Graph, kernel: Landmarks, X: str, P: Array, coef: Array) -> str:
    """Scores of the nearest landmarks, mixed by their weights, shape (n, K-1)."""
    R, s = len(P), kernel.neighbors_among(len(P))
    distances = _landmark_distances(graph, kernel, X, P)
    count = graph.constant([min(s + 1, R)], np.int64)
    nearest, numbers = (f"{graph.prefix}nearest", f"{graph.prefix}numbers")
    graph.nodes.append(
        helper.make_node("TopK", [distances, count], [nearest, numbers], axis=1, largest=0)
    )

    def columns(array: str, first: int, stop: int) -> str:
        bounds = (graph.constant([bound], np.int64) for bound in (first, stop, 1))
        return graph.add("Slice", array, *bounds)

    last = columns(nearest, min(s, R - 1), R)
    gaps = graph.add("Sub", last, columns(nearest, 0, s))
    total = graph.row_sums(gaps)
    uneven = graph.add("Greater", total, graph.constant(0.0))
    even = graph.constant(1.0 / s)
    shares = graph.add("Where", uneven, graph.add("Div", gaps, graph.positive_or_one(total)), even)
    weights = graph.add("Mul", shares, graph.constant(1.0 - EVEN_SHARE))
    weights = graph.add("Add", weights, graph.constant(EVEN_SHARE / s))
    scores = graph.add("Gather", graph.constant(coef), columns(numbers, 0, s), axis=0)
    weighted = graph.add(
        "Mul", graph.add("Unsqueeze", weights, graph.constant([2], np.int64)), scores
    )
    return graph.add("ReduceSum", weighted, graph.constant([1], np.int64), keepdims=0)


def _landmark_distances(graph: Graph, kernel: Landmarks, X: str, P: Array) -> str:
    """Squared distances to the landmarks, shape (n, R)."""
    if kernel.metric == "jaccard":
        products = graph.add("MatMul", X, graph.constant(P.T))
        sizes = graph.add("Add", graph.row_sums(X), graph.constant(P.sum(axis=1)))
        union = graph.add("Sub", sizes, products)
        index = graph.add("Div", products, graph.positive_or_one(union))
        some = graph.add("Greater", union, graph.constant(0.0))
        index = graph.add("Where", some, index, graph.constant(1.0))
        return graph.add("Sub", graph.constant(1.0), index)
    if kernel.metric == "cosine":
        X = _cosine_rows(graph, X)
    elif kernel.metric == "haversine":
        X, P = _unit_vectors(graph, X), METRICS["haversine"].embedded(P)
    return _summed_over_features(graph, "rbf", X, P, np.ones(P.shape[1]))


def _unit_vectors(graph: Graph, X: str) -> str:
    """Places as unit vectors in space: sines alone, since runtimes lack cosines in float64."""
    angles = graph.add("Mul", X, graph.constant(np.pi / 180.0))
    further = graph.add("Add", angles, graph.constant(np.pi / 2.0))
    sines, cosines = graph.add("Sin", angles), graph.add("Sin", further)

    def column(array: str, place: int) -> str:
        return graph.add("Gather", array, graph.constant([place], np.int64), axis=1)

    across = column(cosines, 0)
    x = graph.add("Mul", across, column(cosines, 1))
    y = graph.add("Mul", across, column(sines, 1))
    return graph.add("Concat", x, y, column(sines, 0), axis=1)


def _summed_over_features(graph: Graph, name: str, X: str, P: Array, inverse: Array) -> str:
    """Sum of the features' shares of the distance, shape (n, R), one feature at a time."""
    R = len(P)
    step = Graph("feature_")
    column = step.add("Unsqueeze", "x", step.constant([1], np.int64))
    difference = step.add("Sub", column, "p")
    if name == "laplacian":
        share = step.add("Abs", difference)
    elif name in ("rbf", "chi2"):
        share = step.add("Mul", difference, difference)
    else:
        raise ValueError(f"A model with the {name} kernel has no ONNX form yet.")
    if name == "chi2":
        total = step.add("Add", column, "p")
        share = step.add("Div", share, step.positive_or_one(total))
    step.add("Add", "sum", step.add("Mul", share, "weight"), output="next")
    double = TensorProto.DOUBLE
    body = helper.make_graph(
        step.nodes,
        "feature",
        [
            helper.make_tensor_value_info("sum", double, ["n", R]),
            helper.make_tensor_value_info("x", double, ["n"]),
            helper.make_tensor_value_info("p", double, [R]),
            helper.make_tensor_value_info("weight", double, []),
        ],
        [helper.make_tensor_value_info("next", double, ["n", R])],
        step.constants,
    )
    weights = 0.5 * inverse if name == "chi2" else inverse
    rows = graph.add("Shape", X, start=0, end=1)
    shape = graph.add("Concat", rows, graph.constant([R], np.int64), axis=0)
    start = graph.add("ConstantOfShape", shape, value=numpy_helper.from_array(np.zeros(1)))
    columns = graph.add("Transpose", X, perm=[1, 0])
    return graph.add(
        "Scan",
        start,
        columns,
        graph.constant(P.T),
        graph.constant(weights),
        body=body,
        num_scan_inputs=3,
    )


# -------------------------------------------------------------------------------------- encodings


def _mark_noise(graph: Graph, noise: Density, X: str, labels: str, output: str) -> str:
    """Return the labels with -1 where the density is below its floor."""
    points: Any = noise.points
    points = points if isinstance(points, np.ndarray) else points.toarray()
    rows = _cosine_rows(graph, X) if noise.by_angle else X
    values = _kernel_values(graph, RBF(noise.bandwidth), rows, points.astype(np.float64))
    density = graph.add("MatMul", values, graph.constant(noise.mass))
    sparse = graph.add("Less", density, graph.constant(noise.floor))
    return graph.add("Where", sparse, graph.constant(NOISE, np.int64), labels, output=output)


def _names(graph: Graph, classes: Any, labels: str) -> int:
    """Add the names of the clusters as output; returns their type: texts or whole numbers."""
    # The last one is that of -1, which ONNX counts from the end, as NumPy does.
    names = named(np.append(np.arange(len(classes)), NOISE), classes)
    whole = names.dtype.kind in "iu"
    table = graph.constant(names, np.int64 if whole else object)
    graph.add("Gather", table, labels, output="labels", axis=0)
    return int(TensorProto.INT64 if whole else TensorProto.STRING)


def _labels(graph: Graph, encoding: Encoding, scores: str, labels: str) -> None:
    """Add the output ``labels``: the nearest prototype, ties to the first."""
    if isinstance(encoding, Sides):
        side = graph.constant(np.sign(encoding.prototypes[0]))
        other = graph.add("Less", graph.add("Mul", scores, side), graph.constant(0.0))
        flat = graph.add("Squeeze", other, graph.constant([1], np.int64))
        graph.add("Cast", flat, output=labels, to=TensorProto.INT64)
        return
    distances = _distances(graph, encoding, scores)
    graph.add("ArgMin", distances, output=labels, axis=1, keepdims=0)


def _distances(graph: Graph, encoding: Encoding, scores: str) -> str:
    """Distances to the prototypes, shape (n, K), or what has the same order."""
    prototypes = graph.constant(encoding.prototypes.T)
    if isinstance(encoding, Means):
        return graph.add("Abs", graph.add("Sub", scores, prototypes))
    if isinstance(encoding, SignCodes):
        positive = graph.add("Greater", scores, graph.constant(0.0))
        signs = graph.add("Where", positive, graph.constant(1.0), graph.constant(-1.0))
        return graph.add("Neg", graph.add("MatMul", signs, prototypes))
    if isinstance(encoding, AngularDirections):
        scores = graph.add("Sub", scores, graph.constant(encoding.bias))
        two = graph.constant(2.0)
        cosine = graph.add("MatMul", graph.unit_rows(scores), prototypes)
        chord = graph.add("Sub", two, graph.add("Mul", two, cosine))
        return graph.add("Sqrt", graph.add("Max", chord, graph.constant(0.0)))
    if not isinstance(encoding, Directions):
        raise ValueError(f"A model with {type(encoding).__name__} has no ONNX form yet.")
    cosine = graph.add("MatMul", graph.unit_rows(scores), prototypes)
    return graph.add("Max", graph.add("Sub", graph.constant(1.0), cosine), graph.constant(0.0))
