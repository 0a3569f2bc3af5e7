"""Every number that the search was given, with its meaning and where it comes from.

Provenance: *battery* means chosen on the 31 labelled sets of ``benchmarks/battery.py``, none of
which was held out (``benchmarks/quality_parts.py`` shows what each part of the quality gains
there); *shapes* means chosen on synthetic spirals, rings, strips, lines and Gaussians; *cost* means
a compromise between time and accuracy, to which the answer is not sensitive; *rounding* means a
bound of floating point numbers. Drawn sets and blobs are others than those of
``benchmarks/drawn_sets.py``, on which nothing was chosen.
"""

from __future__ import annotations

import numpy as np

# ------------------------------------------------------------------------------------ samples

#: Points that models are trained on, and evaluated on by the criteria of the literature (cost).
TRAINING_SIZE, VALIDATION_SIZE = 10_000, 20_000
#: Points that the quality is computed of, and that prototypes are found in (cost).
GRAPH_SIZE = 5_000
#: Entries up to which a sample of sparse data is made dense (cost).
DENSE_SIZE = 10_000_000

# ------------------------------------------------------------------------- candidate bandwidths

#: Points that distances are measured between, and from (cost).
SAMPLE_SIZE = 2000
SAMPLE_CENTRES = SAMPLE_SIZE // 4
#: Most candidates between the distance of neighbours and the spread, the least ratio of two of
#: them, and candidates beyond the spread, each twice as wide (battery).
N_NARROW, MIN_BANDWIDTH_RATIO, N_WIDE = 36, 1.22, 4
#: The smallest number whose inverse is one, and the error of a squared distance as a share of the
#: squares that it is computed from (rounding).
SMALLEST, ROUNDING = 1.0 / np.finfo(np.float64).max, 1e-12
#: Bandwidths around so many of the best models of a grid are added, in two rounds (battery).
N_REFINED = (3, 2)

# -------------------------------------------------------------------------------------- graph

#: Neighbours of a point, and the least number of points for each of them (battery).
N_NEIGHBOURS, POINTS_PER_NEIGHBOUR = 10, 10
#: Share of an average point that is added to a conductance before conductances are compared, so
#: that one edge more or less decides nothing (battery).
RESOLUTION = 0.2
#: Megabytes of a distance matrix that are held at once (cost).
DISTANCE_MEGABYTES = 16

#: A row is isolated if it is so many times as far from others as these are from theirs (shapes).
ISOLATION = 8.0

# -------------------------------------------------------------------------------- second look

#: It takes so many times as many points, or all if they are at least so many times as many
#: (spirals).
SECOND_LOOK_TIMES, SECOND_LOOK_LEAST = 4, 2
#: In up to so many features only is there a second look, as narrow kernels see no neighbours in
#: more, and are bridges looked for, in more than one, as there is room for noise in more
#: (PenDigits, drawn sets).
FEW_FEATURES = 3
#: Most pivots: they have to cover long and thin shapes without a gap (spirals).
SECOND_LOOK_RANK = 1_000

# ------------------------------------------------------------------ kernel="auto": competition

#: Landmarks of the smoother of the two graphs, and how many a row has of them.
GRAPH_LANDMARKS = (1000, 8)
#: Share of the clusters, the worst ones, that counts half in the separation: the worst one alone
#: lets two of forty that overlap decide. Chosen with drawn blobs and the battery in view.
WORST_SHARE = 0.1
#: What a log ratio of conductances counts beyond ``CLEAR``, in units of the logarithm of one more
#: than what is beyond: clusters beyond doubt do not make up for worse ones, nor for an answer that
#: is coarser than need be.
BEYOND_CLEAR = 0.1
#: Quality of a finer answer, in units of the logarithm of the number of clusters: 0.1 loses sets of
#: many clusters that overlap, 0.3 divides thin shapes.
FINER = 0.2
#: Other models whose agreement counts (3 and 5 alike), and what it counts (battery): 1 is worse on
#: the odd sets and on the even ones, 0.25 to 0.5 are alike.
AGREEING, AGREEMENT = 3, 0.5
#: Numbers of landmarks of the models that compete: the fewer, the coarser the clusters that they
#: see. Without the last, thin shapes are lost.
LANDMARK_SCALES = (100, 300, 1000, 2000)
#: Bandwidths of the models that compete, and for a single number of clusters, which leaves time for
#: more (cost); and where they lie among the candidates (drawn sets, and battery).
COMPETING_BANDWIDTHS, BANDWIDTHS_OF_ONE_NUMBER, COMPETING_RANGE = 10, 16, (0.08, 0.72)
#: Numbers of clusters that are always tried, how many more the largest gaps between the eigenvalues
#: of a model propose, and up to which number (cost).
COMMON_NUMBERS, PROPOSED_NUMBERS, LARGEST_NUMBER = range(2, 5), 3, 60
#: Difference of two eigenvalues that may come from rounding errors (rounding).
TIED = 1e-12
#: Added to 1 minus an eigenvalue before gaps are compared: smaller ones say no more.
LEAST_GAP = 0.001
#: Starts of the encoding beside the first; the model that is selected gets more (cost).
SEARCH_STARTS = 2
#: While the last of the eigenvalues is still above, there may be more clusters, and twice as many
#: numbers are considered: by models of at most so many landmarks, as the eigenvalues of more are
#: above it in the plane whatever the clusters.
LARGE_EIGENVALUE, MANY_CLUSTERS_RANK = 0.9, 1_000
#: Separation below which the data is one cluster, if it has at most so many parts, and above which
#: the clusters are beyond doubt. Gaussians, uniform and Student clouds divided in the best way have
#: up to 0.27, strips, rings, spirals and swiss rolls up to 1.0, two Gaussians four standard
#: deviations apart 1.1 and more (benchmarks/clouds.py); many clusters may overlap more than clouds,
#: as the 15 of S3 (0.2), and are still clusters.
CLOUD, CLOUD_CLUSTERS, CLEAR = 0.3, 4, 1.0

#: Rows of the smallest cluster: nothing is to be seen inside of fewer; and its share of the rows: a
#: smaller one is a clump of background noise (battery).
LEAST_ROWS, MIN_CLUSTER_SHARE = 3, 0.003
#: Share of the squared distances from which one feature is all that counts: its spread is about
#: thirty times that of the others, more than that of strips that are meant so (shapes).
ONE_FEATURE_SHARE = 0.999

# ---------------------------------------------------------------------------------------- noise

#: Shares of the rows that are left out of the searches for noise (cost). The last is what the
#: training leaves out where clusters are bridged: 0.1 and 0.15 bring less.
NOISE_SHARES = (0.0, 0.05, 0.1, 0.15, 0.2)
#: Density, as a share of the median, below which what is left out is noise. Chosen on
#: chameleon_t4_8k and chameleon_t7_10k, where 1/3 and 1/2 are alike.
NOISE_LEVEL = 0.4
