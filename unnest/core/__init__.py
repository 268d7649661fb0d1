"""The pure middle: a stored model in (`model`), a plan out (`plan`): its wrappers found and taken out, weights placed.

Start at `make_plan`. Opens no file, runs no stored code, imports neither h5py nor TensorFlow: files are read and
written in `unnest.formats`.
"""
