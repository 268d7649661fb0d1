"""Compile settings, optimizers and their state, as Keras 3 resumes training with them."""
