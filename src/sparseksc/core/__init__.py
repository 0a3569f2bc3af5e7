"""The method in reading order, from kernel values to a model."""
