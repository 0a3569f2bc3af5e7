"""
Texts
=====

Misspelt names of four cities. Runs of two and three characters are counted, and the cosine compares
the counts. The matrix of similarities, with the names in the order of their clusters.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from sparseksc import KernelSpectralClustering

rng = np.random.default_rng(0)
cities = ["alexandria", "constantinople", "samarkand", "timbuktu"]


def misspelt(name):
    place = rng.integers(len(name))
    return name[:place] + rng.choice(list("aeiou")) + name[place + 1 :]


names = np.array([misspelt(city) for city in rng.choice(cities, size=300)])
counts = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 3)).fit_transform(names)
model = KernelSpectralClustering(4, kernel="cosine", random_state=0).fit(counts)
for cluster in range(4):
    print(cluster, ", ".join(names[model.labels_ == cluster][:5]))

order = np.argsort(model.labels_, kind="stable")
figure, ax = plt.subplots(figsize=(5, 5), layout="constrained")
ax.imshow((counts @ counts.T).toarray()[np.ix_(order, order)], cmap="magma")
ax.set(xticks=[], yticks=[], title="300 names, sorted by cluster")
