"""TensorFlow.js layers models: `model.json` and the files of its weights."""
