"""Read SavedModels and checkpoints, and cut SavedModels, without TensorFlow.

Start at `saved_model_reader` and `checkpoint`. Keras models among them are read as JSON; the search for towers in a
serving graph is in `core/wrappers`.
"""
