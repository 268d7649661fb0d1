"""TensorFlow's files, read and cut without TensorFlow: SavedModels, checkpoints, and their tables and messages.

Keras models among them are read as JSON; the search for towers in a serving graph is in `core/wrappers`.
"""
