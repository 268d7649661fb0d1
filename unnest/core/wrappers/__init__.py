"""Recognise multi-GPU wrappers in a graph: slices, towers and merges around a template model.

Start at `layer_graph/recognise_layer_graph` and `serving_graph/recognise_serving_graph`, which share `search`. Claims
of slices whose code cannot be followed are in `claims`. Only recognition: `rewrite` takes a wrapper out, and
`architecture` reads the graph.
"""
