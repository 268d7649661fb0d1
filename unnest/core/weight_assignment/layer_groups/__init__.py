"""Match groups of weights, one a layer, with the layers of a model, or of an architecture that is given for them.

Start at `match_layer_groups`.
"""
