"""The rule that converts each class of Keras 1 and 2's layers, with its weights, in modules by family.

`kept_layers` and `removed_layers` have what is of no family. Operations stored as layers are in `operations`, Lambda
layers in `lambdas`.
"""
