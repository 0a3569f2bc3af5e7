"""Tests of sparseksc.core."""
