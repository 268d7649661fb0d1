"""Operations on images: resizing, cutting, turning, colours."""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING

from unnest.core.model import Json, Shape, Unknown
from unnest.core.ops.call import Value
from unnest.core.ops.keras3_nodes.function_registry import keras3
from unnest.core.ops.operation_kinds import Kind
from unnest.core.ops.registry import define, shape_rule
from unnest.core.ops.shape_arithmetic import CHANNELS_LAST, IMAGE_RANK, image_sizes, wholes

if TYPE_CHECKING:
    from unnest.core.ops.keras3_nodes.expression_values import SymbolicTensor
    from unnest.core.ops.keras3_nodes.function_call import FunctionCall

PAIR = 2
SIDES = ("height", "width")

define(
    "resize",
    "x|images|image size method|interpolation preserve_aspect_ratio|crop_to_aspect_ratio|pad_to_aspect_ratio "
    "antialias data_format fill_mode fill_value",
    Kind.WINDOW,
)
define("resize_images", "x|images size method align_corners preserve_aspect_ratio", Kind.WINDOW)

RESIZED = "x|images size align_corners half_pixel_centers"
RESIZE_NODE = "x size @align_corners @half_pixel_centers"
define("resize_bilinear", RESIZED, Kind.WINDOW, nodes={"ResizeBilinear": RESIZE_NODE})
define(
    "resize_nearest_neighbor", RESIZED, Kind.WINDOW, nodes={"ResizeNearestNeighbor": RESIZE_NODE}
)
define("rgb_to_grayscale", "x|images|image data_format", Kind.ROWWISE)
define("adjust_contrast adjust_contrast_v2", "x|images contrast_factor", Kind.WINDOW)


@shape_rule("resize")
@shape_rule("resize_images")
@shape_rule("resize_bilinear")
@shape_rule("resize_nearest_neighbor")
def resize_shape(
    x: Value,
    size: Value,
    preserve_aspect_ratio: Value = None,
    data_format: Value = CHANNELS_LAST,
    **sampling: Value,
) -> Shape:
    """Shape of images (batch, height, width, channels) resized to a constant size. Raises Unknown."""
    del sampling
    batch, _, _, channels = image_sizes(x, data_format)
    sizes = wholes(size)
    if preserve_aspect_ratio or len(sizes) != PAIR:
        raise Unknown("the size of a resized image")
    return (batch, *sizes, channels)


@shape_rule("rgb_to_grayscale")
def grayscale_shape(x: Value, data_format: Value = CHANNELS_LAST) -> Shape:
    """Shape of images (batch, height, width, channels) with one channel. Raises Unknown."""
    return (*image_sizes(x, data_format)[:-1], 1)


@keras3(
    "tf.image.resize", 'x|images size method="bilinear" preserve_aspect_ratio=false antialias=false'
)
def _resize(call: FunctionCall) -> SymbolicTensor:
    """Nodes of TensorFlow 2's resize, which samples as Keras 3's; TensorFlow 1's `tf.image.resize` did not.

    Raises Unknown.
    """
    if call.dialect.tensorflow != "2":
        raise Unknown(
            "`tf.image.resize` of an unknown TensorFlow, which may not use half-pixel centres"
        )
    call.only(preserve_aspect_ratio=False, antialias=False)
    named = call.function_name("method")
    spelt = call.text("method") if named is None else named.lower()
    if spelt not in {"bilinear", "nearest", "nearest_neighbor"}:
        raise Unknown(f"`tf.image.resize` by {spelt}")
    how = "bilinear" if spelt == "bilinear" else "nearest"
    return _resized(call, how)


OLD = "x|images size align_corners=false half_pixel_centers=false"
"""The arguments of TensorFlow 1's functions."""


@keras3("tf.image.resize_bilinear tf.compat.v1.image.resize_bilinear", OLD)
def _resize_bilinear(call: FunctionCall) -> SymbolicTensor:
    if call.flag("half_pixel_centers"):
        return _resized(call, "bilinear")
    return _between(call, call.floats("x"), _size(call), is_aligned=call.flag("align_corners"))


@keras3("tf.image.resize_nearest_neighbor tf.compat.v1.image.resize_nearest_neighbor", OLD)
def _resize_nearest(call: FunctionCall) -> SymbolicTensor:
    if call.flag("half_pixel_centers"):
        return _resized(call, "nearest")
    call.only(align_corners=False)
    return _nearest(call, call.floats("x"), _size(call))


