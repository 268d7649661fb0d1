"""Say which layer of the file's own model each stored weight belongs to: a folder for each way of storing weights.

Start at `flat_list/divide_flat_list` (flat lists of nested models), `layer_groups/match_layer_groups` (groups of
layers) or `checkpoint/assign_checkpoint_variables` (variables with names); beside them are the record of a layer's
share (`layer_weights_record`) and checks of what was assigned. Which weights a layer ought to have is in `keras_facts`;
weights for another model are in `weight_transfer`.
"""
