"""Say which layer of the file's own model each stored weight belongs to: a folder for each way of storing weights.

Flat lists of nested models are in `flat_list`, groups of layers in `layer_groups`, variables with names in
`checkpoint`; beside them are the record of a layer's share (`layer_weights`) and checks of what was assigned. Which
weights a layer ought to have is in `keras_facts`; weights for another model are in `weight_transfer`.
"""
