"""Tests of sparseksc.plotting."""
