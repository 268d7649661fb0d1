"""Record what Keras 3 itself says of its layers: tests/unit/core/keras_facts/keras3_shapes.json.

    python scripts/record-shapes.py > tests/unit/core/keras_facts/keras3_shapes.json        (needs the tensorflow extra)

One row per layer: its stored entry without initializers and the like, the tensor given, what the call notes.
"""

from __future__ import annotations

import json
from typing import Any

import keras
from keras import layers as l

DULL = ("_initializer", "_regularizer", "_constraint", "trainable", "quantization_config", "seed")

IMAGE, ODD, SERIES, ROW, VOLUME = (9, 8, 4), (None, None, 4), (7, 3), (6,), (5, 6, 7, 2)
CASES = [
    (
        ROW,
        [
            l.Dense(3),
            l.Activation("relu"),
            l.ReLU(),
            l.LeakyReLU(),
            l.ELU(),
            l.PReLU(),
            l.Softmax(),
        ],
    ),
    (ROW, [l.Dropout(0.1), l.AlphaDropout(0.1), l.GaussianDropout(0.1), l.GaussianNoise(0.1)]),
    (
        ROW,
        [
            l.BatchNormalization(),
            l.LayerNormalization(),
            l.UnitNormalization(),
            l.RMSNormalization(),
        ],
    ),
    (
        ROW,
        [
            l.RepeatVector(4),
            l.Reshape((3, -1)),
            l.Reshape((2, 3)),
            l.Flatten(),
            l.Identity(),
            l.Rescaling(2.0),
        ],
    ),
    (ROW, [l.ActivityRegularization(l2=0.1), l.Embedding(5, 2), l.Embedding(5, 2, mask_zero=True)]),
    (
        IMAGE,
        [
            l.Conv2D(5, 3),
            l.Conv2D(5, (3, 2), strides=2, padding="same"),
            l.Conv2D(5, 2, dilation_rate=(2, 3)),
        ],
    ),
    (
        IMAGE,
        [l.DepthwiseConv2D(3, depth_multiplier=2), l.SeparableConv2D(3, 3, strides=2), l.Dense(2)],
    ),
    (
        IMAGE,
        [l.Conv2DTranspose(3, 3, strides=2), l.Conv2DTranspose(3, 2, strides=3, padding="same")],
    ),
    (
        IMAGE,
        [
            l.Conv2DTranspose(3, 4, strides=3, output_padding=1),
            l.Conv2DTranspose(3, 3, dilation_rate=2),
        ],
    ),
    (IMAGE, [l.Conv2DTranspose(3, 3, strides=2, padding="same", output_padding=1)]),
    (
        IMAGE,
        [
            l.MaxPooling2D(2),
            l.MaxPooling2D(3, strides=2, padding="same"),
            l.AveragePooling2D((2, 3)),
        ],
    ),
    (
        IMAGE,
        [
            l.GlobalMaxPooling2D(),
            l.GlobalAveragePooling2D(keepdims=True),
            l.Flatten(),
            l.Permute((3, 1, 2)),
        ],
    ),
    (
        IMAGE,
        [
            l.MaxPooling2D(2, data_format="channels_first"),
            l.ZeroPadding2D(1, data_format="channels_first"),
        ],
    ),
    (
        IMAGE,
        [
            l.Conv2D(5, 3, data_format="channels_first"),
            l.GlobalMaxPooling2D(data_format="channels_first"),
        ],
    ),
    (
        IMAGE,
        [l.ZeroPadding2D(((1, 2), (0, 3))), l.Cropping2D(((1, 2), (0, 3))), l.UpSampling2D((2, 3))],
    ),
    (
        IMAGE,
        [
            l.SpatialDropout2D(0.1),
            l.GroupNormalization(2),
            l.BatchNormalization(axis=1),
            l.PReLU(shared_axes=[1]),
        ],
    ),
    (
        ODD,
        [
            l.Conv2D(5, 3),
            l.Conv2D(5, 3, padding="same"),
            l.Conv2DTranspose(3, 3, strides=2),
            l.MaxPooling2D(2),
        ],
    ),
    (
        ODD,
        [
            l.GlobalAveragePooling2D(),
            l.ZeroPadding2D(1),
            l.Cropping2D(1),
            l.UpSampling2D(2),
            l.Flatten(),
        ],
    ),
    (ODD, [l.Reshape((-1, 4)), l.Permute((2, 1, 3))]),
    (SERIES, [l.Conv1D(5, 3, padding="causal", strides=2), l.Conv1DTranspose(2, 3, strides=2)]),
    (
        SERIES,
        [
            l.SeparableConv1D(4, 2),
            l.DepthwiseConv1D(2),
            l.MaxPooling1D(2),
            l.AveragePooling1D(3, padding="same"),
        ],
    ),
    (
        SERIES,
        [
            l.GlobalMaxPooling1D(),
            l.GlobalAveragePooling1D(),
            l.ZeroPadding1D((1, 2)),
            l.Cropping1D((1, 2)),
        ],
    ),
    (SERIES, [l.UpSampling1D(3), l.SpatialDropout1D(0.1), l.TimeDistributed(l.Dense(2))]),
    (
        SERIES,
        [l.LSTM(4), l.GRU(4, return_sequences=True), l.SimpleRNN(4), l.Bidirectional(l.LSTM(4))],
    ),
    (SERIES, [l.Bidirectional(l.GRU(4, return_sequences=True), merge_mode="sum"), l.Masking()]),
    (
        (4, *IMAGE),
        [
            l.TimeDistributed(l.Conv2D(3, 3)),
            l.ConvLSTM2D(3, 3, return_sequences=True),
            l.ConvLSTM2D(3, 2),
        ],
    ),
    ((4, 8, 3), [l.ConvLSTM1D(2, 3, padding="same")]),
    ((3, *VOLUME), [l.ConvLSTM3D(2, 2)]),
    (
        VOLUME,
        [
            l.Conv3D(3, 2),
            l.Conv3DTranspose(3, 2, strides=2),
            l.MaxPooling3D(2),
            l.AveragePooling3D(2),
        ],
    ),
    (VOLUME, [l.ZeroPadding3D(1), l.Cropping3D(1), l.UpSampling3D(2), l.SpatialDropout3D(0.1)]),
    (VOLUME, [l.GlobalMaxPooling3D(), l.GlobalAveragePooling3D()]),
]


