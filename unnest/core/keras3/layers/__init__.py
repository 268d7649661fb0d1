"""Convert each class of Keras 1 and 2's layers by its rule, with its weights, in modules by family.

Start at `dispatch`, the table of rules. `kept_layers`, `convert_thresholded_relu_and_merge` and `removed_layers`
have what is of no family. Operations stored as layers are in `operations`, Lambda layers in `lambdas`.
"""
