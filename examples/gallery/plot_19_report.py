"""
A report for others
===================

``write_report`` puts a clustering into one HTML file that needs no network: sizes, profiles,
figures and doubts, in words. Below, what its profiles are about: the features in which three kinds
of wine differ most.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

from sparseksc import KernelSpectralClustering
from sparseksc.report import write_report

wines = load_wine(as_frame=True).data
model = KernelSpectralClustering(scale=True, random_state=0).fit(wines)
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "wine.html"
    write_report(model, wines, path, title="178 wines from one region")
    print(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB")

standardised = (wines - wines.mean()) / wines.std()
means = standardised.groupby(model.labels_).mean()
telling = means.var().sort_values(ascending=False).index[:6]
figure, ax = plt.subplots(figsize=(9, 4), layout="constrained")
means[telling].T.plot.barh(ax=ax)
ax.set(xlabel="mean, in standard deviations", title="what sets the clusters apart")
ax.invert_yaxis()
ax.legend(title="cluster", loc="upper left", bbox_to_anchor=(1, 1))
