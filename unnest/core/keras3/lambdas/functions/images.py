"""Resizing and turning of images."""

from __future__ import annotations

from unnest.core.keras3.lambdas.functions.signatures import PAIR, Bound, Table, op
from unnest.core.keras3.lambdas.values import IMAGE, NN, NUMPY, Name, NotUnderstood, Value

IMAGES = Table()


@IMAGES.known("tf.image.resize", 'x|images size method="bilinear"')
def _resize(call: Bound) -> Value:
    """TensorFlow 2's puts pixels where Keras 3's does; before, `tf.image.resize` was another function."""
    if call.dialect.tensorflow != "2":
        raise NotUnderstood("`tf.image.resize` of an unknown TensorFlow, which may not use half-pixel centres")
    method = call["method"]
    spelt = method.path.rpartition(".")[2].lower() if isinstance(method, Name) else call.text("method")
    if spelt != "bilinear":
        raise NotUnderstood(f"`tf.image.resize` by {spelt}")
    return op(IMAGE, "Resize", call.floats("x"), size=_size(call), interpolation=spelt, data_format="channels_last")


def _size(call: Bound) -> list[int]:
    size = call.integers("size")
    if len(size) != PAIR or min(size) < 1:
        raise NotUnderstood("the size")
    return size


@IMAGES.known("K.resize_images", 'x height_factor width_factor data_format|dim_ordering interpolation="nearest"')
def _resize_images(call: Bound) -> Value:
    """By repetition: whole factors and the nearest pixel."""
    call.only(interpolation="nearest")
    axes = {"channels_last": (1, 2), "tf": (1, 2), "channels_first": (2, 3), "th": (2, 3)}.get(call.text("data_format"))
    if axes is None:
        raise NotUnderstood("the data format")
    image = call.floats("x")
    for axis, factor in zip(axes, ("height_factor", "width_factor"), strict=True):
        if call.integer(factor) < 1:
            raise NotUnderstood("the factor")
        image = op(NUMPY, "Repeat", image, repeats=call.integer(factor), axis=axis)
    return image


@IMAGES.known("tf.image.rgb_to_grayscale", "x|images")
def _rgb_to_grayscale(call: Bound) -> Value:
    return op(IMAGE, "RGBToGrayscale", call.floats("x"), data_format="channels_last")


@IMAGES.known("tf.image.flip_left_right", "x|image")
def _flip_left_right(call: Bound) -> Value:
    return op(NUMPY, "Flip", call.tensor("x"), axis=-2)


@IMAGES.known("tf.image.flip_up_down", "x|image")
def _flip_up_down(call: Bound) -> Value:
    return op(NUMPY, "Flip", call.tensor("x"), axis=-3)


@IMAGES.known("tf.depth_to_space tf.nn.depth_to_space", "x|input block_size")
def _depth_to_space(call: Bound) -> Value:
    return op(NN, "DepthToSpace", call.floats("x"), block_size=call.integer("block_size"), data_format="channels_last")


@IMAGES.known("tf.space_to_depth tf.nn.space_to_depth", "x|input block_size")
def _space_to_depth(call: Bound) -> Value:
    return op(NN, "SpaceToDepth", call.floats("x"), block_size=call.integer("block_size"), data_format="channels_last")