def plain(value: Any) -> Any:  # noqa: ANN401 - JSON
    """The stored form without parts that say nothing of shapes."""
    if isinstance(value, dict):
        return {
            k: plain(v)
            for k, v in value.items()
            if not k.endswith(DULL) and k != "shared_object_id"
        }
    return [plain(v) for v in value] if isinstance(value, (list, tuple)) else value


def row(layer: l.Layer, shape: tuple[int | None, ...], dtype: str) -> dict[str, Any]:
    """Return what a functional model stores of one layer called on one input."""
    given = keras.Input(shape, dtype=dtype)
    made = layer(given)
    entry = keras.Model(given, made).get_config()["layers"][-1]
    (call,) = entry.pop("inbound_nodes")
    (tensor,) = call["args"]
    noted = tensor["config"]
    return {
        "entry": plain(
            {k: entry[k] for k in ("module", "class_name", "config", "build_config") if k in entry}
        ),
        "given": [noted["shape"], noted["dtype"]],
        "kwargs": call["kwargs"],
        "output": [made.shape, made.dtype],
        "masked": getattr(made, "_keras_mask", None) is not None,
    }


def main() -> None:
    """Every case in its own dtype, a part of them with other dtypes given and computed."""
    rows = []
    for shape, layers in CASES:
        for layer in layers:
            rows.append(row(layer, shape, "float32"))
            if shape in (ROW, SERIES):
                config = layer.get_config()
                for policy, dtype in (
                    ("mixed_float16", "float32"),
                    ("mixed_float16", "float16"),
                    ("float32", "int32"),
                ):
                    other = type(layer).from_config({**config, "dtype": policy})
                    try:
                        rows.append(row(other, shape, dtype))
                    except (TypeError, ValueError):  # no layer for integers
                        continue
    print("[\n" + ",\n".join(json.dumps(each, sort_keys=True) for each in rows) + "\n]")


main()
