"""Layers that merge several tensors.

(Source: keras/layers/merge.py of Keras 2.0 to 2.3.1, keras/layers/merging of Keras 3.15. Merge:
keras/engine/topology.py of Keras 1.2.2.)
"""

from __future__ import annotations

from unnest.core.layers.record import KerasLayer, MaskUse

LAYERS = (
    KerasLayer(
        "Add",
        arguments=(),
        idle={"axis": (-1,)},
        weights=(),
        merges="addn",
        merge_mode="sum",
        is_elementwise=True,
        mask=MaskUse.MERGES,
    ),
    KerasLayer(
        "Average",
        arguments=(),
        idle={"axis": (-1,)},
        weights=(),
        merges="averagen",
        merge_mode="ave",
        is_elementwise=True,
        mask=MaskUse.MERGES,
    ),
    KerasLayer(
        "Concatenate",
        arguments=("axis",),
        weights=(),
        merges="concat",
        merge_mode="concat",
        keeps_dtype=True,
        mask=MaskUse.MERGES,
    ),
    KerasLayer(
        "Dot",
        arguments=("axes", "normalize"),
        weights=(),
        merge_mode="dot",
    ),
    KerasLayer(
        "Maximum",
        arguments=(),
        idle={"axis": (-1,)},
        weights=(),
        merges="maximumn",
        merge_mode="max",
        is_elementwise=True,
        mask=MaskUse.MERGES,
    ),
    KerasLayer(
        "Minimum",
        arguments=(),
        weights=(),
        merges="minimumn",
        is_elementwise=True,
        mask=MaskUse.MERGES,
    ),
    KerasLayer(
        "Multiply",
        arguments=(),
        idle={"axis": (-1,)},
        weights=(),
        merges="multiplyn",
        merge_mode="mul",
        is_elementwise=True,
        mask=MaskUse.MERGES,
    ),
    KerasLayer(
        "Subtract",
        arguments=(),
        idle={"axis": (-1,)},
        weights=(),
        is_elementwise=True,
        mask=MaskUse.MERGES,
    ),
    KerasLayer(
        "Merge",
        keras=(1, 2),
        exported=False,
        missing_in_tf_keras=True,
        functions=("mode", "output_shape", "output_mask"),
        mask=MaskUse.MERGES,
    ),
)
"""Layers that merge several tensors."""

TAKE_LISTS = frozenset(layer.name for layer in LAYERS if layer.exported)
"""Layers that are called with a list of tensors, and with nothing else."""

TAKE_TWO = frozenset({"Dot", "Subtract"})
"""Those of TAKE_LISTS that take exactly two tensors; the others take one, too, since TensorFlow 2.7 or 2.10."""
