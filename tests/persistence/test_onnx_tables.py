"""A graph that begins with the columns of a table says what the model says of the table."""

import numpy as np
import pandas as pd
import pytest

from sparseksc import KernelSpectralClustering, load
from sparseksc.data.files import locate
from sparseksc.data.formats.base import Request
from sparseksc.preprocessing import TableEncoder
from sparseksc.preprocessing.stream import EncodedStream, TableFiles, fit_to_files

pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
pytest.importorskip("pyarrow", reason="tables need pyarrow")


def table(n=400, seed=0):
    rng = np.random.default_rng(seed)
    group = np.arange(n) % 3
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n) + 4.0 * group,
            "mass": rng.normal(size=n) - 2.0 * group,
            "colour": np.array(["red", "green", "blue"])[group],
            "kind": np.where(rng.random(n) < 0.02, "rare", rng.choice(["a", "b"], n)),
            "flag": rng.random(n) < 0.5,
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D"),
        }
    )
    frame.loc[rng.random(n) < 0.1, ["size", "colour"]] = None
    frame.loc[rng.random(n) < 0.003, "kind"] = "never before" if seed else "b"
    return frame


def fitted(folder, missing="impute", **parameters):
    table().to_parquet(folder / "table.parquet")
    files = TableFiles(*locate([str(folder / "table.parquet")], Request()))
    encoder = fit_to_files(TableEncoder(scale=False, missing=missing), files)
    model = KernelSpectralClustering(3, scale=True, random_state=0, **parameters)
    return model.fit(EncodedStream(files, encoder))


def run(path, frame):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    feed = {}
    for one in session.get_inputs():
        column = frame[one.name]
        if one.type == "tensor(string)":
            values = column.astype(object).where(column.notna(), "").to_numpy(dtype=object)
        elif column.dtype.kind == "M":
            values = (column - pd.Timestamp(0)).dt.total_seconds().to_numpy() / 86_400
        else:
            values = column.to_numpy(dtype=np.float64)
        feed[one.name] = values[:, None]
    return session.run(["labels", "scores"], feed)


@pytest.mark.parametrize(
    "parameters",
    [{"kernel": "landmarks"}, {"bandwidth": 4.0}, {"bandwidth": 4.0, "noise": 0.05}],
)
def test_labels_and_scores_are_those_of_the_model(parameters, tmp_path):
    model = fitted(tmp_path, **parameters)
    model.to_onnx(tmp_path / "model.onnx")
    new = table(900, seed=1)
    labels, scores = run(tmp_path / "model.onnx", new)
    np.testing.assert_array_equal(labels, model.predict(new))
    np.testing.assert_allclose(scores, model.transform(new), atol=1e-6)


def test_a_model_that_was_loaded_has_the_same_graph(tmp_path):
    model = fitted(tmp_path, bandwidth=4.0)
    model.save(tmp_path / "model.ksc")
    model.to_onnx(tmp_path / "before.onnx")
    load(tmp_path / "model.ksc").to_onnx(tmp_path / "after.onnx")
    assert (tmp_path / "before.onnx").read_bytes() == (tmp_path / "after.onnx").read_bytes()


@pytest.mark.parametrize("missing", ["drop", "error"])
def test_rows_with_missing_values_have_no_label_where_nothing_fills_them(missing, tmp_path):
    if missing == "error":
        table().dropna().to_parquet(tmp_path / "table.parquet")
        files = TableFiles(*locate([str(tmp_path / "table.parquet")], Request()))
        encoder = fit_to_files(TableEncoder(scale=False, missing=missing), files)
        model = KernelSpectralClustering(3, scale=True, bandwidth=4.0, random_state=0)
        model.fit(EncodedStream(files, encoder))
    else:
        model = fitted(tmp_path, missing, bandwidth=4.0)
    model.to_onnx(tmp_path / "model.onnx")
    new = table(300, seed=1)
    labels, _ = run(tmp_path / "model.onnx", new)
    complete = new[["size", "colour"]].notna().all(axis=1).to_numpy()
    np.testing.assert_array_equal(labels[~complete], -1)
    np.testing.assert_array_equal(labels[complete], model.predict(new[complete]))
