"""Operations held against TensorFlow and Keras: `python -m tests.operations`."""
