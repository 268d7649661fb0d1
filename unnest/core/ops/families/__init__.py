"""Entries of the registry, by family: names, arguments, kind, arrays, shape and Keras 3 nodes of each operation.

Start at any, `joining` is short.
"""
