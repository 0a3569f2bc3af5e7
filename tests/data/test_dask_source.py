"""A real Dask cluster of separate processes gives the bits of a local run."""

import os
import re
import signal
import threading
import time

import numpy as np
import pytest

from sparseksc import KernelSpectralClustering, open_dataset
from sparseksc.data.source import BLOCK_ROWS
from sparseksc.data.stream import ChangedSource, IterableSource
from sparseksc.datasets import make_spirals

dask = pytest.importorskip("dask", reason="needs dask")
da = pytest.importorskip("dask.array", reason="needs dask")
dd = pytest.importorskip("dask.dataframe", reason="needs dask's data frames")
distributed = pytest.importorskip("distributed", reason="needs dask.distributed")
DaskSource = pytest.importorskip("sparseksc.data.dask_source").DaskSource
cloudpickle = pytest.importorskip("cloudpickle", reason="comes with distributed")
pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
pq = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")

# Sockets and subprocesses of the cluster are closed by threads of their own, late.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def X():
    return make_spirals(40_000, random_state=0)[0]


def make():
    return KernelSpectralClustering(2, bandwidth=0.006, max_rank=115, random_state=0)


def write_file(path, rows, piece):
    """Store the columns a and b in pieces (row groups, record batches) of a few rows."""
    if path.suffix == ".npy":
        np.save(path, rows)
        return
    table = pa.table({"a": rows[:, 0], "b": rows[:, 1]})
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=piece)
        return
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=piece)


def blocks_of(X, rows):
    return IterableSource([X[start : start + rows] for start in range(0, len(X), rows)])


@pytest.mark.parametrize("rows", [3000, 8192, 40_000])
def test_a_cluster_gives_the_bits_of_a_local_run_with_the_same_blocks(client, X, rows):
    on_cluster = make().fit(da.from_array(X, chunks=(rows, 2)))
    local = make().fit(blocks_of(X, rows))
    assert on_cluster.coef_.tobytes() == local.coef_.tobytes()
    assert on_cluster.bias_.tobytes() == local.bias_.tobytes()
    assert on_cluster.prototypes_.tobytes() == local.prototypes_.tobytes()


def test_the_default_block_gives_the_bits_of_an_array(client):
    X, _ = make_spirals(150_000, random_state=1)
    on_cluster = make().fit(da.from_array(X, chunks=(BLOCK_ROWS, 1)))
    assert on_cluster.coef_.tobytes() == make().fit(X).coef_.tobytes()


def test_labels_scores_and_memberships_come_back_lazily_and_are_those_of_the_array(client, X):
    ksc = make().fit(X)
    lazy = da.from_array(X, chunks=(7000, 2))
    for method in (ksc.predict, ksc.transform, ksc.membership, ksc.predict_proba, ksc.outliers):
        result = method(lazy)
        assert isinstance(result, da.Array)
        np.testing.assert_array_equal(result.compute(), method(X))


def test_data_frames_and_chunks_of_unknown_size_work(client, X):
    frame = dd.from_pandas(pd.DataFrame(X, columns=["a", "b"]), npartitions=5)
    ksc = make().fit(frame)
    assert list(ksc.feature_names_in_) == ["a", "b"]
    unknown = make().fit(frame.to_dask_array())
    assert ksc.coef_.tobytes() == unknown.coef_.tobytes()


@pytest.fixture(scope="module")
def folder(X, tmp_path_factory):
    """Parquet files of different lengths, one without rows, with columns of many types."""
    folder = tmp_path_factory.mktemp("files")
    for number, rows in enumerate(np.split(X, [9000, 9000, 11_000, 30_001])):
        columns = {"a": rows[:, 0], "b": rows[:, 1], "place": np.arange(len(rows)) / 10}
        frame = pd.DataFrame(columns | {"time": pd.Timestamp("2026-01-01"), "word": "of text"})
        frame["colour"] = pd.Categorical(np.where(frame["a"] > 0, "red", "blue"))
        frame.to_parquet(folder / f"{number}.parquet", row_group_size=4321)
    return folder


def frame_of(folder, *columns):
    return dd.read_parquet(folder / "*.parquet", columns=list(columns))


def test_a_frame_of_several_files_has_a_block_for_each_of_its_partitions(client, X, folder):
    frame = frame_of(folder, "a", "b")
    assert frame.to_dask_array().npartitions < frame.npartitions  # Dask would join some
    ksc, local = make().fit(frame), make().fit(open_dataset(np.split(X, [9000, 11_000, 30_001])))
    assert ksc.coef_.tobytes() == local.coef_.tobytes()
    assert list(ksc.feature_names_in_) == ["a", "b"]
    assert ksc.labels_.chunks == ((9000, 0, 2000, 19_001, 9999),)
    assert ksc.predict(frame).chunks == ksc.labels_.chunks


