"""Which part of a graph is a wrapper: slices, towers and merges around a template model."""
