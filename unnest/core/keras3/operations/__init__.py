"""Convert TensorFlow operations that Keras put into graphs as layers into operations of Keras 3.

Start at `operation_layer_rule`. From TensorFlow 2.4 on they are called by function (`TFOpLambda`, `SlicingOpLambda`:
`translate_stored_function_call`), in 1.15 to 2.3 they are a node of TensorFlow's graph (`TensorFlowOpLayer`:
`graph_nodes_as_function_calls`). What each function computes stands at its operation's entry (`core.ops`), for stored
code, too.
"""
