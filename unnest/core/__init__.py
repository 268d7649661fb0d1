"""The pure middle: graphs in, plans out. Opens no file, imports neither h5py nor TensorFlow."""