@keras3(
    "tf.image.resize_images tf.compat.v1.image.resize_images tf.compat.v1.image.resize",
    "x|images size method=0 align_corners=false preserve_aspect_ratio=false",
)
def _resize_as_1_did(call: FunctionCall) -> SymbolicTensor:
    text = call["method"].text
    spelt = call.function_name("method") or METHODS.get(text, text)
    call.only(preserve_aspect_ratio=False)
    if spelt == "BILINEAR":
        return _between(call, call.floats("x"), _size(call), is_aligned=call.flag("align_corners"))
    if spelt != "NEAREST_NEIGHBOR":
        raise Unknown(f"a resizing by {spelt}")
    call.only(align_corners=False)
    return _nearest(call, call.floats("x"), _size(call))


METHODS = {
    "0": "BILINEAR",
    "1": "NEAREST_NEIGHBOR",
    "'bilinear'": "BILINEAR",
    "'nearest'": "NEAREST_NEIGHBOR",
}
"""TensorFlow's numbers and words for them."""


def _resized(call: FunctionCall, how: str) -> SymbolicTensor:
    size: Json = [*_size(call)]
    return call.op(
        "Resize", call.floats("x"), size=size, interpolation=how, data_format="channels_last"
    )


def _between(
    call: FunctionCall, x: SymbolicTensor, sizes: list[int], *, is_aligned: bool
) -> SymbolicTensor:
    """Interpolate between the rows, then the columns, next to a pixel's source, with corners as origin of pixels.

    (Source: TensorFlow 1.13, core/kernels/resize_bilinear_op.cc and image_resizer_state.h, which compute in 32 bits.)
    """
    for axis, (before, after) in enumerate(zip(_height_and_width(x), sizes, strict=True), 1):
        sources = _sources(before, after, is_aligned=is_aligned)
        starts = [min(int(source), before - 1) for source in sources]
        ends = [min(start + 1, before - 1) for start in starts]
        shares = [[source - start] for source, start in zip(sources, starts, strict=True)]
        weights: Json = [[share] for share in shares] if axis == 1 else [*shares]
        first, second = (_at(call, x, places, axis) for places in (starts, ends))
        step = call.calculate(
            "Multiply", call.calculate("Subtract", second, first), call.constant_array(weights)
        )
        x = call.calculate("Add", first, step)
    return x


def _nearest(call: FunctionCall, x: SymbolicTensor, sizes: list[int]) -> SymbolicTensor:
    for axis, (before, after) in enumerate(zip(_height_and_width(x), sizes, strict=True), 1):
        places = [min(int(source), before - 1) for source in _sources(before, after)]
        x = _at(call, x, places, axis)
    return x


def _sources(before: int, after: int, *, is_aligned: bool = False) -> list[float]:
    """Return the old index of each new row or column."""
    scale = _of_32_bits((before - 1) / (after - 1) if is_aligned and after > 1 else before / after)
    return [_of_32_bits(k * scale) for k in range(after)]


def _of_32_bits(value: float) -> float:
    return float(struct.unpack("f", struct.pack("f", value))[0])


def _at(call: FunctionCall, x: SymbolicTensor, places: list[int], axis: int) -> SymbolicTensor:
    """Return the rows or columns of an image at these places."""
    index: Json = {"class_name": "__numpy__", "config": {"value": [*places], "dtype": "int32"}}
    return call.op("Take", x, index, axis=axis)


def _height_and_width(x: SymbolicTensor) -> list[int]:
    sizes = (
        [size for size in x.shape[1:3] if size is not None]
        if x.shape and len(x.shape) == IMAGE_RANK
        else []
    )
    if len(sizes) != PAIR:
        raise Unknown("an image of unknown height or width")
    return sizes


@keras3(
    "tf.image.crop_to_bounding_box", "x|image offset_height offset_width target_height target_width"
)
def _crop(call: FunctionCall) -> SymbolicTensor:
    return _part_of_image(
        call,
        call.tensor("x"),
        *((call.integer(f"offset_{side}"), call.integer(f"target_{side}")) for side in SIDES),
    )


@keras3("tf.image.central_crop", "x|image central_fraction")
def _central_crop(call: FunctionCall) -> SymbolicTensor:
    """Return the middle of each image: a fraction of its height and width, the rest cut off both sides equally.

    Raises Unknown.
    """
    x, fraction = call.tensor("x"), call.number("central_fraction")
    if not 0 < fraction < 1:
        raise Unknown("the fraction")
    starts = [int((size - size * fraction) / 2) for size in _height_and_width(x)]
    return _part_of_image(
        call,
        x,
        *(
            (start, size - 2 * start)
            for start, size in zip(starts, _height_and_width(x), strict=True)
        ),
    )


