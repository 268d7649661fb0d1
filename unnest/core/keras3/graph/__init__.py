"""A functional model of Keras 3 from expressions: names, calls, shapes and dtypes, sums, and its JSON."""
