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

from experiments import paper
from experiments.spirals import Floats, Integers, Kernel
from experiments.tuning import ETA, as_spectrum
from sparseksc import KernelSpectralClustering
from sparseksc.core.encoding import ENCODINGS, TooFewCodeWords
from sparseksc.image import boundaries, boundary_map_f_measure, local_histograms
from sparseksc.image.features import DistinctRows, distinct_rows
from sparseksc.reference import (
    ReferenceModel,
    dense_ksc,
    nystrom_spectral_clustering,
    paper_ksc,
)

SOURCE = "https://www2.eecs.berkeley.edu/Research/Projects/CS/vision/grouping/resources.html"
NYSTROM_SIZE = 200
#: Different histograms among which our route looks for pivots.
SELECTION_SIZE = 2_000
#: Samples among which our route chooses.
SAMPLES = 15
#: How near to the printed F counts as reproduced; an F with a larger standard deviation over the
#: runs depends on the sample.
NEAR = 0.03


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
    """What a model takes from table 3: K, bandwidth and rank of the ICD, σ of the scores."""

    n_clusters: int
    icd_bandwidth: float
    rank: int
    bandwidth: float


def printed(name: str) -> Parameters:
    """Parameters of the paper for an image."""
    row = paper.TABLE_3[name]
    return Parameters(row.n_clusters, row.icd_bandwidth, row.rank, row.bandwidth)


def plain_kernel(bandwidth: float) -> Kernel:
    """scikit-learn's kernel exp(−γ Σ(a−b)²/(a+b)) with γ = 1/(2h), that is exp(−χ²/h)."""
    return partial(chi2_kernel, gamma=0.5 / bandwidth)


def paper_labels(
    picture: Picture, parameters: Parameters, seed: int, encoding: str = "angular"
) -> Integers:
    """The published route: train on 10,000 pixels, label all of them."""
    model = train_paper(picture.sample(paper.TRAINING_SIZE, seed), parameters)
    return label(model, model.transform(picture.histograms), parameters.n_clusters, encoding)


def train_paper(X: Floats, parameters: Parameters) -> ReferenceModel:
    return paper_ksc(
        X,
        parameters.n_clusters,
        plain_kernel(parameters.icd_bandwidth),
        max_rank=parameters.rank,
        reduced_kernel=plain_kernel(parameters.bandwidth),
    )


def label(model: ReferenceModel, scores: Floats, n_clusters: int, encoding: str) -> Integers:
    """Read clusters off the scores: signs for two clusters, directions for more.

    The paper segments its images with the angular encoding (BAS). The authors' program computes no
    bias for it, and says that its prototypes are +1 and -1 for two clusters: the sign of the score
    without the bias. With any other encoding the bias counts.
    """
    if n_clusters == 2:
        zero = model.bias[0] if encoding == "angular" else 0.0
        return (scores[:, 0] > zero).astype(np.int64)
    ones = np.ones(len(model.scores))
    spectrum = as_spectrum(model.eigenvalues, model.coef, model.bias)
    return ENCODINGS[encoding](spectrum, model.scores, ones, ones).labels(scores)


def dense_labels(picture: Picture, parameters: Parameters, seed: int) -> Integers:
    """Dense KSC on 2,000 pixels, with the one bandwidth of the scores."""
    X = picture.sample(paper.DENSE_SIZE, seed)
    model = dense_ksc(X, parameters.n_clusters, plain_kernel(parameters.bandwidth))
    pixels = distinct_rows(picture.histograms)
    scores = model.transform(pixels.rows)
    return label(model, scores, parameters.n_clusters, "direction")[pixels.inverse]


def nystrom_labels(picture: Picture, parameters: Parameters, seed: int) -> Integers:
    """Normalised cuts by the Nyström method on all pixels."""
    return nystrom_spectral_clustering(
        picture.histograms,
        parameters.n_clusters,
        plain_kernel(parameters.bandwidth),
        n_samples=NYSTROM_SIZE,
        random_state=seed,
    ).labels


def all_pixels_labels(picture: Picture, parameters: Parameters, seed: int) -> Integers:
    """Our route with statistics over all pixels, and pivots from a sample of their histograms.

    A histogram is a pivot the sooner, the more pixels have it. Without that rule the pivots are
    the oddest histograms of the sample, and the segments depend on it.
    """
    pixels = distinct_rows(picture.histograms.astype(np.float32))
    model = _estimator(parameters, seed, pivoting="weighted", selection_size=SELECTION_SIZE)
    model.fit(pixels.rows, sample_weight=pixels.weights)
    return _our_label(model, pixels.rows, parameters)[pixels.inverse]


