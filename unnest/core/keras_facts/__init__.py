"""Say what Keras does with a config, beyond one class: which weights it makes, what loads where, what must be given.

Start at `weight_counts_by_config` for weights, at `loading_in_keras_3` for loading. Facts about one class of layers are
in its record (`core/layers`). Nothing here knows wrappers or files.
"""
