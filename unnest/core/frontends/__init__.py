"""Read what each format stores as operations (`ops.call`): NodeDefs, operation layers, Python byte code.

Start at `operation_layers_as_op_calls`. A module for each form (`*_as_op_calls`); stored code is traced in
`stored_code_tracer`, with the values and functions of Python in `python_*`. What an operation does is in `ops`; what
follows for shapes and rows is in `interpreters`.
"""
