"""
Tables with text
================

Birds of three species, measured on three islands: numbers, categories and gaps in one table. The
encoder says what it did with each column; the model never sees the species. (The table is made up.)
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from sparseksc import KernelSpectralClustering
from sparseksc.preprocessing import TableEncoder

rng = np.random.default_rng(0)
species = np.repeat(["Adelie", "Chinstrap", "Gentoo"], [150, 70, 120])
kind = np.repeat([0, 1, 2], [150, 70, 120])
birds = pd.DataFrame(
    {
        "bill length": np.array([38.8, 48.8, 47.5])[kind] + rng.normal(0, 2.5, len(kind)),
        "bill depth": np.array([18.3, 18.4, 15.0])[kind] + rng.normal(0, 1.0, len(kind)),
        "mass": np.array([3700, 3730, 5080])[kind] + rng.normal(0, 400, len(kind)),
        "island": np.array(["Torgersen", "Dream", "Biscoe"])[
            np.where(rng.random(len(kind)) < 0.8, kind, rng.integers(3, size=len(kind)))
        ],
    }
)
birds.loc[::40, "mass"] = np.nan

encoder = TableEncoder()
X = encoder.fit_transform(birds)
print(encoder.summary())
model = KernelSpectralClustering(3, random_state=0).fit(X)
print(pd.crosstab(species, model.labels_, rownames=["species"], colnames=["cluster"]))

figure, ax = plt.subplots(figsize=(7, 5), layout="constrained")
for name, marker in zip(np.unique(species), "os^", strict=True):
    chosen = birds[species == name]
    ax.scatter(
        chosen["bill length"],
        chosen["bill depth"],
        c=model.labels_[species == name],
        vmax=2,
        vmin=0,
        marker=marker,
        label=name,
        cmap="viridis",
    )
ax.set(xlabel="bill length (mm)", ylabel="bill depth (mm)", title="colours: clusters")
ax.legend()
