"""Tests of sparseksc._native."""
