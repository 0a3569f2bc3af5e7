"""What the clusters of a model mean to each other, to earlier ones, and to labels."""
