"""Read TensorFlow.js layers models: `model.json` and the files of its weights. Start at `layers_model`."""
