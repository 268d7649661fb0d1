"""Nodes of Keras 3 for calls of functions: start at `function_registry`, which has the maker of each function's nodes.

A maker is handed a `FunctionCall`, whose arguments are `expression_values`. The makers stand with their operations in
`families`.
"""
