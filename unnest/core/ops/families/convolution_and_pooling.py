"""Operations on each row by itself, over its other axes: convolutions, pooling, patches, normalizations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unnest.core.model import Json, Shape, Unknown
from unnest.core.ops.call import Value
from unnest.core.ops.keras3_nodes.function_registry import keras3
from unnest.core.ops.operation_kinds import Kind
from unnest.core.ops.registry import define, define_all, shape_rule
from unnest.core.ops.shape_arithmetic import CHANNELS_LAST, image_sizes, whole

if TYPE_CHECKING:
    from unnest.core.ops.keras3_nodes.expression_values import SymbolicTensor
    from unnest.core.ops.keras3_nodes.function_call import FunctionCall

define_all(
    "conv conv1d conv2d conv3d conv_transpose depthwise_conv depthwise_conv2d depthwise_conv2d_native separable_conv "
    "separable_conv2d max_pool max_pool1d max_pool3d avg_pool avg_pool1d avg_pool3d average_pool "
    "pool pool2d pool3d resize_volumes temporal_padding spatial_2d_padding spatial_3d_padding "
    "dot_product_attention",
    "*x",
    Kind.WINDOW,
)
define_all(
    "batch_normalization fused_batch_norm fused_batch_norm_v2 fused_batch_norm_v3 rgb_to_hsv "
    "hsv_to_rgb",
    "*x",
    Kind.ROWWISE,
)
define("bias_add", "x bias data_format", Kind.ROWWISE, nodes={"BiasAdd": "x bias @data_format"})

POOLED, POOL_NODE = "x ksize strides padding data_format", "x @ksize @strides @padding @data_format"
define("max_pool2d", POOLED, Kind.WINDOW, nodes={"MaxPool": POOL_NODE})
define("avg_pool2d", POOLED, Kind.WINDOW, nodes={"AvgPool": POOL_NODE})

BLOCKS, BLOCK_NODE = "x block_size data_format", "x @block_size @data_format"
define("depth_to_space", BLOCKS, Kind.WINDOW, nodes={"DepthToSpace": BLOCK_NODE})
define("space_to_depth", BLOCKS, Kind.WINDOW, nodes={"SpaceToDepth": BLOCK_NODE})


@shape_rule("depth_to_space")
def depth_to_space_shape(x: Value, block_size: Value, data_format: Value = CHANNELS_LAST) -> Shape:
    """Shape of images (batch, height, width, channels) whose channels became blocks of pixels. Raises Unknown."""
    batch, height, width, channels = image_sizes(x, data_format)
    block = whole(block_size)
    if channels is not None and channels % block**2:
        raise Unknown("channels that fill no blocks")
    return (
        batch,
        None if height is None else height * block,
        None if width is None else width * block,
        None if channels is None else channels // block**2,
    )


@shape_rule("space_to_depth")
def space_to_depth_shape(x: Value, block_size: Value, data_format: Value = CHANNELS_LAST) -> Shape:
    """Shape of images (batch, height, width, channels) whose blocks of pixels became channels. Raises Unknown."""
    batch, height, width, channels = image_sizes(x, data_format)
    block = whole(block_size)
    if any(size is not None and size % block for size in (height, width)):
        raise Unknown("pixels that fill no blocks")
    return (
        batch,
        None if height is None else height // block,
        None if width is None else width // block,
        None if channels is None else channels * block**2,
    )


define(
    "local_response_normalization",
    "x depth_radius bias alpha beta",
    Kind.WINDOW,
    nodes={"LRN": "x @depth_radius @bias @alpha @beta"},
)

define(
    "extract_patches",
    "x|images sizes strides rates padding",
    Kind.WINDOW,
    nodes={"ExtractImagePatches": "x @ksizes:sizes @strides @rates @padding"},
)

PAIR, IMAGE_RANK = 2, 4


def _pooling(names: str, class_name: str) -> None:
    @keras3(names, 'x|input|value ksize strides padding data_format="NHWC"')
    def compute(call: FunctionCall) -> SymbolicTensor:
        call.only(data_format="NHWC")
        return call.layer(
            class_name, call.floats("x"), pool_size=_sides(call, "ksize"), strides=_sides(call, "strides"),
            padding=_padding(call), data_format="channels_last",
        )  # fmt: skip


_pooling("tf.nn.max_pool2d tf.nn.max_pool", "MaxPooling2D")
_pooling("tf.nn.avg_pool2d tf.nn.avg_pool", "AveragePooling2D")


@keras3(
    "K.pool2d",
    'x pool_size strides=null padding|border_mode="valid" data_format|dim_ordering=null pool_mode="max"',
)
def _pool2d(call: FunctionCall) -> SymbolicTensor:
    """Return the pooling layer of a `K.pool2d`, the windows of which move by one without `strides`. Raises Unknown."""
    kind = {"max": "MaxPooling2D", "avg": "AveragePooling2D"}.get(call.text("pool_mode"))
    padding = call.text("padding")
    if kind is None or padding not in {"same", "valid"} or not call.is_channels_last("data_format"):
        raise Unknown("the pooling")
    strides = [1, 1] if call.is_omitted("strides") else _sides(call, "strides")
    size: Json = [*_sides(call, "pool_size")]
    return call.layer(
        kind, call.floats("x"), pool_size=size, strides=[*strides], padding=padding,
        data_format="channels_last",
    )  # fmt: skip


def _sides(call: FunctionCall, name: str) -> list[int]:
    """Return a size or step for height and width: of one number, of two, or of four, the outer of which are 1.

    Raises Unknown.
    """
    sides = [call.integer(name)] if call.is_plain(name) else call.integers(name)
    if len(sides) == IMAGE_RANK and (sides[0], sides[-1]) == (1, 1):
        sides = sides[1:-1]
    if len(sides) not in {1, PAIR} or min(sides) < 1:
        raise Unknown(f"`{name}={call[name].text}`")
    return sides * PAIR if len(sides) == 1 else sides


def _padding(call: FunctionCall) -> str:
    padding = call.text("padding")
    if padding not in {"SAME", "VALID"}:
        raise Unknown("the padding")
    return padding.lower()


@keras3("tf.image.extract_patches", "x|images sizes strides rates padding")
def _extract_patches(call: FunctionCall) -> SymbolicTensor:
    size, strides, rates = (_sides(call, name) for name in ("sizes", "strides", "rates"))
    if rates != [1, 1]:
        raise Unknown("patches with gaps")
    return call.op(
        "ExtractPatches", call.floats("x"), size=list(size), strides=list(strides), dilation_rate=1,
        padding=_padding(call), data_format="channels_last",
    )  # fmt: skip


@keras3(
    "tf.nn.local_response_normalization tf.nn.lrn",
    "x|input depth_radius=5 bias=1.0 alpha=1.0 beta=0.5",
)
def _local_response_normalization(call: FunctionCall) -> SymbolicTensor:
    """Nodes of `tf.nn.local_response_normalization`: each channel divided by a power of the squares around it.

    x / (bias + alpha * sum of squares) ** beta, of images (batch, height, width, channels), along the channels.
    Raises Unknown.
    """
    x, radius = call.floats("x"), call.integer("depth_radius")
    if not 0 < radius <= MAX_RADIUS:
        raise Unknown("the radius")
    squares = call.op(
        "Pad", call.op("Square", x), pad_width=[[0, 0]] * 3 + [[radius, radius]], mode="constant"
    )
    total: SymbolicTensor | None = None
    for k in range(2 * radius + 1):
        end = None if k == 2 * radius else k - 2 * radius
        near = call.subscript(squares, ..., slice(k, end))
        total = near if total is None else call.calculate("Add", total, near)
    assert total is not None
    total = call.calculate("Multiply", total, float(call.number("alpha")))
    total = call.calculate("Add", total, float(call.number("bias")))
    return call.calculate("Divide", x, call.calculate("Power", total, float(call.number("beta"))))


MAX_RADIUS = 10


@keras3("tf.depth_to_space tf.nn.depth_to_space", 'x|input block_size data_format="NHWC"')
def _depth_to_space(call: FunctionCall) -> SymbolicTensor:
    call.only(data_format="NHWC")
    return call.op(
        "DepthToSpace",
        call.floats("x"),
        block_size=call.integer("block_size"),
        data_format="channels_last",
    )


@keras3("tf.space_to_depth tf.nn.space_to_depth", 'x|input block_size data_format="NHWC"')
def _space_to_depth(call: FunctionCall) -> SymbolicTensor:
    call.only(data_format="NHWC")
    return call.op(
        "SpaceToDepth",
        call.floats("x"),
        block_size=call.integer("block_size"),
        data_format="channels_last",
    )
