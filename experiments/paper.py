"""Every number that the paper prints about its experiments.

`tests/test_paper.py` compares them with the LaTeX source of arXiv:2310.13381 where it is at hand.
"""

from __future__ import annotations

from typing import NamedTuple

TITLE = (
    "M. Novak, R. Langone, C. Alzate, J. Suykens, *Accelerated sparse Kernel Spectral Clustering "
    "for large scale data clustering problems*, "
    "[arXiv:2310.13381](https://arxiv.org/abs/2310.13381)"
)


class FixedRank(NamedTuple):
    """A row of table 1: spirals, proposed algorithm, rank as in the original publication."""

    rank: int
    training_s: float
    test_s: float
    ari: float
    spread: float = 0.0


#: Table 1, by the number of training points.
TABLE_1 = {
    1_000: FixedRank(168, 0.026, 0.332, 0.036, 0.039),
    2_000: FixedRank(185, 0.042, 0.369, 0.903, 0.291),
    3_000: FixedRank(195, 0.059, 0.383, 1.0),
    5_000: FixedRank(210, 0.093, 0.419, 1.0),
    10_000: FixedRank(223, 0.174, 0.442, 1.0),
    20_000: FixedRank(231, 0.347, 0.456, 1.0),
    50_000: FixedRank(242, 0.976, 0.479, 1.0),
    100_000: FixedRank(261, 2.428, 0.514, 1.0),
}


class LeastRank(NamedTuple):
    """A row of table 2: spirals, least rank for an ARI of 1 and its sparsity in per cent."""

    original: int
    original_sparsity: float
    proposed: int
    proposed_sparsity: float
    training_s: float
    test_s: float


#: Table 2, by the number of training points.
TABLE_2 = {
    3_000: LeastRank(270, 91.00, 180, 94.00, 0.052, 0.356),
    5_000: LeastRank(252, 94.96, 138, 97.24, 0.056, 0.275),
    10_000: LeastRank(251, 97.49, 121, 98.79, 0.074, 0.243),
    20_000: LeastRank(246, 98.77, 115, 99.42, 0.155, 0.232),
    50_000: LeastRank(244, 99.51, 115, 99.77, 0.411, 0.233),
    100_000: LeastRank(244, 99.76, 115, 99.88, 0.869, 0.193),
}


class ImageParameters(NamedTuple):
    """A row of table 3: bandwidth, tolerance, rank and seconds of the ICD; K and σ found."""

    icd_bandwidth: float
    tol: float
    rank: int
    icd_s: float
    n_clusters: int
    bandwidth: float


#: Table 3, by image.
TABLE_3 = {
    "119082": ImageParameters(0.07, 0.600, 196, 0.260, 3, 0.0251),
    "145086": ImageParameters(0.05, 0.600, 119, 0.122, 4, 0.0841),
    "147091": ImageParameters(0.50, 0.030, 116, 0.122, 2, 0.0800),
    "167062": ImageParameters(0.01, 0.900, 98, 0.085, 3, 0.0720),
    "182053": ImageParameters(0.20, 0.010, 179, 0.222, 5, 0.0022),
    "196073": ImageParameters(0.05, 0.800, 169, 0.204, 2, 0.0475),
    "295087": ImageParameters(0.07, 0.032, 196, 0.253, 3, 0.1170),
    "3096": ImageParameters(0.01, 0.800, 142, 0.152, 3, 0.0660),
    "42049": ImageParameters(0.01, 0.850, 138, 0.147, 3, 0.0128),
    "62096": ImageParameters(0.20, 0.120, 192, 0.246, 2, 0.0120),
}


class FMeasures(NamedTuple):
    """A row of table 4: F-measure of three methods, and seconds of the proposed one."""

    nystrom: float
    dense: float
    proposed: float
    training_s: float
    test_s: float


#: Table 4, by image.
TABLE_4 = {
    "119082": FMeasures(0.62, 0.73, 0.77, 0.190, 1.08),
    "145086": FMeasures(0.78, 0.88, 0.88, 0.114, 0.59),
    "147091": FMeasures(0.68, 0.80, 0.80, 0.100, 0.58),
    "167062": FMeasures(0.46, 0.85, 0.89, 0.048, 0.48),
    "182053": FMeasures(0.71, 0.65, 0.71, 0.078, 0.93),
    "196073": FMeasures(0.74, 0.79, 0.75, 0.143, 0.97),
    "295087": FMeasures(0.60, 0.72, 0.74, 0.174, 1.03),
    "3096": FMeasures(0.27, 0.72, 0.78, 0.068, 0.67),
    "42049": FMeasures(0.87, 0.88, 0.90, 0.105, 0.68),
    "62096": FMeasures(0.76, 0.78, 0.82, 0.084, 1.00),
}

#: The spirals: points, features, runs, kernel parameter of each bias, rank of figure 1, and what
#: the text says of the seconds at the largest training set (the original: hours).
N_POINTS, N_FEATURES, RUNS = 100_000, 2, 10
BANDWIDTH, ORIGINAL_BANDWIDTH = 0.006, 0.0102
FIGURE_1_RANK = 115
SECONDS_AT_FIXED_RANK, SECONDS_AT_LEAST_RANK, ORIGINAL_HOURS = 2, 1, 8
#: The images: size, colours and window of the histograms, largest rank.
IMAGE_SHAPE, N_PIXELS, N_COLOURS, WINDOW, MAX_RANK = (321, 481), 154_401, 8, 5, 500
#: Their tuning: numbers of clusters and bandwidths for BAS, numbers of clusters for BLF, training
#: and validation points; training points of dense KSC.
CLUSTERS, BANDWIDTHS, BLF_CLUSTERS = range(3, 11), (0.001, 1.0), (2, 3)
TRAINING_SIZE, VALIDATION_SIZE, DENSE_SIZE = 10_000, 20_000, 2_000
