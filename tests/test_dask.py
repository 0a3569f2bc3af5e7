"""A real Dask cluster of separate processes gives the bits of a local run."""

import os
import signal
import threading
import time

import numpy as np
import pytest

from sparseksc import KernelSpectralClustering
from sparseksc.datasets import make_spirals
from sparseksc.sources import BLOCK_ROWS, IterableSource

da = pytest.importorskip("dask.array", reason="needs dask")
dd = pytest.importorskip("dask.dataframe", reason="needs dask's data frames")
distributed = pytest.importorskip("distributed", reason="needs dask.distributed")
pd = pytest.importorskip("pandas")

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
    for method in (ksc.predict, ksc.transform, ksc.membership, ksc.outliers):
        result = method(lazy)
        assert isinstance(result, da.Array)
        np.testing.assert_array_equal(result.compute(), method(X))


def test_data_frames_and_chunks_of_unknown_size_work(client, X):
    frame = dd.from_pandas(pd.DataFrame(X, columns=["a", "b"]), npartitions=5)
    ksc = make().fit(frame)
    assert list(ksc.feature_names_in_) == ["a", "b"]
    unknown = make().fit(frame.to_dask_array())
    assert ksc.coef_.tobytes() == unknown.coef_.tobytes()


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
