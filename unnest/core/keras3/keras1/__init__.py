"""Layers, merges and weights of Keras 1, in the words and the order of Keras 2."""
