"""Figures of a search and of a fitted model, in scikit-learn's Display convention.

Every class has ``from_estimator``, takes an ``ax`` or makes one, and keeps what it drew:
``ax_``, ``figure_`` and the artists. matplotlib is imported when something is drawn.

================== ===================================================================
TuningDisplay      the criterion over numbers of clusters and bandwidths
ClusterNumberDisplay  the best value for each number of clusters
SpectrumDisplay    eigenvalues, and the gap after those that the clusters use
ScoresDisplay      score space: one line per cluster
RegionsDisplay     decision regions in the plane, with the reduced set
ComparisonDisplay  where the rows of old clusters are in a new model
DriftDisplay       residual, outliers and cluster sizes of the chunks of a stream
DendrogramDisplay  which clusters merge into coarser ones
MembershipDisplay  how firmly each place of the plane belongs to its cluster
================== ===================================================================
"""

from sparseksc.plotting.comparison import ComparisonDisplay
from sparseksc.plotting.drift import DriftDisplay
from sparseksc.plotting.plane import MembershipDisplay, RegionsDisplay
from sparseksc.plotting.scores import ScoresDisplay
from sparseksc.plotting.search import ClusterNumberDisplay, SpectrumDisplay, TuningDisplay
from sparseksc.plotting.tree import DendrogramDisplay

__all__ = [
    "ClusterNumberDisplay",
    "ComparisonDisplay",
    "DendrogramDisplay",
    "DriftDisplay",
    "MembershipDisplay",
    "RegionsDisplay",
    "ScoresDisplay",
    "SpectrumDisplay",
    "TuningDisplay",
]
