"""Run graphs of operations on other values than numbers: shapes, row indices, and the rows that a number depends on.

Start at `tensor_graph`, the graph that is run, and `numbered_rows`. The operations are defined in `ops`; the search
for wrappers, which asks for the results, is in `wrappers`.
"""
