"""Read Python byte code as files keep it, as data: code objects, each Python's instructions, and one machine.

Start at `read_code_objects`, then `machine`, which knows what CPython's instructions do to the stack, to names and to
calls, from 2.7 to 3.14, and `frame` below it what jumps and loops do. The values that they compute with are a
`ValueDomain`. There are three: traces of operations (`core/frontends/stored_code_tracer`), stored values
(`core/frontends/code_that_always_raises.py`) and operations of Keras 3 (`core/keras3/lambdas/expression_domain.py`).
"""
