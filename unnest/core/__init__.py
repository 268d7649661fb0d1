"""The pure middle: a stored model in (`model`), a plan out (`plan`, made by `make_plan`).

Opens no file, runs no stored code, imports neither h5py nor TensorFlow: files are read and written in `unnest.formats`.
"""
