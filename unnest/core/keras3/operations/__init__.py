"""TensorFlow operations that Keras put into graphs as layers, as operations of Keras 3.

From TensorFlow 2.4 on they are called by function (`TFOpLambda`, `SlicingOpLambda`: `function_calls`), in 1.15 to 2.3
they are a node of TensorFlow's graph (`TensorFlowOpLayer`: `graph_nodes`, and `node_operations` for those that are no
plain function of their inputs). What each function computes is known to `lambdas.functions`, which reads the same
functions out of stored code.
"""
