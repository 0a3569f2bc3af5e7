"""The table of parameters: default, domain and a line of help of each, in one place.

The estimator checks its parameters against this table, model files store the ones that belong to
the model, and the command line takes defaults, names and help from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sparseksc.config.domains import (
    Arguments,
    Bandwidths,
    Clusters,
    Domain,
    Flag,
    Fraction,
    Integer,
    OneOf,
    Seed,
    Share,
    Size,
)


@dataclass(frozen=True)
class Parameter:
    """A parameter of :class:`~sparseksc.KernelSpectralClustering`.

    Attributes
    ----------
    default : object
    domain : Domain
    help : str
        One line, as the command line shows it.
    of_model : bool
        Whether it decides which model comes out, and not only how it is computed.
    stored : bool
        Whether model files hold it.
    """

    default: Any
    domain: Domain
    help: str
    of_model: bool = True
    stored: bool = True


#: What "auto" stands for: numbers of clusters to compare; most pivots; points that pivots are
#: selected in, enough to cover a shape evenly, and at least so many for each pivot; landmarks.
AUTO_N_CLUSTERS, AUTO_RANK, AUTO_SELECTION, POINTS_PER_PIVOT = range(2, 11), 200, 2000, 10
AUTO_LANDMARKS = 2000

PARAMETERS: dict[str, Parameter] = {
    "n_clusters": Parameter(
        "auto", Clusters(AUTO_N_CLUSTERS), "Clusters: a number, 2..10, 2,4,8 or auto."
    ),
    "kernel": Parameter(
        "auto",
        OneOf(
            (
                "auto",
                "rbf",
                "laplacian",
                "chi2",
                "cosine",
                "linear",
                "polynomial",
                "landmarks",
                "precomputed",
            ),
            or_function=True,
        ),
        "Similarity of two rows; auto lets rbf and landmarks compete.",
    ),
    "bandwidth": Parameter(
        "auto",
        Bandwidths(several=True),
        "Bandwidth of the kernel (1/gamma for rbf): a number, candidates 0.1,1,10 or auto.",
    ),
    "icd_bandwidth": Parameter(
        None, Bandwidths(several=False), "Bandwidth of the incomplete Cholesky decomposition."
    ),
    "kernel_params": Parameter(None, Arguments(), "Further arguments of the kernel."),
    "n_neighbors": Parameter(
        "auto",
        Integer(1, ("auto",), " (or 'auto')"),
        "Nearest landmarks that describe a row, for the kernel landmarks; auto is 6 to 16.",
    ),
    "metric": Parameter(
        "euclidean",
        OneOf(("euclidean", "cosine", "haversine", "jaccard")),
        "Distance between rows and landmarks; haversine is of latitude and longitude in degrees, "
        "jaccard of sets (0 and 1).",
    ),
    "scale": Parameter(False, Flag(), "Standardise the columns; kept in the model."),
    "max_rank": Parameter(
        "auto",
        Integer(1, ("auto",), " (or 'auto')"),
        "Most pivots or landmarks; auto is 200 or, of landmarks, 2,000, or more for more clusters.",
    ),
    "tol": Parameter(
        1e-3, Fraction(), "Share of the kernel matrix that the pivots may leave unrepresented."
    ),
    "pivoting": Parameter(
        "greedy",
        OneOf(("greedy", "weighted", "block", "random", "uniform", "renyi")),
        "How pivots are selected.",
    ),
    "selection_size": Parameter(
        "auto",
        Integer(1, ("auto", None), " ('auto', or None for all)"),
        "Rows that pivots are selected in.",
    ),
    "encoding": Parameter(
        "auto",
        OneOf(("auto", "sign", "direction", "angular", "qr")),
        "How clusters are read off the scores.",
    ),
    "criterion": Parameter(
        "auto", OneOf(("auto", "ams", "blf", "bas")), "Criterion of the model selection."
    ),
    "balance": Parameter(0.1, Fraction(), "Weight of the balance of cluster sizes."),
    "outlier_threshold": Parameter(
        1, Integer(0), "Clusters of at most this many points add nothing to the criterion."
    ),
    "noise": Parameter(
        None,
        Share(),
        "Share of the rows of least density that are in no cluster, -1; or auto.",
    ),
    "random_state": Parameter(
        None, Seed(), "Seed; the same seed gives the same result.", of_model=False
    ),
    "n_jobs": Parameter(
        None,
        Integer(1, (None, -1), " (or -1 or None for all cores)"),
        "Threads, all cores by default; the result is the same.",
        of_model=False,
        stored=False,
    ),
    "memory_limit": Parameter(
        None,
        Size(),
        "Such as 2GB; half of the free memory by default.",
        of_model=False,
        stored=False,
    ),
    "verbose": Parameter(
        0, Integer(0), "Print what the search does.", of_model=False, stored=False
    ),
}

#: Parameters that say how to compute, not what.
NON_MODEL_PARAMETERS = {name for name, one in PARAMETERS.items() if not one.of_model}
