"""Every number that the search was given, with its meaning and where it comes from.

Provenance: *battery* means chosen on the 31 labelled sets of ``benchmarks/battery.py``, none of
which was held out (``benchmarks/ablation.py`` shows what each rule gains there); *shapes* means
chosen on synthetic spirals, rings, strips, lines and Gaussians; *cost* means a compromise between
time and accuracy, to which the answer is not sensitive; *rounding* means a bound of floating point
numbers.
"""

from __future__ import annotations

import numpy as np

# ------------------------------------------------------------------------------------ samples

#: Points that models are trained on, and evaluated on by the criteria of the literature (cost).
TRAINING_SIZE, VALIDATION_SIZE = 10_000, 20_000
#: Points of the neighbour graph, on which the criteria are evaluated too where none of them is
#: the rule, and points that prototypes are found in (cost).
GRAPH_SIZE, PROTOTYPE_SIZE = 5_000, 2_500
#: Entries up to which a sample of sparse data is made dense (cost).
DENSE_SIZE = 10_000_000
#: Features for each point to train on from which coordinates in fewer features are used (cost).
MANY_FEATURES = 2
#: Points to train on, or entries of them, above which each bandwidth gets a thread (cost).
MIN_POINTS_FOR_THREADS, MIN_ENTRIES_FOR_THREADS = 1_000, 100_000

# ------------------------------------------------------------------------- candidate bandwidths

#: Points that distances are measured between, and from (cost).
SAMPLE_SIZE, SAMPLE_CENTRES = 2000, 500
#: Most candidates between the distance of neighbours and the spread, and the least ratio of two of
#: them; candidates beyond the spread, and the widest in units of it (battery).
N_NARROW, MIN_BANDWIDTH_RATIO, N_WIDE, WIDEST = 36, 1.22, 4, 16.0
#: The smallest number whose inverse is one, and the error of a squared distance as a share of the
#: squares that it is computed from (rounding).
SMALLEST, ROUNDING = 1.0 / np.finfo(np.float64).max, 1e-12
#: Bandwidths around so many of the best models are added, in two rounds (battery).
N_REFINED = (3, 2)

# -------------------------------------------------------------------------------------- graph

#: Neighbours of a point, and the least number of points for each of them (battery).
N_NEIGHBOURS, POINTS_PER_NEIGHBOUR = 10, 10
#: Share of an average point that is added to a conductance before conductances are compared, so
#: that one edge more or less decides nothing (battery).
RESOLUTION = 0.2
#: Weight of the mutual graph in the cut (battery).
MUTUAL_WEIGHT = 0.75
#: Rows of a distance matrix that are held at once, by us and, in MB of it, by scikit-learn (cost).
DISTANCE_ROWS, DISTANCE_MEGABYTES = 128, 16
#: Part of a breadth-first walk through a cluster that counts: near its ends it passes few edges in
#: any shape (shapes).
WALK_MIDDLE = (0.1, 0.9)

# ---------------------------------------------------------------------------- isolated points

#: A point is isolated if its nearest neighbour is this many times as far as the nearest neighbour
#: of this share of all points is (shapes).
ISOLATION_RATIO, ISOLATION_QUANTILE = 8.0, 0.95
#: Least number of distinct points among which one can be isolated (shapes).
ISOLATION_MIN_POINTS = 20
#: Isolated points up to this many times as far from each other as from their nearest neighbours
#: are a group, which is kept if it has this many points and is large enough for a cluster (shapes).
GROUP_REACH, GROUP_MIN_POINTS = 3.0, 10
#: Most features for a k-d tree; with more, the nearest of so many points is taken (cost).
TREE_MAX_FEATURES, REFERENCE_SIZE = 8, 2000

# ------------------------------------------------------------------------------------ ranking

#: Least share of the points, and of its own edges, that a cluster has to hold (battery).
MIN_CLUSTER_SHARE, MIN_COHESION = 0.003, 0.5
#: Least share of the points of a cluster in the model with one cluster more (battery).
MIN_FINER_SHARE = 0.001
#: Bandwidths up to this ratio are nearby, and the weight of their cuts (battery).
NEARBY_RATIO, NEARBY_WEIGHT = 1.3, 0.05
#: Ratio of the conductances of K + 1 and K clusters below which K does not stand out, and beyond
#: which a larger one says nothing new (battery).
CLEAR_RATIO, MAX_RATIO = 1.5, 7.5
#: Number of separated clusters that is assumed beside those that are found, so that the ratio of
#: conductances decides where there are none (battery).
SEPARATED_PRIOR = 0.5
#: Conductance that is assumed where no larger number of clusters is available (battery).
MISSING_CONDUCTANCE = 0.5

# -------------------------------------------------------------------- one cluster, and doubts

