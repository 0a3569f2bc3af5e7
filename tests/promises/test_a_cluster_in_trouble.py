"""A Dask cluster in trouble gives the bits of a local run, or a sentence."""

import os
import signal
import threading
import time

import numpy as np
import pytest

import sparseksc
from sparseksc import KernelSpectralClustering
from sparseksc.data.stream import IterableSource
from sparseksc.datasets import make_spirals

da = pytest.importorskip("dask.array", reason="needs dask")
distributed = pytest.importorskip("distributed", reason="needs dask.distributed")

from sparseksc.data.dask_source import DaskSource  # noqa: E402 - after the check for dask
from sparseksc.execution.dask import ClusterError  # noqa: E402

# Sockets and subprocesses of the cluster are closed by threads of their own, late.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

ROWS = 4000


def make():
    return KernelSpectralClustering(2, bandwidth=0.006, max_rank=115, random_state=0)


def start(**options):
    return distributed.LocalCluster(
        threads_per_worker=1, processes=True, dashboard_address=":0", **options
    )


@pytest.fixture
def client():
    # One for each test: it may be left with a worker less, which nobody waits for.
    with start(n_workers=2) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def X():
    return make_spirals(40_000, random_state=0)[0]


def wait_until(condition, seconds=60.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)


def pids(client):
    nannies = client.cluster.workers.values()
    return [nanny.process.process.pid for nanny in nannies if nanny.process is not None]


class Dying(DaskSource):
    """Kills a worker shortly after the pass of a given number has begun."""

    def __init__(self, collection, client, number):
        super().__init__(collection)
        self.client, self.number, self.passes, self.killed = client, number, 0, []

    def _begin(self):
        self.passes += 1
        if self.passes == self.number:
            pid = pids(self.client)[0]

            def kill():
                time.sleep(0.05)
                os.kill(pid, signal.SIGKILL)
                self.killed.append(pid)

            threading.Thread(target=kill).start()

    def sum(self, *arguments):
        self._begin()
        return super().sum(*arguments)

    def sample(self, *arguments):
        self._begin()
        return super().sample(*arguments)


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_a_worker_killed_in_any_pass_changes_no_bit(client, X, number):
    expected = make().fit(IterableSource([X[i : i + ROWS] for i in range(0, len(X), ROWS)]))
    source = Dying(da.from_array(X, chunks=(ROWS, 2)), client, number)
    found = make().fit(source)
    assert source.passes >= number
    for name in ("coef_", "bias_", "prototypes_", "cluster_sizes_"):
        assert getattr(found, name).tobytes() == getattr(expected, name).tobytes()
    wait_until(lambda: source.killed)


def too_much_memory(block):
    os.kill(os.getpid(), signal.SIGKILL)  # as the system does to who takes too much


def test_workers_that_die_on_the_same_block_again_and_again_end_in_a_sentence(X):
    import dask

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        start(n_workers=1) as cluster,
        distributed.Client(cluster),
    ):
        poisoned = da.from_array(X, chunks=(ROWS, 2)).map_blocks(too_much_memory, meta=X[:0])
        with pytest.raises(ClusterError, match=r"died several times .* use smaller blocks"):
            make().fit(poisoned)


def slow(block):
    time.sleep(0.5)
    return block


def test_a_cluster_that_is_shut_down_in_the_middle_ends_in_a_sentence(X):
    with start(n_workers=1) as cluster, distributed.Client(cluster) as client:
        lazy = da.from_array(X, chunks=(ROWS, 2)).map_blocks(slow, meta=X[:0])
        stopper = threading.Timer(1.5, client.shutdown)
        stopper.start()
        with pytest.raises(ClusterError, match="stopped before the sums were complete"):
            make().fit(lazy)
        stopper.join()


def pretend(version):
    from sparseksc import _version

    _version.__version__ = version


def test_workers_with_another_version_are_refused(client, X):
    client.wait_for_workers(2, timeout=60)
    client.run(pretend, "0.0.other")
    try:
        with pytest.raises(ClusterError, match=r"has sparseksc 0\.0\.other, and this process has"):
            make().fit(da.from_array(X, chunks=(ROWS, 2)))
    finally:
        client.run(pretend, sparseksc.__version__)


def test_without_a_cluster_nothing_is_asked(X):
    found = make().fit(da.from_array(X[:8000], chunks=(ROWS, 2)))
    expected = make().fit(IterableSource([X[:ROWS], X[ROWS:8000]]))
    assert np.array_equal(found.coef_, expected.coef_)
