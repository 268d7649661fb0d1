"""Wrappers in the serving graph of a SavedModel: its nodes as tensors and operations, and the wrapper among them.

Start at `recognise_serving_graph`.
"""