def test_a_source_says_what_it_is(client, X, folder):
    assert repr(DaskSource(frame_of(folder, "a", "b"))) == (
        "<DaskSource: 5 blocks of a Dask array, 40,000 rows, 2 columns (a, b), float64>"
    )


def test_labels_of_a_fit_are_lazy_and_fit_beside_the_frame(client, X, folder, tmp_path):
    frame = frame_of(folder, "a", "b", "word")
    ksc = make().set_params(scale=True).fit(frame[["a", "b"]])
    assert isinstance(ksc.labels_, da.Array)
    frame.assign(cluster=ksc.labels_).to_parquet(tmp_path / "labelled")
    found = pd.read_parquet(tmp_path / "labelled")
    assert list(found.columns) == ["a", "b", "word", "cluster"]
    np.testing.assert_array_equal(found[["a", "b"]], X)
    np.testing.assert_array_equal(found["cluster"], ksc.predict(found[["a", "b"]]))
    lazy = make().set_params(scale=True).fit_predict(frame[["a", "b"]])
    np.testing.assert_array_equal(lazy.compute(), found["cluster"])


def test_labels_after_a_run_with_a_checkpoint_are_lazy_too(client, X, tmp_path):
    ksc = make().fit(da.from_array(X, chunks=(9000, 2)), checkpoint=tmp_path / "run.ckpt")
    assert isinstance(ksc.labels_, da.Array)
    np.testing.assert_array_equal(ksc.labels_.compute(), make().fit(X).labels_)


@pytest.mark.parametrize(
    "change",
    [
        lambda frame: frame[frame["place"] > 100.0],  # leaves two partitions empty
        lambda frame: frame.repartition(npartitions=2),
        lambda frame: frame.astype({"a": "Float64", "b": "float64[pyarrow]"}),
    ],
)
def test_frames_that_were_changed(client, folder, change):
    frame = change(frame_of(folder, "a", "b", "place"))[["a", "b"]]
    ksc = make().fit(frame)
    rows = frame.compute()
    assert ksc.n_samples_seen_ == len(rows)
    np.testing.assert_array_equal(ksc.labels_.compute(), ksc.predict(rows))


def test_columns_of_float32_stay_so(client, folder):
    ksc = make().fit(frame_of(folder, "a", "b").astype({"a": "float32", "b": "float32[pyarrow]"}))
    assert ksc.reduced_set_.dtype == np.float32


def test_a_column_without_numbers_is_named_with_a_remedy_that_works(client, X, folder):
    frame = frame_of(folder, "a", "colour")
    with pytest.raises(ValueError, match=r"The column 'colour' .* is categorical") as no:
        make().fit(frame)
    (drop,) = re.findall(r"frame\.drop\(.*?\)", str(no.value))
    (dummies,) = re.findall(r"dask\.dataframe\.get_dummies\(.*\)", str(no.value))
    names = {"frame": frame, "dask": dask}
    assert list(eval(drop, names).columns) == ["a"]
    ksc = make().fit(eval(dummies, names))
    assert list(ksc.feature_names_in_) == ["a", "colour_blue", "colour_red"]
    with pytest.raises(ValueError, match=r"'word' .* of the type str"):
        make().fit(frame_of(folder, "a", "word"))
    with pytest.raises(ValueError, match=r"'time' .* of the type datetime64"):
        make().fit(frame_of(folder, "a", "time"))
    with pytest.raises(ValueError, match="no columns"):
        make().fit(frame[[]])
    with pytest.raises(ValueError, match="two dimensions"):
        make().fit(frame["a"])


def test_a_missing_number_of_a_frame_is_named(client, folder):
    def with_a_gap(part):
        part = part.astype({"b": "Float64"})
        part.loc[part["place"] == 1900.0, "b"] = pd.NA  # in the last but one file
        return part

    frame = frame_of(folder, "a", "b", "place").map_partitions(with_a_gap)[["a", "b"]]
    with pytest.raises(ValueError, match="Row 30,000 has the value nan in column 'b'"):
        make().fit(frame)


def test_a_partition_that_is_not_as_declared_is_named(client):
    parts = [pd.DataFrame({"a": [0.5, 1.0]}), pd.DataFrame({"a": ["x", "y"]})]
    frame = dd.from_map(lambda part: part, parts, meta=parts[0])
    with pytest.raises(ValueError, match="values in the column 'a', which was declared"):
        make().fit(frame)


