"""Resizing and turning of images."""

from __future__ import annotations

import math
import struct
from dataclasses import replace

from unnest.core.keras3.lambdas.functions.padding import padded
from unnest.core.keras3.lambdas.functions.signatures import PAIR, Bound, Table, op
from unnest.core.keras3.lambdas.operators import calculation, slice_of, subscript
from unnest.core.keras3.lambdas.values import (
    IMAGE,
    LAYERS,
    NN,
    NUMPY,
    Array,
    Const,
    Name,
    NotUnderstood,
    SymbolicTensor,
    Value,
    constant,
    items,
    operation,
)
from unnest.core.model import Json

IMAGES = Table()


@IMAGES.known("tf.image.resize", 'x|images size method="bilinear" preserve_aspect_ratio=false antialias=false')
def _resize(call: Bound) -> Value:
    """TensorFlow 2's puts pixels where Keras 3's does; before, `tf.image.resize` was another function."""
    if call.dialect.tensorflow != "2":
        raise NotUnderstood("`tf.image.resize` of an unknown TensorFlow, which may not use half-pixel centres")
    call.only(preserve_aspect_ratio=False, antialias=False)
    method = call["method"]
    spelt = method.path.rpartition(".")[2].lower() if isinstance(method, Name) else call.text("method")
    if spelt not in {"bilinear", "nearest", "nearest_neighbor"}:
        raise NotUnderstood(f"`tf.image.resize` by {spelt}")
    how = "bilinear" if spelt == "bilinear" else "nearest"
    return _resized(call, how)


OLD = "x|images size align_corners=false half_pixel_centers=false"
"""The arguments of TensorFlow 1's functions."""


@IMAGES.known("tf.image.resize_bilinear tf.compat.v1.image.resize_bilinear", OLD)
def _resize_bilinear(call: Bound) -> Value:
    if call.flag("half_pixel_centers"):
        return _resized(call, "bilinear")
    return _between(call.floats("x"), _size(call), is_aligned=call.flag("align_corners"))


@IMAGES.known("tf.image.resize_nearest_neighbor tf.compat.v1.image.resize_nearest_neighbor", OLD)
def _resize_nearest(call: Bound) -> Value:
    if call.flag("half_pixel_centers"):
        return _resized(call, "nearest")
    call.only(align_corners=False)
    return _nearest(call.floats("x"), _size(call))


@IMAGES.known(
    "tf.image.resize_images tf.compat.v1.image.resize_images tf.compat.v1.image.resize",
    "x|images size method=0 align_corners=false preserve_aspect_ratio=false",
)
def _resize_as_1_did(call: Bound) -> Value:
    method = call["method"]
    spelt = method.path.rpartition(".")[2] if isinstance(method, Name) else METHODS.get(method.text, method.text)
    call.only(preserve_aspect_ratio=False)
    if spelt == "BILINEAR":
        return _between(call.floats("x"), _size(call), is_aligned=call.flag("align_corners"))
    if spelt != "NEAREST_NEIGHBOR":
        raise NotUnderstood(f"a resizing by {spelt}")
    call.only(align_corners=False)
    return _nearest(call.floats("x"), _size(call))


METHODS = {"0": "BILINEAR", "1": "NEAREST_NEIGHBOR", "'bilinear'": "BILINEAR", "'nearest'": "NEAREST_NEIGHBOR"}
"""TensorFlow's numbers and words for them."""


def _resized(call: Bound, how: str) -> SymbolicTensor:
    size: Json = [*_size(call)]
    return op(IMAGE, "Resize", call.floats("x"), size=size, interpolation=how, data_format="channels_last")


def _between(x: SymbolicTensor, sizes: list[int], *, is_aligned: bool) -> SymbolicTensor:
    """Between the two rows, then the two columns, next to where a pixel comes from, which is not its centre.

    (Source: TensorFlow 1.13, core/kernels/resize_bilinear_op.cc and image_resizer_state.h, which compute in 32 bits.)
    """
    for axis, (before, after) in enumerate(zip(_height_and_width(x), sizes, strict=True), 1):
        sources = _sources(before, after, is_aligned=is_aligned)
        starts = [min(int(source), before - 1) for source in sources]
        ends = [min(start + 1, before - 1) for start in starts]
        shares = [[source - start] for source, start in zip(sources, starts, strict=True)]
        weights: Json = [[share] for share in shares] if axis == 1 else [*shares]
        first, second = (_at(x, places, axis) for places in (starts, ends))
        step = calculation("Multiply", calculation("Subtract", second, first), Array(weights, ""))
        x = replace(calculation("Add", first, step), shape=_with_size(x, axis, after))
    return x


def _nearest(x: SymbolicTensor, sizes: list[int]) -> SymbolicTensor:
    for axis, (before, after) in enumerate(zip(_height_and_width(x), sizes, strict=True), 1):
        places = [min(int(source), before - 1) for source in _sources(before, after)]
        x = replace(_at(x, places, axis), shape=_with_size(x, axis, after))
    return x


