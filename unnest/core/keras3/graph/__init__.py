"""Build the graph of a functional model of Keras 3 from expressions, and write its JSON.

Start at `graph_builder`; names, shapes and dtypes of results, and sums are beside it.
"""
