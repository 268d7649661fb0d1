"""Stored code of Lambdas: which rows of its inputs it returns, on which rows its numbers depend, what it names.

Start at `layer_code_rows`; the code is followed by `frontends/stored_code_tracer`.
"""
