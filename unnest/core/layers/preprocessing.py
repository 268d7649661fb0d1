"""Layers that prepare text, numbers and sound.

(Source: keras/layers/preprocessing of TensorFlow 2.3 to 2.15 and Keras 3.15.)
"""

from __future__ import annotations

from unnest.core.layers.record import KerasLayer, MaskUse, Parts
from unnest.core.layers.shared_argument_names import LOOKUP

LAYERS = (
    KerasLayer(
        "CategoryEncoding",
        in_tensorflow_since=(2, 3),
        always_stored=("output_mode", "sparse"),
        arguments=("num_tokens", "output_mode", "sparse"),
        renamed_arguments={"max_tokens": "num_tokens"},
        refused_arguments=("max_tokens",),
    ),
    KerasLayer(
        "CategoryCrossing",
        keras=(2,),
        exported=False,
        missing_in_tf_keras=True,
        mask=MaskUse.UNKNOWN,
    ),
    KerasLayer(
        "Discretization",
        in_tensorflow_since=(2, 3),
        always_stored=("bin_boundaries",),
        arguments=("bin_boundaries", "num_bins", "epsilon", "output_mode", "sparse"),
        takes_trainable=False,
        renamed_arguments={"bins": "bin_boundaries"},
        adapted_argument="bin_boundaries",
        refused_arguments=("trainable",),
        index_dtype="int32",
    ),
    KerasLayer(
        "HashedCrossing",
        arguments=("num_bins", "output_mode", "sparse"),
        index_dtype="int64",
    ),
    KerasLayer(
        "Hashing",
        in_tensorflow_since=(2, 3),
        always_stored=("num_bins",),
        arguments=("num_bins", "mask_value", "salt", "output_mode", "sparse"),
        index_dtype="int64",
    ),
    KerasLayer(
        "IntegerLookup",
        arguments=(*LOOKUP, "vocabulary_dtype"),
        renamed_arguments={
            "max_values": "max_tokens",
            "mask_value": "mask_token",
            "oov_value": "oov_token",
        },
        parts=Parts.LAYERS,
        adapted_argument="vocabulary",
        index_dtype="int64",
    ),
    KerasLayer(
        "StringLookup",
        arguments=(*LOOKUP, "encoding"),
        parts=Parts.LAYERS,
        adapted_argument="vocabulary",
        index_dtype="int64",
    ),
    KerasLayer(
        "TextVectorization",
        arguments=(
            "max_tokens",
            "standardize",
            "split",
            "ngrams",
            "output_mode",
            "output_sequence_length",
            "pad_to_max_tokens",
            "vocabulary",
            "idf_weights",
            "sparse",
            "ragged",
            "encoding",
        ),
        parts=Parts.LAYERS,
        adapted_argument="vocabulary",
        index_dtype="int64",
    ),
    KerasLayer(
        "MelSpectrogram",
        keras=(3,),
        mask=MaskUse.UNKNOWN,
    ),
    KerasLayer(
        "STFTSpectrogram",
        keras=(3,),
        mask=MaskUse.UNKNOWN,
    ),
    KerasLayer(
        "MaxNumBoundingBoxes",
        keras=(3,),
        mask=MaskUse.UNKNOWN,
    ),
)
"""Layers that prepare text, numbers and sound."""
