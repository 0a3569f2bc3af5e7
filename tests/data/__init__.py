"""Tests of sparseksc.data."""