class Candidates(NamedTuple):
    """Labels of the different histograms by several models, and the criterion of each model."""

    pixels: DistinctRows
    labels: list[Integers]
    criteria: list[float]

    def by_criterion(self) -> Integers:
        """Labels of the model with the largest criterion."""
        return self.labels[int(np.argmax(self.criteria))]

    def by_agreement(self) -> Integers:
        """Labels with the largest mean adjusted Rand index with the others."""
        agreement = [
            sum(weighted_ari(one, other, self.pixels.weights) for other in self.labels)
            for one in self.labels
        ]
        return self.labels[int(np.argmax(agreement))]


def our_candidates(
    picture: Picture, parameters: Parameters, seed: int, *, criteria: bool = True
) -> Candidates:
    """Our route on several samples of the size of the paper's, as its result depends on them.

    Pixels with equal histograms count together. The criterion is the paper's, BAS, and BLF for two
    clusters, on as many validation pixels as it has, the same for all samples.
    """
    pixels = distinct_rows(picture.histograms.astype(np.float32))
    valid = picture.sample(paper.VALIDATION_SIZE, seed).astype(np.float32)
    labels, values = [], []
    for sample in np.random.SeedSequence(seed).spawn(SAMPLES):
        rng = np.random.default_rng(sample)
        size = min(paper.TRAINING_SIZE, len(pixels.inverse))
        drawn = np.bincount(
            pixels.inverse[rng.choice(len(pixels.inverse), size, replace=False)],
            minlength=len(pixels.rows),
        ).astype(np.float64)
        present = drawn > 0
        model = _estimator(parameters, seed, selection_size=int(present.sum()))
        try:
            model.fit(pixels.rows[present], sample_weight=drawn[present])
        except TooFewCodeWords:
            continue
        labels.append(_our_label(model, pixels.rows, parameters))
        values.append(model.score(valid) if criteria else 0.0)
    if not labels:
        raise TooFewCodeWords("no sample shows as many clusters")
    return Candidates(pixels, labels, values)


def our_labels(picture: Picture, parameters: Parameters, seed: int) -> Integers:
    """Our route on several samples: the labels that agree most with those of the others."""
    found = our_candidates(picture, parameters, seed, criteria=False)
    return found.by_agreement()[found.pixels.inverse]


def weighted_ari(a: Integers, b: Integers, weights: Floats) -> float:
    """Adjusted Rand index of two labellings of points that count ``weights`` times."""
    table = np.zeros((int(a.max()) + 1, int(b.max()) + 1))
    np.add.at(table, (a, b), weights)

    def pairs(counts: Floats) -> float:
        return float((counts * (counts - 1.0) / 2.0).sum())

    together, rows, columns = pairs(table), pairs(table.sum(axis=1)), pairs(table.sum(axis=0))
    largest = (rows + columns) / 2.0
    if largest == 0.0:  # all points alone, in both labellings
        return 1.0
    expected = rows * columns / pairs(weights.sum(keepdims=True))
    return 1.0 if largest == expected else (together - expected) / (largest - expected)


def _estimator(parameters: Parameters, seed: int, **others: Any) -> KernelSpectralClustering:
    one = parameters.icd_bandwidth == parameters.bandwidth
    return KernelSpectralClustering(
        n_clusters=parameters.n_clusters,
        kernel="chi2",
        bandwidth=parameters.bandwidth,
        icd_bandwidth=None if one else parameters.icd_bandwidth,
        encoding="angular" if parameters.n_clusters > 2 else "auto",
        criterion="bas" if parameters.n_clusters > 2 else "blf",
        balance=ETA,
        max_rank=parameters.rank,
        tol=0.0,
        random_state=seed,
        n_jobs=1,
        **others,
    )


def _our_label(model: KernelSpectralClustering, rows: Floats, parameters: Parameters) -> Integers:
    """Labels by the angular encoding, which takes scores without the bias (see `label`)."""
    if parameters.n_clusters == 2:
        return (model.transform(rows)[:, 0] > model.bias_[0]).astype(np.int64)
    return model.predict(rows)


ROUTES = {
    "paper": paper_labels,
    "ours": our_labels,
    "all_pixels": all_pixels_labels,
    "dense": dense_labels,
    "nystrom": nystrom_labels,
}
