"""Read what each format stores as operations (`ops.call`): NodeDefs, operation layers, Python byte code.

What an operation does is in `ops`; what follows for shapes and rows is in `interpreters`.
"""
