"""Convert each class of Keras 1 and 2's layers by its rule, with its weights, in modules by family.

Start at `dispatch`, the table of rules. `kept_layers` (Activation, Softmax and PReLU among them), `removed_layers` and
`convert_thresholded_relu_and_merge` have what is of no family; `convert_activation_argument` is what the `activation`
of any layer becomes. Operations stored as layers are in `operations`, Lambda layers in `lambdas`.
"""
