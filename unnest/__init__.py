"""Take the template model out of a saved Keras multi-GPU graph."""

__version__ = "0.1.0"
