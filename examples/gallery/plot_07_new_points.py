"""
New points
==========

A model is fitted once and labels whatever comes later. Half of the rings were never seen; the
regions show the cluster of every place of the plane.
"""

from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import train_test_split

from sparseksc import KernelSpectralClustering
from sparseksc.datasets import make_rings
from sparseksc.plotting import RegionsDisplay

X, y = make_rings(4_000, random_state=0)
seen, unseen, _, y_unseen = train_test_split(X, y, test_size=0.5, random_state=0)
model = KernelSpectralClustering(random_state=0).fit(seen)
print("ARI of points that were not seen:", adjusted_rand_score(y_unseen, model.predict(unseen)))

RegionsDisplay.from_estimator(model, unseen)
