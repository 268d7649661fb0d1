"""Interpretations of operations: shapes, rows of a batch, dependence of numbers on rows."""
