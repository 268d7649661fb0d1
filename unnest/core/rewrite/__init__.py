"""Take recognised wrappers out of a model: the template's graph and weights, with what stood around the wrapper.

Start at `remove_all_wrappers`. Wrappers are found in `wrappers`; what layers become for Keras 3 is in `keras3`.
"""
