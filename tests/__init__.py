"""Tests of sparseksc; the folders mirror those of the package."""
