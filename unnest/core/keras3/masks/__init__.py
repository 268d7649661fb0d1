"""Give layers in Keras 3 the masks that they had in the older model, or refuse.

Start at `keep_old_masks`; what each layer does with a mask is in `layer_mask_behaviour`.
"""
