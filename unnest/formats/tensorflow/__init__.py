"""TensorFlow's files, read and cut without TensorFlow: SavedModels, checkpoints and what they are made of."""
