"""Weights of a parallel model that operations cut, and the script that made them."""
