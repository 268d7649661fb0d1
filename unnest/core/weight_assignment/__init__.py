"""Assign stored weights to layers: one module for each way of storing them."""
