"""Python byte code as files keep it, read as data: code objects, each Python's instructions, and one machine.

The `machine` knows what CPython's instructions do to the stack, to names and to calls, from 2.7 to 3.14, and `frame`
below it what jumps and loops do. The values that they compute with are a `ValueDomain`.
There are two: traces of operations (`core/frontends/stored_code_tracer/`) and operations of Keras 3
(`core/keras3/lambdas/expression_domain.py`).
"""