def _part_of_image(
    call: FunctionCall, x: SymbolicTensor, *spans: tuple[int, int]
) -> SymbolicTensor:
    """Slice images (batch, height, width, channels) by `spans`: (start, length) of the rows and of the columns.

    Raises Unknown.
    """
    sizes = _height_and_width(x)
    if any(
        start < 0 or length < 1 or start + length > size
        for (start, length), size in zip(spans, sizes, strict=True)
    ):
        raise Unknown("the part of the image")
    return call.subscript(
        x, slice(None), *(slice(start, start + length) for start, length in spans)
    )


@keras3(
    "tf.image.pad_to_bounding_box", "x|image offset_height offset_width target_height target_width"
)
def _pad_to(call: FunctionCall) -> SymbolicTensor:
    """Nodes of `tf.image.pad_to_bounding_box`: zeros around images (batch, height, width, channels). Raises Unknown."""
    x = call.floats("x")
    before = [call.integer(f"offset_{side}") for side in SIDES]
    whole = [call.integer(f"target_{side}") for side in SIDES]
    after = [
        total - first - size
        for total, first, size in zip(whole, before, _height_and_width(x), strict=True)
    ]
    if min(*before, *after) < 0:
        raise Unknown("the padding")
    widths: Json = [
        [0, 0],
        *([first, last] for first, last in zip(before, after, strict=True)),
        [0, 0],
    ]
    return call.padded(x, widths, 0)


@keras3("tf.image.adjust_contrast", "x|images contrast_factor")
def _adjust_contrast(call: FunctionCall) -> SymbolicTensor:
    """Nodes of `tf.image.adjust_contrast`: scale the distance of each image's channels from their means."""
    x = call.floats("x")
    mean = call.op("Mean", x, axis=[-3, -2], keepdims=True)
    scaled = call.calculate(
        "Multiply", call.calculate("Subtract", x, mean), float(call.number("contrast_factor"))
    )
    return call.calculate("Add", scaled, mean)


define("adjust_brightness", "x|image delta", Kind.MAP)


@keras3("tf.image.adjust_brightness", "x|image delta")
def _adjust_brightness(call: FunctionCall) -> SymbolicTensor:
    return call.calculate("Add", call.floats("x"), float(call.number("delta")))


@keras3("tf.image.per_image_standardization", "x|image")
def _standardized(call: FunctionCall) -> SymbolicTensor:
    """Nodes of `tf.image.per_image_standardization`: subtract each image's mean, divide by its bounded deviation.

    Raises Unknown.
    """
    x = call.floats("x")
    if x.shape is None or len(x.shape) != IMAGE_RANK or None in x.shape[1:]:
        raise Unknown("an image of unknown size")
    count = math.prod(size for size in x.shape[1:] if size is not None)
    mean, deviation = (
        call.op(kind, x, axis=[-3, -2, -1], keepdims=True) for kind in ("Mean", "Std")
    )
    bounded = call.calculate("Maximum", deviation, 1 / math.sqrt(count))
    return call.calculate("Divide", call.calculate("Subtract", x, mean), bounded)


@keras3("tf.image.grayscale_to_rgb", "x|images")
def _grayscale_to_rgb(call: FunctionCall) -> SymbolicTensor:
    return call.op("Repeat", call.tensor("x"), repeats=3, axis=-1)


def _size(call: FunctionCall) -> list[int]:
    size = call.integers("size")
    if len(size) != PAIR or min(size) < 1:
        raise Unknown("the size")
    return size


@keras3(
    "K.resize_images",
    'x height_factor width_factor data_format|dim_ordering interpolation="nearest"',
)
def _resize_images(call: FunctionCall) -> SymbolicTensor:
    """Nodes of `K.resize_images` by whole factors, nearest neighbour: every pixel repeated. Raises Unknown."""
    call.only(interpolation="nearest")
    axes = (1, 2) if call.is_channels_last("data_format") else (2, 3)
    image = call.floats("x")
    for axis, factor in zip(axes, ("height_factor", "width_factor"), strict=True):
        if call.integer(factor) < 1:
            raise Unknown("the factor")
        image = call.op("Repeat", image, repeats=call.integer(factor), axis=axis)
    return image


@keras3("tf.image.rgb_to_grayscale", "x|images")
def _rgb_to_grayscale(call: FunctionCall) -> SymbolicTensor:
    return call.op("RGBToGrayscale", call.floats("x"), data_format="channels_last")


@keras3("tf.image.flip_left_right", "x|image")
def _flip_left_right(call: FunctionCall) -> SymbolicTensor:
    return call.op("Flip", call.tensor("x"), axis=-2)


@keras3("tf.image.flip_up_down", "x|image")
def _flip_up_down(call: FunctionCall) -> SymbolicTensor:
    return call.op("Flip", call.tensor("x"), axis=-3)
