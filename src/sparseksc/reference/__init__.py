"""Dense and published routes to kernel spectral clustering, straight from their equations.

They are here to be compared with: obviously correct rather than fast, plain NumPy and SciPy, one
function per step so that each can be timed. A kernel is any callable ``kernel(X, Y) -> matrix``.

The symbols: kernel matrix Ω, degrees d = Ω 1, D = diag(d), weighted centring
M_D = I − 1 1ᵀD⁻¹ / (1ᵀD⁻¹1). D⁻¹ is read as a pseudo-inverse: a low rank approximation of Ω can
give a point a degree that is not positive, and such a point gets the weight 0.
"""

from sparseksc.reference.cholesky import (
    IncompleteCholesky,
    cholesky_on_pivots,
    incomplete_cholesky,
)
from sparseksc.reference.ksc import (
    Eigenvectors,
    ReferenceModel,
    dense_ksc,
    original_eigenvectors,
    original_ksc,
    paper_bias,
    paper_ksc,
    qr_eigenvectors,
    reduced_set_bias,
    reduced_set_coefficients,
    sign_labels,
)
from sparseksc.reference.nystrom import NystromClustering, nystrom_spectral_clustering

__all__ = [
    "Eigenvectors",
    "IncompleteCholesky",
    "NystromClustering",
    "ReferenceModel",
    "cholesky_on_pivots",
    "dense_ksc",
    "incomplete_cholesky",
    "nystrom_spectral_clustering",
    "original_eigenvectors",
    "original_ksc",
    "paper_bias",
    "paper_ksc",
    "qr_eigenvectors",
    "reduced_set_bias",
    "reduced_set_coefficients",
    "sign_labels",
]
