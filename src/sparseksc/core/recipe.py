"""The recipe of a training: what the user chose, checked, and nothing of the data."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sparseksc._typing import Bandwidth
from sparseksc.kernels import Kernel, Landmarks
from sparseksc.kernels.landmarks import AUTO_NEIGHBORS, suited_neighbors

#: Points whose scores the prototypes of the clusters are found in.
ENCODING_SIZE = 20_000


@dataclass(frozen=True)
class Recipe:
    """How to train: the choices of the user, checked.

    ``icd_kernel`` selects the pivots and gives the eigenvectors, ``kernel`` the scores; it is the
    same unless two bandwidths were asked for (``two_bandwidths``). With ``auto_neighbors``, that of
    landmarks depends on how many of them there are for each cluster; ``given_neighbors`` are those
    of the user, which are not lowered where there are too few landmarks.
    """

    kernel: Kernel
    icd_kernel: Kernel
    max_rank: int
    tol: float
    pivoting: str
    selection_size: int | None
    encoding: str
    seed: int
    n_jobs: int | None
    two_bandwidths: bool = False
    auto_neighbors: bool = False
    given_neighbors: bool = False

    @property
    def sample_size(self) -> int | None:
        """Rows of the sample in which pivots are selected and prototypes found."""
        return None if self.selection_size is None else max(self.selection_size, ENCODING_SIZE)

    def without_threads(self) -> Recipe:
        """Return what decides the result, which the number of threads does not."""
        return replace(self, n_jobs=None)

    def with_bandwidth(self, bandwidth: Bandwidth | None) -> Recipe:
        """Return the same recipe at another bandwidth of the scores."""
        if bandwidth is None:
            return self
        kernel = self.kernel.with_bandwidth(bandwidth)
        return replace(
            self, kernel=kernel, icd_kernel=self.icd_kernel if self.two_bandwidths else kernel
        )

    def with_landmarks(self, max_rank: int, n_neighbors: int | None = None) -> Recipe:
        """Return the same recipe with other landmarks, for a recipe that has any."""
        kernel = self.kernel
        assert isinstance(kernel, Landmarks)
        if n_neighbors is not None:
            kernel = replace(kernel, n_neighbors=n_neighbors)
        return replace(self, kernel=kernel, icd_kernel=kernel, max_rank=max_rank)

    def suited_to(self, R: int, n_clusters: int) -> Recipe:
        """Return the recipe for so many landmarks and clusters."""
        if not self.auto_neighbors:
            return self
        return self.with_landmarks(self.max_rank, suited_neighbors(R, n_clusters))

    @property
    def regularised(self) -> bool:
        """Whether all landmarks share some of the weights: where "auto" is many neighbours."""
        kernel = self.kernel
        many = isinstance(kernel, Landmarks) and kernel.n_neighbors > AUTO_NEIGHBORS
        return self.auto_neighbors and many
