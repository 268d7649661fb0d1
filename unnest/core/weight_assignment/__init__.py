"""Assign stored weights to the layers of their own file's model: one module for each way of storing them.

Which weights a layer ought to have is in `keras_facts`; weights for another model are in `weight_transfer`.
"""