#: Share of the conductance of a halved Gaussian below which a cut separates something, and above
#: which it separates nothing (shapes).
SEPARATES_SHARE, GAUSSIAN_SHARE = 0.6, 0.8
#: Ratio of conductances beyond which a Gaussian or a long shape is ruled out (shapes).
CERTAIN_RATIO = 2.5
#: Share of the clusters that must be separated, or they may be parts of a long shape; and number
#: below which none is (shapes).
MIN_SEPARATED_SHARE, MIN_SEPARATED = 2.0 / 3.0, 0.5
#: Copies of each row that make it a cluster, where there are only a few distinct rows (shapes).
MIN_COPIES = 10

# ------------------------------------------------------------------ refinement at a higher rank

#: It takes so many times as many points as the first round, or all if they are at least so many
#: times as many, in up to so many features: in more, narrow kernels see no neighbours (spirals).
#: Where kernels compete, the narrower half of their bandwidths is looked at again.
REFINEMENT_TIMES, MIN_REFINEMENT_TIMES, REFINEMENT_MAX_FEATURES = 4, 2, 3
#: Number of bandwidths, up to the widest at which the pivots of the first round leave more than
#: this share of the kernel matrix unrepresented (spirals).
REFINEMENT_BANDWIDTHS, UNREPRESENTED_SHARE = 4, 0.8
#: Of the bandwidths whose strength over cut is at least this share of the best one, the widest is
#: taken, which the pivots represent best (spirals).
NEAR_BEST_RATIO = 0.8
#: Where at least twice as many pivots are asked for, bandwidths are compared with so many first,
#: and those of this many of the best models again with all pivots (cost).
FIRST_RANK, N_FULL_RANK = 200, 3

# ------------------------------------------------------------------ kernel="auto": competition

#: Landmarks of the smoother of the judging graphs, and how many a row has of them.
JUDGING_LANDMARKS = (1000, 8)
#: Share of the rows, those of the worst clusters, that counts half in the separation. The worst
#: cluster alone lets two of forty that overlap decide; 0.05 to 0.15 are alike (battery).
WORST_SHARE = 0.1
#: Log ratio of conductances beyond which more says little: it does not make up for clusters that
#: are worse, nor for an answer that is coarser than need be. Halves of a cluster of a few dozen
#: points have up to 1.1.
FIRM = 1.25
#: What counts beyond it, and up to where: halves of small clusters come close to it, and whole ones
#: leave it far behind.
BEYOND_FIRM, FIRMEST = 0.03, 4.25
#: Quality of a finer answer, in units of the logarithm of the number of clusters: 0.1 loses sets of
#: many clusters that overlap, 0.3 divides thin shapes.
FINER = 0.15
#: Other models whose agreement counts (3 and 5 alike; one alone may have the same landmarks), and
#: what it counts (battery): 1 is worse on the odd sets and on the even ones, 0.3 to 0.5 are alike.
AGREEING, AGREEMENT = 3, 0.5
#: Numbers of landmarks of the models that compete: the fewer, the coarser the clusters that they
#: see. Without the last, thin shapes are lost.
LANDMARK_SCALES = (100, 300, 1000, 2000)
#: Bandwidths of the rbf models that compete; twice as many for a single number of clusters, which
#: leaves time for them (cost).
COMPETING_BANDWIDTHS = 8
#: Numbers of clusters that are always tried, how many more the largest gaps between the eigenvalues
#: of a model propose, and up to which number (cost).
COMMON_NUMBERS, PROPOSED_NUMBERS, LARGEST_NUMBER = range(2, 5), 3, 60
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
#: up to 0.27, strips, rings, spirals and swiss rolls 0.1 to 0.9, two Gaussians four standard
#: deviations apart 1.1 and more (benchmarks/clouds.py); many clusters may overlap more than clouds,
#: as the 15 of S3 (0.2), and are still clusters.
CLOUD, CLOUD_CLUSTERS, CLEAR = 0.3, 5, 1.0

#: Rows of the smallest cluster: nothing is to be seen inside of fewer, and a smaller share of many
#: rows (``MIN_CLUSTER_SHARE``) is a clump of background noise.
LEAST_ROWS = 3
#: Share of the squared distances from which one feature is all that counts: its spread is about
#: thirty times that of the others, more than that of strips that are meant so (shapes).
ONE_FEATURE_SHARE = 0.999

# ---------------------------------------------------------------------------------------- noise

#: Shares of the rows that are left out of the searches for noise (cost).
NOISE_SHARES = (0.0, 0.05, 0.1, 0.15, 0.2)
#: Density, as a share of the median, below which what is left out is noise. Chosen on
#: chameleon_t4_8k and chameleon_t7_10k, where 1/3 and 1/2 are alike.
NOISE_LEVEL = 0.4
