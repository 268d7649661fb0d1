"""Trace stored Python code: what its instructions mean for tensors, plain values and UNKNOWN, a module a kind."""