def _sources(before: int, after: int, *, is_aligned: bool = False) -> list[float]:
    """Where each new row or column comes from among the old ones."""
    scale = _of_32_bits((before - 1) / (after - 1) if is_aligned and after > 1 else before / after)
    return [_of_32_bits(k * scale) for k in range(after)]


def _of_32_bits(value: float) -> float:
    return float(struct.unpack("f", struct.pack("f", value))[0])


def _with_size(x: SymbolicTensor, axis: int, size: int) -> tuple[int | None, ...]:
    assert x.shape is not None
    return (*x.shape[:axis], size, *x.shape[axis + 1 :])


def _at(x: SymbolicTensor, places: list[int], axis: int) -> SymbolicTensor:
    """The rows or columns of an image at these places."""
    index: Json = {"class_name": "__numpy__", "config": {"value": [*places], "dtype": "int32"}}
    return operation(NUMPY, "Take", {"axis": axis}, [x.operand, index], [x])


def _height_and_width(x: SymbolicTensor) -> list[int]:
    sizes = [size for size in x.shape[1:3] if size is not None] if x.shape and len(x.shape) == IMAGE_RANK else []
    if len(sizes) != PAIR:
        raise NotUnderstood("an image of unknown height or width")
    return sizes


@IMAGES.known("tf.image.crop_to_bounding_box", "x|image offset_height offset_width target_height target_width")
def _crop(call: Bound) -> Value:
    return _cut(call.tensor("x"), *((call.integer(f"offset_{side}"), call.integer(f"target_{side}")) for side in SIDES))


@IMAGES.known("tf.image.central_crop", "x|image central_fraction")
def _central_crop(call: Bound) -> Value:
    """What is left where equally much is cut off both sides, rounded down."""
    x, fraction = call.tensor("x"), call.number("central_fraction")
    if not 0 < fraction < 1:
        raise NotUnderstood("the fraction")
    starts = [int((size - size * fraction) / 2) for size in _height_and_width(x)]
    return _cut(x, *((start, size - 2 * start) for start, size in zip(starts, _height_and_width(x), strict=True)))


def _cut(x: SymbolicTensor, *spans: tuple[int, int]) -> Value:
    """So many rows and columns from there on."""
    sizes = _height_and_width(x)
    if any(
        start < 0 or length < 1 or start + length > size for (start, length), size in zip(spans, sizes, strict=True)
    ):
        raise NotUnderstood("the part of the image")
    keys = [slice_of([constant(start), constant(start + length)]) for start, length in spans]
    return subscript(x, items("tuple", [slice_of([constant(None), constant(None)]), *keys]))


@IMAGES.known("tf.image.pad_to_bounding_box", "x|image offset_height offset_width target_height target_width")
def _pad_to(call: Bound) -> Value:
    x = call.floats("x")
    before = [call.integer(f"offset_{side}") for side in SIDES]
    whole = [call.integer(f"target_{side}") for side in SIDES]
    after = [total - first - size for total, first, size in zip(whole, before, _height_and_width(x), strict=True)]
    if min(*before, *after) < 0:
        raise NotUnderstood("the padding")
    widths: Json = [[0, 0], *([first, last] for first, last in zip(before, after, strict=True)), [0, 0]]
    return padded(x, widths, 0)


SIDES = ("height", "width")
IMAGE_RANK = 4


@IMAGES.known("tf.image.adjust_contrast", "x|images contrast_factor")
def _adjust_contrast(call: Bound) -> Value:
    """Each channel of each image away from its mean."""
    x = call.floats("x")
    mean = op(NUMPY, "Mean", x, axis=[-3, -2], keepdims=True)
    scaled = calculation("Multiply", calculation("Subtract", x, mean), constant(float(call.number("contrast_factor"))))
    return calculation("Add", scaled, mean)


@IMAGES.known("tf.image.adjust_brightness", "x|image delta")
def _adjust_brightness(call: Bound) -> Value:
    return calculation("Add", call.floats("x"), constant(float(call.number("delta"))))


@IMAGES.known("tf.image.per_image_standardization", "x|image")
def _standardized(call: Bound) -> Value:
    """By the mean and the deviation of each image, the latter not below that of one odd pixel."""
    x = call.floats("x")
    if x.shape is None or len(x.shape) != IMAGE_RANK or None in x.shape[1:]:
        raise NotUnderstood("an image of unknown size")
    count = math.prod(size for size in x.shape[1:] if size is not None)
    mean, deviation = (op(NUMPY, kind, x, axis=[-3, -2, -1], keepdims=True) for kind in ("Mean", "Std"))
    bounded = calculation("Maximum", deviation, constant(1 / math.sqrt(count)))
    return calculation("Divide", calculation("Subtract", x, mean), bounded)


@IMAGES.known("tf.image.grayscale_to_rgb", "x|images")
def _grayscale_to_rgb(call: Bound) -> Value:
    return op(NUMPY, "Repeat", call.tensor("x"), repeats=3, axis=-1)


