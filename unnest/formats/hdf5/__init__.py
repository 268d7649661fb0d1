"""Read and write HDF5 files: the guarded way in, attributes, tensors copied and compared, and Keras's legacy `.h5`.

Start at `legacy_h5_reader`. The path-keyed layout of `.weights.h5` and `.keras` is in `formats/keras3`.
"""
