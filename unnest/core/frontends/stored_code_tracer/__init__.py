"""Trace stored Python code: what its instructions mean for tensors, plain values and UNKNOWN, a module a kind.

Start at `trace_stored_code`, whose `Tracer` joins the classes of the other modules.
"""
