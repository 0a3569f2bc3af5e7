"""
Image segmentation
==================

A photograph of a flower, divided into segments of like colours. The number of segments is found.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_sample_image

from sparseksc.image import segment

photo = load_sample_image("flower.jpg")[::4, ::4].copy()
result = segment(photo)

figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
axes[0].imshow(photo)
axes[0].set_title("photograph")
axes[1].imshow(result.overlay())
axes[1].set_title(f"{result.n_segments} segments")
for ax in axes:
    ax.axis("off")
