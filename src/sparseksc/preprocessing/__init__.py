"""Tables of any types of columns as numbers."""

from sparseksc.preprocessing.encoder import TableEncoder

__all__ = ["TableEncoder"]
