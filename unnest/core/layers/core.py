"""Core layers: Dense and its kin, Embedding, Lambda, inputs.

(Source: keras/layers/core of Keras 1.2.2 to 3.15.)
"""

from __future__ import annotations

from unnest.core.layers import shape_rules, weight_rules
from unnest.core.layers.record import (
    ANY_VALUE,
    KERNEL_AND_BIAS_WEIGHTS,
    KERNEL_WEIGHT,
    KerasLayer,
    MaskUse,
    Weight,
)
from unnest.core.layers.shared_arguments import (
    BIAS,
    EMBEDDINGS,
    KERAS_1_DENSE,
    KERNEL_AND_BIAS,
    KERNEL_ARGUMENTS,
)

LAYERS = (
    KerasLayer(
        "InputLayer",
        keras=(1, 2, 3),
        weights=(),
        mask=MaskUse.UNKNOWN,
    ),
    KerasLayer(
        "Dense",
        keras=(1, 2, 3),
        arguments=("units", *KERNEL_AND_BIAS),
        idle={"input_dim": ANY_VALUE},
        keras_1_arguments=KERAS_1_DENSE,
        keras_1_bias=True,
        weights=KERNEL_AND_BIAS_WEIGHTS,
        weight_shapes=weight_rules.dense_shapes,
        loads_these_alone=True,
        built_axes=weight_rules.last_axis,
        features_axis=0,
        keras_1_rules=True,
        output_shape=shape_rules.dense,
        applies_activation=True,
        mask=MaskUse.PASSES,
    ),
    KerasLayer(
        "EinsumDense",
        in_tensorflow_since=(2, 4),
        always_stored=("equation", "output_shape"),
        arguments=(
            "equation",
            "output_shape",
            "activation",
            "bias_axes",
            *KERNEL_ARGUMENTS,
            *BIAS,
            "activity_regularizer",
        ),
        weights=(KERNEL_WEIGHT, Weight("bias", switch="bias_axes")),
        applies_activation=True,
    ),
    KerasLayer(
        "Embedding",
        keras=(1, 2, 3),
        arguments=("input_dim", "output_dim", *EMBEDDINGS, "mask_zero", "activity_regularizer"),
        keras_1_arguments={
            "init": "embeddings_initializer",
            "W_regularizer": "embeddings_regularizer",
            "W_constraint": "embeddings_constraint",
        },
        keras_1_idle=("dropout",),
        weights=(Weight("embeddings", keras_1="W"),),
        weight_shapes=weight_rules.embedding_shapes,
        loads_these_alone=True,
        keras_1_rules=True,
        output_shape=shape_rules.embedding,
        mask=MaskUse.MAKES,
    ),
    KerasLayer(
        "ReversibleEmbedding",
        keras=(3,),
        always_stored=("tie_weights",),
        arguments=(
            "input_dim",
            "output_dim",
            "tie_weights",
            *EMBEDDINGS,
            "mask_zero",
            "reverse_dtype",
            "logit_soft_cap",
        ),
        weights=(Weight("embeddings"), Weight("reverse_embeddings")),
        weight_count=weight_rules.reversible_embedding_count,
        weight_shapes=weight_rules.embedding_shapes,
        output_shape=shape_rules.embedding,
        mask=MaskUse.MAKES,
    ),
    KerasLayer(
        "Lambda",
        keras=(1, 2, 3),
        functions=("function", "output_shape", "mask"),
        mask=MaskUse.UNKNOWN,
    ),
    KerasLayer(
        "Masking",
        keras=(1, 2, 3),
        arguments=("mask_value",),
        weights=(),
        mask=MaskUse.MAKES,
    ),
    KerasLayer(
        "Identity",
        in_tensorflow_since=(2, 8),
        arguments=(),
        weights=(),
        output_shape=shape_rules.same,
        in_training_only=True,
        notes_input_dtype=True,
    ),
    KerasLayer(
        "TimeDistributedDense",
        keras=(1,),
        exported=False,
        renamed_to="Dense",
        keras_1_arguments=KERAS_1_DENSE,
        keras_1_bias=True,
        weights=KERNEL_AND_BIAS_WEIGHTS,
        keras_1_rules=True,
        mask=MaskUse.PASSES,
    ),
    KerasLayer(
        "MaxoutDense",
        keras=(1, 2),
        exported=False,
        mask=MaskUse.PASSES,
    ),
    KerasLayer(
        "Highway",
        keras=(1, 2),
        exported=False,
        mask=MaskUse.PASSES,
    ),
    KerasLayer(
        "DenseFeatures",
        keras=(2,),
        exported=False,
        gone="feature columns are no layers of Keras 3",
        mask=MaskUse.UNKNOWN,
    ),
    KerasLayer(
        "SequenceFeatures",
        keras=(2,),
        exported=False,
        gone="feature columns are no layers of Keras 3",
        mask=MaskUse.UNKNOWN,
    ),
    KerasLayer(
        "RandomFourierFeatures",
        keras=(2,),
        exported=False,
        gone="Keras 3 has no such layer",
        mask=MaskUse.UNKNOWN,
    ),
)
"""Core layers: Dense and its kin, Embedding, Lambda, inputs."""
