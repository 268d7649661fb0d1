"""Predictions of what unnest writes, by the Keras that wrote the files and by today's."""
