"""The search for the number of clusters and the scale."""
