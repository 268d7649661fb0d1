"""Recognition of wrappers in a graph: slices, towers and merges around a template model."""
