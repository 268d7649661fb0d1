"""The rule that converts each class of Keras 1 and 2's layers, with its weights, in modules by family.

Layers that Keras 3 no longer has are in `removed_layers`; operations stored as layers in `operations`.
"""
