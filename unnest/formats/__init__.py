"""The file formats: one interface, one module per container. Nothing else opens a model file."""
