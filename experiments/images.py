"""The ten Berkeley images, and the routes that are compared on them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.io import loadmat
from sklearn.metrics.pairwise import chi2_kernel

from experiments.spirals import Floats, Integers, Kernel
from sparseksc import KernelSpectralClustering
from sparseksc.core.encoding import ENCODINGS
from sparseksc.core.spectrum import Spectrum
from sparseksc.image import boundaries, boundary_map_f_measure, local_histograms
from sparseksc.image.features import distinct_rows
from sparseksc.reference import (
    ReferenceModel,
    dense_ksc,
    nystrom_spectral_clustering,
    paper_ksc,
)

SOURCE = "https://www2.eecs.berkeley.edu/Research/Projects/CS/vision/grouping/resources.html"
TRAINING_SIZE = 10_000
DENSE_SIZE = 2_000
NYSTROM_SIZE = 200
#: Different histograms among which our route looks for pivots.
SELECTION_SIZE = 2_000


def missing(folder: Path) -> str:
    """Say where to get the images if they are not in ``folder``; empty if they are."""
    if any((folder / "images").glob("*.jpg")) and (folder / "groundTruth").is_dir():
        return ""
    return (
        f"There is no BSDS500 in {folder} (images/*.jpg and groundTruth/*.mat). It is at {SOURCE}; "
        "give its place with --data."
    )


class Picture(NamedTuple):
    """An image, its local colour histograms, shape (pixels, levels), and what people drew on it."""

    name: str
    shape: tuple[int, int]
    histograms: Floats
    image: NDArray[np.uint8] | None
    humans: list[NDArray[np.bool_]]

    def f_measure(self, labels: NDArray[Any]) -> float:
        """Agreement of the boundaries of segments with those that people drew."""
        drawn = boundaries(np.asarray(labels).reshape(self.shape))
        return boundary_map_f_measure(drawn, self.humans).f

    def sample(self, size: int, seed: int) -> Floats:
        """Histograms of pixels drawn at random."""
        rng = np.random.default_rng(seed)
        size = min(size, len(self.histograms))
        return self.histograms[rng.choice(len(self.histograms), size, replace=False)]


def read_image(folder: Path, name: str) -> NDArray[np.uint8]:
    from PIL import Image

    with Image.open(folder / "images" / f"{name}.jpg") as image:
        return np.asarray(image.convert("RGB"))


@lru_cache(maxsize=16)
def load(folder: Path, name: str, *, dither: bool = True, quick: bool = False) -> Picture:
    """Read an image and its human segmentations; every fourth pixel for a quick look."""
    image = read_image(folder, name)
    ground_truth = loadmat(folder / "groundTruth" / f"{name}.mat")["groundTruth"][0]
    maps = [human["Segmentation"][0, 0].astype(np.int64) for human in ground_truth]
    if quick:
        image, maps = image[::4, ::4], [one[::4, ::4] for one in maps]
    histograms = local_histograms(image, 8, 5, dither=dither)
    return Picture(
        name,
        (image.shape[0], image.shape[1]),
        histograms.reshape(-1, histograms.shape[2]),
        image,
        [boundaries(one) for one in maps],
    )


@dataclass(frozen=True)
class Parameters:
    """A row of table 3: K, bandwidth and tolerance of the decomposition, bandwidth of the scores.

    ``rank`` bounds the reduced set.
    """

    n_clusters: int
    icd_bandwidth: float
    rank: int
    bandwidth: float
    tol: float = 0.0


def plain_kernel(bandwidth: float) -> Kernel:
    """scikit-learn's kernel exp(−γ Σ(a−b)²/(a+b)) with γ = 1/(2h), that is exp(−χ²/h)."""
    return partial(chi2_kernel, gamma=0.5 / bandwidth)


def paper_labels(picture: Picture, parameters: Parameters, seed: int) -> Integers:
    """The published route: train on 10,000 pixels, label all of them."""
    model = train_paper(picture.sample(TRAINING_SIZE, seed), parameters)
    return label(model, model.transform(picture.histograms), parameters.n_clusters, "angular")


def train_paper(X: Floats, parameters: Parameters) -> ReferenceModel:
    return paper_ksc(
        X,
        parameters.n_clusters,
        plain_kernel(parameters.icd_bandwidth),
        tol=parameters.tol,
        max_rank=parameters.rank,
        reduced_kernel=plain_kernel(parameters.bandwidth),
    )


def label(model: ReferenceModel, scores: Floats, n_clusters: int, encoding: str) -> Integers:
    """Read clusters off the scores: signs for two clusters, directions for more."""
    if n_clusters == 2:
        return (scores[:, 0] > 0).astype(np.int64)
    ones = np.ones(len(model.scores))
    spectrum = Spectrum(
        eigenvalues=model.eigenvalues,
        eigenvectors=model.coef,
        coef=model.coef,
        bias=model.bias,
        center=np.zeros(len(model.coef)),
        omega=1.0,
    )
    return ENCODINGS[encoding](spectrum, model.scores, ones, ones).labels(scores)


def dense_labels(picture: Picture, parameters: Parameters, seed: int) -> Integers:
    """Dense KSC on 2,000 pixels with the bandwidth of the decomposition."""
    X = picture.sample(DENSE_SIZE, seed)
    model = dense_ksc(X, parameters.n_clusters, plain_kernel(parameters.icd_bandwidth))
    pixels = distinct_rows(picture.histograms)
    scores = model.transform(pixels.rows)
    return label(model, scores, parameters.n_clusters, "direction")[pixels.inverse]


def nystrom_labels(picture: Picture, parameters: Parameters, seed: int) -> Integers:
    """Normalised cuts by the Nyström method on all pixels."""
    return nystrom_spectral_clustering(
        picture.histograms,
        parameters.n_clusters,
        plain_kernel(parameters.icd_bandwidth),
        n_samples=NYSTROM_SIZE,
        random_state=seed,
    ).labels


def our_labels(picture: Picture, parameters: Parameters, seed: int) -> Integers:
    """Our route: statistics over all pixels, pivots from a sample of the different histograms.

    A histogram is a pivot the sooner, the more pixels have it. Without that rule the pivots are
    the oddest histograms of the sample, and the segments depend on it.
    """
    pixels = distinct_rows(picture.histograms.astype(np.float32))
    one = parameters.icd_bandwidth == parameters.bandwidth
    model = KernelSpectralClustering(
        n_clusters=parameters.n_clusters,
        kernel="chi2",
        bandwidth=parameters.bandwidth,
        icd_bandwidth=None if one else parameters.icd_bandwidth,
        max_rank=parameters.rank,
        tol=0.0,
        pivoting="weighted",
        selection_size=SELECTION_SIZE,
        random_state=seed,
        n_jobs=1,
    ).fit(pixels.rows, sample_weight=pixels.weights)
    return model.labels_[pixels.inverse]


ROUTES = {
    "paper": paper_labels,
    "ours": our_labels,
    "dense": dense_labels,
    "nystrom": nystrom_labels,
}