def _pooling(names: str, class_name: str) -> None:
    @IMAGES.known(names, 'x|input|value ksize strides padding data_format="NHWC"')
    def compute(call: Bound) -> Value:
        call.only(data_format="NHWC")
        return op(
            LAYERS, class_name, call.floats("x"), pool_size=_sides(call, "ksize"), strides=_sides(call, "strides"),
            padding=_padding(call), data_format="channels_last",
        )  # fmt: skip


_pooling("tf.nn.max_pool2d tf.nn.max_pool", "MaxPooling2D")
_pooling("tf.nn.avg_pool2d tf.nn.avg_pool", "AveragePooling2D")


@IMAGES.known(
    "K.pool2d",
    'x pool_size strides=null padding|border_mode="valid" data_format|dim_ordering=null pool_mode="max"',
)
def _pool2d(call: Bound) -> Value:
    """By windows that move by one where no strides are told."""
    kind = {"max": "MaxPooling2D", "avg": "AveragePooling2D"}.get(call.text("pool_mode"))
    padding = call.text("padding")
    if kind is None or padding not in {"same", "valid"} or not call.is_channels_last("data_format"):
        raise NotUnderstood("the pooling")
    strides = [1, 1] if call["strides"] == constant(None) else _sides(call, "strides")
    size: Json = [*_sides(call, "pool_size")]
    return op(
        LAYERS, kind, call.floats("x"), pool_size=size, strides=[*strides], padding=padding,
        data_format="channels_last",
    )  # fmt: skip


def _sides(call: Bound, name: str) -> list[int]:
    """One number for both sides, one for each, or four, of which those of the batch and of the channels are 1."""
    sides = [call.integer(name)] if isinstance(call[name], Const) else call.integers(name)
    if len(sides) == IMAGE_RANK and (sides[0], sides[-1]) == (1, 1):
        sides = sides[1:-1]
    if len(sides) not in {1, PAIR} or min(sides) < 1:
        raise NotUnderstood(f"`{name}={call[name].text}`")
    return sides * PAIR if len(sides) == 1 else sides


def _padding(call: Bound) -> str:
    padding = call.text("padding")
    if padding not in {"SAME", "VALID"}:
        raise NotUnderstood("the padding")
    return padding.lower()


@IMAGES.known("tf.image.extract_patches", "x|images sizes strides rates padding")
def _extract_patches(call: Bound) -> Value:
    size, strides, rates = (_sides(call, name) for name in ("sizes", "strides", "rates"))
    if rates != [1, 1]:
        raise NotUnderstood("patches with gaps")
    return op(
        IMAGE, "ExtractPatches", call.floats("x"), size=list(size), strides=list(strides), dilation_rate=1,
        padding=_padding(call), data_format="channels_last",
    )  # fmt: skip


@IMAGES.known("tf.nn.local_response_normalization tf.nn.lrn", "x|input depth_radius=5 bias=1.0 alpha=1.0 beta=0.5")
def _local_response_normalization(call: Bound) -> Value:
    """Each channel by the squares of those around it."""
    x, radius = call.floats("x"), call.integer("depth_radius")
    if not 0 < radius <= MAX_RADIUS:
        raise NotUnderstood("the radius")
    squares = op(NUMPY, "Pad", op(NUMPY, "Square", x), pad_width=[[0, 0]] * 3 + [[radius, radius]], mode="constant")
    total: SymbolicTensor | None = None
    for k in range(2 * radius + 1):
        end = None if k == 2 * radius else k - 2 * radius
        near = subscript(squares, items("tuple", [constant(...), slice_of([constant(k), constant(end)])]))
        assert isinstance(near, SymbolicTensor)
        total = near if total is None else calculation("Add", total, near)
    assert total is not None
    total = calculation("Multiply", total, constant(float(call.number("alpha"))))
    total = calculation("Add", total, constant(float(call.number("bias"))))
    return calculation("Divide", x, calculation("Power", total, constant(float(call.number("beta")))))


MAX_RADIUS = 10


def _size(call: Bound) -> list[int]:
    size = call.integers("size")
    if len(size) != PAIR or min(size) < 1:
        raise NotUnderstood("the size")
    return size


@IMAGES.known("K.resize_images", 'x height_factor width_factor data_format|dim_ordering interpolation="nearest"')
def _resize_images(call: Bound) -> Value:
    """By repetition: whole factors and the nearest pixel."""
    call.only(interpolation="nearest")
    axes = (1, 2) if call.is_channels_last("data_format") else (2, 3)
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


@IMAGES.known("tf.depth_to_space tf.nn.depth_to_space", 'x|input block_size data_format="NHWC"')
def _depth_to_space(call: Bound) -> Value:
    call.only(data_format="NHWC")
    return op(NN, "DepthToSpace", call.floats("x"), block_size=call.integer("block_size"), data_format="channels_last")


@IMAGES.known("tf.space_to_depth tf.nn.space_to_depth", 'x|input block_size data_format="NHWC"')
def _space_to_depth(call: Bound) -> Value:
    call.only(data_format="NHWC")
    return op(NN, "SpaceToDepth", call.floats("x"), block_size=call.integer("block_size"), data_format="channels_last")
