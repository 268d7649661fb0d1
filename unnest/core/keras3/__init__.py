"""Convert a model of Keras 1 or 2 into one that Keras 3 loads: configs, weights, optimizer, operations, Lambdas.

Start at `convert_stored_model`. Every change has a named rule (`rule_catalog`). The files of Keras 3 are in
`formats/keras3`, not here.
"""
