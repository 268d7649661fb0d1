"""Wrappers in a graph of Keras layers: the graph as tensors, its slices, towers and joins, and the wrapper.

Start at `recognise_layer_graph`.
"""
