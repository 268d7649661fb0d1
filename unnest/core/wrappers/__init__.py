"""Recognise multi-GPU wrappers in a graph: slices, towers and merges around a template model.

Only recognition: `rewrite` takes a wrapper out, and `architecture` reads the graph.
"""
