"""
Soft membership
===============

How firmly each place of the plane belongs to its cluster: low where two clusters meet. The rbf
kernel is smooth, so that memberships change gradually.
"""

import numpy as np
from sklearn.datasets import make_blobs

from sparseksc import KernelSpectralClustering
from sparseksc.plotting import MembershipDisplay

centres = [[0, 0], [4, 0], [2, 3.5]]
X, _ = make_blobs(1_500, centers=centres, cluster_std=0.9, random_state=0)
model = KernelSpectralClustering(3, kernel="rbf", random_state=0).fit(X)

MembershipDisplay.from_estimator(model, X)
print(np.round(model.membership([[0, 0], [2, 0], [2, 1.2]]), 2))
