"""HDF5 files: the guarded way in, Keras's attributes, tensors copied and compared, and the legacy `.h5` layout."""
