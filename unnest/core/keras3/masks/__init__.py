"""Masks in an older model and in Keras 3: what each layer does with one, and how layers get the same mask."""
