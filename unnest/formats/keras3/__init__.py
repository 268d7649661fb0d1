"""Read and write Keras 3's layouts: weights keyed by path, alone (`.weights.h5`) or in a `.keras` archive.

Start at `path_keyed_tree`. Converting a model to Keras 3 is in `core/keras3`, the container that it goes into in
`formats/change_container`.
"""
