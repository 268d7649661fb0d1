"""The HDF5 layer."""
