"""Tests of sparseksc.config."""
