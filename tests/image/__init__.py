"""Tests of sparseksc.image."""
