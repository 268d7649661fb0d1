"""Run by a Python that has Keras 3 and never sees unnest: the printed lines, typed beside the author's own code.

    lines_today.py JOBS.json ANSWERS.json

JOBS: [{"line": what `fix` printed, "case": the model, "io": path of an .npz with x0..., y0...}]. ANSWERS: for each the
largest difference from y0..., or the error as text. The code is what each author's class or function computes, written
for Keras 3.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
warnings.simplefilter("ignore")

import keras  # noqa: E402 - the log level first
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from keras import ops  # noqa: E402


class Scaled(keras.layers.Layer):
    """A normalization with a scale and an offset of the last axis; arguments are kept as they come."""

    def __init__(self, epsilon: float = 1e-6, **given: Any) -> None:
        super().__init__(**{k: v for k, v in given.items() if k in ("name", "trainable", "dtype")})
        self.epsilon = epsilon

    def build(self, shape: Any) -> None:
        self.gamma = self.add_weight(shape=(shape[-1],), name="gamma")
        self.beta = self.add_weight(shape=(shape[-1],), name="beta")

    def scaled(self, x: Any, axes: Any, *, inside: bool) -> Any:
        mean, variance = ops.mean(x, axes, keepdims=True), ops.var(x, axes, keepdims=True)
        spread = ops.sqrt(variance + self.epsilon) if inside else ops.sqrt(variance) + self.epsilon
        return self.gamma * (x - mean) / spread + self.beta


class MaskedMean(keras.layers.Layer):
    """The mean of the unmasked steps."""

    def __init__(self, **config: Any) -> None:
        super().__init__(**config)
        self.supports_masking = True

    def compute_mask(self, *_: Any) -> None:
        return None

    def call(self, x: Any, mask: Any = None) -> Any:
        weights = (
            ops.ones_like(x[:, :, :1])
            if mask is None
            else ops.expand_dims(ops.cast(mask, "float32"), -1)
        )
        return ops.sum(x * weights, axis=1) / (ops.sum(weights, axis=1) + 1e-6)


class Doubled(keras.layers.Layer):
    """Twice what comes in, its mask handed on."""

    def __init__(self, **config: Any) -> None:
        super().__init__(**config)
        self.supports_masking = True

    def call(self, x: Any) -> Any:
        return 2.0 * x


class LayerNormalization(Scaled):
    """Of the last axis, epsilon outside the root."""

    def call(self, x: Any) -> Any:
        return self.scaled(x, -1, inside=False)


class GroupNormalization(Scaled):
    """Of an image, epsilon inside the root."""

    def call(self, x: Any) -> Any:
        return self.scaled(x, [1, 2], inside=True)


class InstanceNormalization(Scaled):
    """Of an image, epsilon outside the root."""

    def call(self, x: Any) -> Any:
        return self.scaled(x, [1, 2], inside=False)


class Attention(keras.layers.Layer):
    """Of two sequences."""

    def call(self, x: Any) -> Any:
        a, b = x
        return ops.matmul(ops.softmax(ops.matmul(a, ops.transpose(b, (0, 2, 1))) / 2.0), b)

    def compute_output_shape(self, shapes: Any) -> Any:
        return shapes[0]


class AttentionLayer(keras.layers.Layer):
    """A weighted sum over steps."""

    def build(self, shape: Any) -> None:
        self.w = self.add_weight(shape=(shape[-1], 1), name="att_weight")
        self.b = self.add_weight(shape=(shape[1], 1), name="att_bias")

    def call(self, x: Any) -> Any:
        at = ops.softmax(ops.squeeze(ops.tanh(ops.matmul(x, self.w) + self.b), -1))
        return ops.sum(x * ops.expand_dims(at, -1), axis=1)


class Capsule(keras.layers.Layer):
    """A convolution over one step."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**{k: v for k, v in given.items() if k in ("name", "trainable", "dtype")})

    def build(self, shape: Any) -> None:
        self.w = self.add_weight(shape=(1, shape[-1], 6), name="capsule_kernel")

    def call(self, x: Any) -> Any:
        return ops.matmul(x, self.w[0])


class PositionEmbedding(keras.layers.Layer):
    """A table that is added."""

    def __init__(self, size: int = 4, **given: Any) -> None:
        super().__init__(**given)
        self.size = size

    def build(self, shape: Any) -> None:
        self.table = self.add_weight(shape=(shape[1], self.size), name="embeddings")

    def call(self, x: Any) -> Any:
        return x + self.table


class BatchNorm(keras.layers.BatchNormalization):
    """Never trained; tf.keras wrote its axis as a list."""

    def __init__(self, axis: Any = -1, **given: Any) -> None:
        super().__init__(axis=axis[0] if isinstance(axis, list) else axis, **given)


class FixedDropout(keras.layers.Dropout):
    """Of whole channels."""


def channel_shuffle(x: Any) -> Any:
    return ops.reshape(
        ops.transpose(ops.reshape(x, (-1, 4, 4, 2, 2)), (0, 1, 2, 4, 3)), (-1, 4, 4, 4)
    )


def resized(x: Any) -> Any:
    return tf.compat.v1.image.resize_bilinear(x, size=(8, 8), align_corners=True)


def gelu(x: Any) -> Any:
    return 0.5 * x * (1.0 + ops.tanh(x * 0.7978845608 * (1.0 + 0.044715 * x * x)))


#: Model -> the function of the Lambda that it keeps.
LAMBDAS = {
    "openface_lrn": lambda x: tf.nn.lrn(x, alpha=1e-4, beta=0.75),
    "deeplab_bilinear": resized,
    "deeplab_bilinear1": resized,
    "lambda_dimension": lambda x: x[:, :, 1:3],
    "shufflenet": channel_shuffle,
    "rpn": lambda x: ops.reshape(x, (-1, 48, 2)),
    "preprocess_app": lambda x: x / 127.5 - 1.0,
    "self_driving_resize2": lambda x: tf.compat.v1.image.resize_bilinear(x, (4, 8)),
}


def loaded(line: str, case: str) -> Any:
    """The model that the line gives."""
    space: dict[str, Any] = dict(globals())
    space |= dict(hard_swish=keras.activations.hard_silu, mish=keras.activations.mish)  # noqa: C408 - as an author names
    if case in LAMBDAS:
        space |= dict.fromkeys(
            ("lambda_function", "lambda_1_function", "lrn_1_function"), LAMBDAS[case]
        )
    exec(line, space)  # noqa: S102 - the very thing to be tested
    return space["model"]


def answer(job: dict[str, str]) -> float | str:
    """The difference, or the error."""
    try:
        model = loaded(job["line"], job["case"])
        with np.load(job["io"]) as io:
            x, y = ([io[k] for k in sorted(io.files) if k[0] == which] for which in "xy")
        made = model(x if len(x) > 1 else x[0], training=False)
        arrays = [
            ops.convert_to_numpy(m) for m in (made if isinstance(made, list | tuple) else [made])
        ]
        return max(float(np.max(np.abs(m - t))) for m, t in zip(arrays, y, strict=True))
    except Exception as e:  # noqa: BLE001 - whatever Keras raises is the answer
        return f"{type(e).__name__}: {' '.join(str(e).split())[:300]}"
    finally:
        keras.backend.clear_session(free_memory=False)


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        jobs = json.load(file)
    answers = [answer(job) for job in jobs]
    assert "unnest" not in sys.modules
    with open(sys.argv[2], "w") as file:
        json.dump(answers, file)
