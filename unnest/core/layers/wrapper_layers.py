"""Layers that hold another layer.

(Source: keras/layers/wrappers.py of Keras 1.2.2 to 2.3.1, keras/layers/rnn of TensorFlow 2.15 and Keras 3.15.)
"""

from __future__ import annotations

from unnest.core.layers import shape_rules
from unnest.core.layers.record import KerasLayer, MaskUse, Parts, Rows, Weight

LAYERS = (
    KerasLayer(
        "TimeDistributed",
        keras=(1, 2, 3),
        arguments=("layer",),
        parts=Parts.LAYERS,
        holds=("layer",),
        weights=(),
        mask=MaskUse.PASSES,
        mask_argument=True,
    ),
    KerasLayer(
        "Bidirectional",
        keras=(1, 2, 3),
        arguments=("layer", "merge_mode", "backward_layer"),
        parts=Parts.LAYERS,
        holds=("layer", "backward_layer"),
        weights=(),
        output_shape=shape_rules.bidirectional,
        rows=Rows.OVER_STEPS,
        mask=MaskUse.HEEDS,
        mask_argument=True,
        takes_states=True,
    ),
    KerasLayer(
        "SpectralNormalization",
        in_tensorflow_since=(2, 13),
        found_if_given="layers.SpectralNormalization",
        always_stored=("layer", "power_iterations"),
        arguments=("layer", "power_iterations"),
        parts=Parts.LAYERS,
        holds=("layer",),
        weights=(Weight("vector_u", trained=False),),
    ),
    KerasLayer(
        "Wrapper",
        keras=(1, 2, 3),
        exported=False,
        mask=MaskUse.UNKNOWN,
    ),
    KerasLayer(
        "Pipeline",
        keras=(3,),
        parts=Parts.LAYERS,
        holds=("layers",),
        mask=MaskUse.UNKNOWN,
    ),
)
"""Layers that hold another layer."""
