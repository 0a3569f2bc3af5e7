"""Segments of images: colour histograms around each pixel, clustered.

:func:`segment` does it all. The steps are public too: a palette of few colours
(:func:`minimum_variance_palette`), the colour numbers of the pixels (:func:`quantise`), their
histograms (:func:`local_histograms`), and a measure of agreement with people
(:func:`boundary_f_measure`).
"""

from sparseksc.image.boundaries import boundaries
from sparseksc.image.cleanup import remove_specks
from sparseksc.image.histograms import index_histograms, local_histograms
from sparseksc.image.measure import BoundaryScore, boundary_f_measure, boundary_map_f_measure
from sparseksc.image.palette import minimum_variance_palette, quantise
from sparseksc.image.segmentation import Segmentation, segment

__all__ = [
    "BoundaryScore",
    "Segmentation",
    "boundaries",
    "boundary_f_measure",
    "boundary_map_f_measure",
    "index_histograms",
    "local_histograms",
    "minimum_variance_palette",
    "quantise",
    "remove_specks",
    "segment",
]