@pytest.mark.parametrize("ending", ["parquet", "arrow", "npy"])
def test_files_that_the_workers_read_give_the_bits_of_a_local_run(client, X, tmp_path, ending):
    # Three files of odd lengths, with row groups that fit neither the files nor the blocks.
    for number, rows in enumerate(np.split(X, [11_111, 25_000])):
        write_file(tmp_path / f"{number}.{ending}", rows, piece=4321)
    data = open_dataset(tmp_path, block_rows=6000)
    on_cluster, local = make().fit(data.to_dask()), make().fit(data)
    assert on_cluster.coef_.tobytes() == local.coef_.tobytes()
    assert on_cluster.prototypes_.tobytes() == local.prototypes_.tobytes()
    labels = on_cluster.predict(data.to_dask())
    assert isinstance(labels, da.Array)
    np.testing.assert_array_equal(labels.compute(), local.predict(data))
    if ending != "npy":
        assert list(on_cluster.feature_names_in_) == ["a", "b"]


@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
def test_csv_files_are_cut_by_dask(client, X, tmp_path, ending):
    frame = pd.DataFrame({"name": "no number", "b": X[:, 1], "a": X[:, 0]})
    frame[:15_000].to_csv(tmp_path / f"0.{ending}", index=False)
    frame[15_000:].to_csv(tmp_path / f"1.{ending}", index=False)
    data = open_dataset(tmp_path, columns=["a", "b"])
    np.testing.assert_array_equal(np.concatenate([rows for rows, _ in data.blocks()]), X)
    on_cluster = make().fit(data.to_dask())
    assert list(on_cluster.feature_names_in_) == ["a", "b"]
    np.testing.assert_array_equal(
        on_cluster.predict(data.to_dask()).compute(), make().fit(X).labels_
    )


def test_a_list_of_arrays_goes_to_the_cluster_and_a_generator_cannot(client, X):
    blocks = [X[:9000], X[9000:11_000], X[11_000:]]
    on_cluster = make().fit(open_dataset(blocks).to_dask())
    assert on_cluster.coef_.tobytes() == make().fit(open_dataset(blocks)).coef_.tobytes()
    with pytest.raises(ValueError, match="only be read from its beginning"):
        IterableSource(lambda: iter(blocks)).to_dask()


def test_a_file_that_changes_under_the_cluster_is_noticed(client, X, tmp_path):
    np.save(tmp_path / "points.npy", X)
    source = open_dataset(tmp_path / "points.npy").to_dask()
    np.save(tmp_path / "points.npy", X[::-1])
    with pytest.raises(ChangedSource, match="changed while it was in use"):
        make().fit(source)


def test_what_travels_to_the_workers_does_not_grow_with_the_training_data(X):
    ksc = make().fit(X)
    for method in (ksc.predict, ksc.transform, ksc.membership):
        lazy = method(da.from_array(np.zeros((10, 2)), chunks=(5, 2)))
        assert len(cloudpickle.dumps(lazy.dask)) < 100_000  # the labels alone have 320,000 bytes


def test_labels_of_the_training_data_and_its_score(client, X):
    array, local = da.from_array(X, chunks=(BLOCK_ROWS, -1)), make().fit(X)
    np.testing.assert_array_equal(make().fit_predict(array), local.labels_)
    assert local.score(array) == pytest.approx(local.score(X))
    assert local.score(open_dataset([X])) == local.score(X)
    np.testing.assert_array_equal(make().fit_predict(open_dataset([X])), local.labels_)


def test_a_collection_without_rows_is_refused(client, X):
    array = da.from_array(X, chunks=(10_000, -1))
    for empty in (array[:0], array[array[:, 0] > 1e9]):
        with pytest.raises(ValueError, match="no rows"):
            make().fit(empty)


def test_bad_values_are_named_by_their_row(client, X):
    bad = X.copy()
    bad[12_345, 1] = np.nan
    with pytest.raises(ValueError, match="Row 12,345 has the value nan"):
        make().fit(da.from_array(bad, chunks=(5000, 2)))


def test_killing_a_worker_in_the_middle_of_a_fit_loses_nothing(client):
    X, _ = make_spirals(300_000, random_state=2)
    lazy = da.from_array(X, chunks=(10_000, 2))
    expected = make().fit(blocks_of(X, 10_000))
    killed = []

    def kill_one():
        time.sleep(0.5)
        pids = list(client.run(os.getpid).values())
        os.kill(pids[0], signal.SIGKILL)
        killed.append(pids[0])

    killer = threading.Thread(target=kill_one)
    killer.start()
    found = make().fit(lazy)
    killer.join()
    assert killed
    assert found.coef_.tobytes() == expected.coef_.tobytes()


def test_partitions_by_their_size_do_not_wait_for_themselves(client, X, tmp_path):
    for number, part in enumerate(np.array_split(X, 4)):
        pd.DataFrame(part, columns=["a", "b"]).to_parquet(tmp_path / f"{number}.parquet")
    frame = dd.read_parquet(str(tmp_path / "*.parquet")).repartition(partition_size="100kB")
    model = make().fit(frame)
    assert len(model.labels_.chunks[0]) > 4
    np.testing.assert_array_equal(model.labels_.compute(), make().fit(X).labels_)
