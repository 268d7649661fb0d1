"""Facts about Keras beyond one layer class: number, order and shapes of weights, forms of configs, what loads where.

Facts about one class of layers are in its record (`core/layers`). Nothing here knows wrappers or files.
"""
