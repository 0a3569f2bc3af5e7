"""Tests of sparseksc.search."""
