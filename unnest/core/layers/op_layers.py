"""Layers that tf.keras makes of operations on its tensors, and of added losses.

(Source: files of TensorFlow 1.15 to 2.15, keras/layers/core/tf_op_layer.py.)
"""

from __future__ import annotations

from unnest.core.layers.record import KerasLayer, MaskUse

LAYERS = (
    KerasLayer(
        "SlicingOpLambda",
        keras=(2,),
        exported=False,
    ),
    KerasLayer(
        "TFOpLambda",
        keras=(2,),
        exported=False,
    ),
    KerasLayer(
        "TensorFlowOpLayer",
        keras=(2,),
        exported=False,
    ),
    KerasLayer(
        "ClassMethod",
        keras=(2,),
        exported=False,
        mask=MaskUse.UNKNOWN,
    ),
    KerasLayer(
        "InstanceMethod",
        keras=(2,),
        exported=False,
        mask=MaskUse.UNKNOWN,
    ),
    KerasLayer(
        "InstanceProperty",
        keras=(2,),
        exported=False,
        mask=MaskUse.UNKNOWN,
    ),
    KerasLayer(
        "AddLoss",
        keras=(2,),
        exported=False,
        mask=MaskUse.UNKNOWN,
        adds_loss=True,
    ),
    KerasLayer(
        "AddMetric",
        keras=(2,),
        exported=False,
        mask=MaskUse.UNKNOWN,
        adds_loss=True,
    ),
)
"""Layers that tf.keras makes of operations on its tensors, and of added losses."""
