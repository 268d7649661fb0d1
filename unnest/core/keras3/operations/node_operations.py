"""Operations of TensorFlow's graph whose attributes or inputs are not those of a function, one for one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from unnest.core.keras3.lambdas import operators
from unnest.core.keras3.lambdas.values import NotUnderstood, Value, constant, items
from unnest.core.keras3.operations.function_calls import operation, part
from unnest.core.keras3.operations.node_attributes import attribute, named_attributes
from unnest.core.model import Json

NodeOperation: TypeAlias = Callable[[Mapping[str, Json], Sequence[Value], Sequence[Json]], Value]
"""A node, its inputs as values, and those of them that are constants as they are stored -> what it computes."""


def _concatenated(node: Mapping[str, Json], sides: Sequence[Value], plain: Sequence[Json]) -> Value:
    del node, plain
    return operation("concat", [items("list", sides[:-1]), sides[-1]], {})


def _packed(node: Mapping[str, Json], sides: Sequence[Value], plain: Sequence[Json]) -> Value:
    del plain
    return operation("stack", [items("list", sides)], {"axis": constant(int(str(attribute(node, "axis") or 0)))})


def _squeezed(node: Mapping[str, Json], sides: Sequence[Value], plain: Sequence[Json]) -> Value:
    del plain
    axes = attribute(node, "squeeze_dims")
    if not isinstance(axes, list) or not axes:
        raise NotUnderstood("a squeeze of axes that are not named")
    value = items("list", [constant(a) for a in axes]) if len(axes) > 1 else constant(axes[0])
    return operation("squeeze", sides, {"axis": value})


def _sliced(node: Mapping[str, Json], sides: Sequence[Value], plain: Sequence[Json]) -> Value:
    """StridedSlice, with its masks of bits."""
    begin, end, step = plain[1:4]
    if not isinstance(begin, list) or not isinstance(end, list) or not isinstance(step, list):
        raise NotUnderstood("a slice with ends that are computed")
    bits = {
        name: int(str(attribute(node, f"{name}_mask") or 0))
        for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")
    }
    keys: list[Value] = []
    for k, (start, stop, stride) in enumerate(zip(begin, end, step, strict=True)):
        bit = 1 << k
        if bits["ellipsis"] & bit:
            keys.append(constant(...))
        elif bits["new_axis"] & bit:
            keys.append(constant(None))
        elif bits["shrink_axis"] & bit:
            keys.append(constant(int(str(start))))
        else:
            ends = [
                None if bits["begin"] & bit else int(str(start)),
                None if bits["end"] & bit else int(str(stop)),
                int(str(stride)),
            ]
            keys.append(operators.slice_of([constant(e) for e in ends]))
    return part(sides[0], items("tuple", keys))


def _multiplied(node: Mapping[str, Json], sides: Sequence[Value], plain: Sequence[Json]) -> Value:
    del plain
    names = (("adj_x", "transpose_a"), ("adj_y", "transpose_b"), ("transpose_a",) * 2, ("transpose_b",) * 2)
    turned = {new: constant(value=True) for old, new in names if attribute(node, old)}
    return operation("linalg.matmul", sides, turned)


def _leaky(node: Mapping[str, Json], sides: Sequence[Value], plain: Sequence[Json]) -> Value:
    del plain
    slope = attribute(node, "alpha")
    return operation("nn.leaky_relu", sides, {"alpha": constant(float(str(slope)) if slope is not None else 0.2)})


def _by_function(name: str, **attributes: Json) -> NodeOperation:
    """A function of the inputs in their order, and of these attributes, of the same names."""
    return lambda node, sides, _plain: operation(name, sides, named_attributes(node, **attributes))


def _parted(node: Mapping[str, Json], sides: Sequence[Value], plain: Sequence[Json]) -> Value:
    """Split: the axis comes first."""
    del plain
    return operation("split", [sides[1], constant(int(str(attribute(node, "num_split") or 1))), sides[0]], {})


def _summed(node: Mapping[str, Json], sides: Sequence[Value], plain: Sequence[Json]) -> Value:
    del node, plain
    return operation("math.add_n", [items("list", sides)], {})


DTYPES = {"DT_FLOAT": "float32", "DT_INT32": "int32", "DT_INT64": "int64", "DT_UINT8": "uint8", "DT_BOOL": "bool"}
"""TensorFlow's names in a node -> those of its functions, where a cast gives the same on every backend."""


def _cast(node: Mapping[str, Json], sides: Sequence[Value], plain: Sequence[Json]) -> Value:
    del plain
    dtype = str(attribute(node, "DstT"))
    return operation("cast", sides, {"dtype": constant(DTYPES.get(dtype, dtype))})


def _gathered(node: Mapping[str, Json], sides: Sequence[Value], plain: Sequence[Json]) -> Value:
    """GatherV2; before it, Gather had no axis."""
    del plain
    axis = sides[2] if len(sides) > 2 else constant(0)  # noqa: PLR2004 - what, where, and along which axis
    return operation("gather", sides[:2], {"axis": axis, **named_attributes(node, batch_dims=0)})


def _chosen(node: Mapping[str, Json], sides: Sequence[Value], plain: Sequence[Json]) -> Value:
    """Select: of three tensors of one shape, or by rows."""
    del node, plain
    return operation("where", sides, {}, tensorflow="1")


def _einsum(node: Mapping[str, Json], sides: Sequence[Value], plain: Sequence[Json]) -> Value:
    del plain
    return operation("einsum", [constant(str(attribute(node, "equation"))), *sides], {})


def _diagonal(node: Mapping[str, Json], sides: Sequence[Value], plain: Sequence[Json]) -> Value:
    """The main one: later versions are told its number, and what stands beside one that is shorter."""
    del node
    if plain[1:] and plain[1] != 0:
        raise NotUnderstood("another diagonal than the main one")
    return operation("linalg.diag_part", sides[:1], {})


def _one_hot(node: Mapping[str, Json], sides: Sequence[Value], plain: Sequence[Json]) -> Value:
    del plain
    return operation("one_hot", sides, named_attributes(node, axis=-1))


def _unpacked(node: Mapping[str, Json], sides: Sequence[Value], plain: Sequence[Json]) -> Value:
    del plain
    return operation("unstack", sides, named_attributes(node, num=None, axis=0))


def _padded(node: Mapping[str, Json], sides: Sequence[Value], plain: Sequence[Json]) -> Value:
    """PadV2: the third input is what is put there."""
    del node, plain
    return operation("pad", sides[:2], {"constant_values": sides[2]})


def _passed_on(node: Mapping[str, Json], sides: Sequence[Value], plain: Sequence[Json]) -> Value:
    """IdentityN."""
    del node, plain
    return items("list", sides)


def _patches(node: Mapping[str, Json], sides: Sequence[Value], plain: Sequence[Json]) -> Value:
    del plain
    told = named_attributes(node, ksizes=[], strides=[], rates=[], padding="")
    return operation("image.extract_patches", sides, {"sizes": told.pop("ksizes"), **told})


POOLED: dict[str, Json] = {"ksize": [], "strides": [], "padding": "", "data_format": "NHWC"}
RESIZED: dict[str, Json] = {"align_corners": False, "half_pixel_centers": False}

NODE_OPERATIONS: dict[str, NodeOperation] = {
    "ConcatV2": _concatenated,
    "Pack": _packed,
    "Split": _parted,
    "SplitV": _by_function("split"),
    "Unpack": _unpacked,
    "Squeeze": _squeezed,
    "StridedSlice": _sliced,
    "BatchMatMulV2": _multiplied,
    "BatchMatMul": _multiplied,
    "MatMul": _multiplied,
    "Einsum": _einsum,
    "LeakyRelu": _leaky,
    "AddN": _summed,
    "Cast": _cast,
    "GatherV2": _gathered,
    "Gather": _gathered,
    "Select": _chosen,
    "OneHot": _one_hot,
    "PadV2": _padded,
    "MirrorPad": _by_function("pad", mode=""),
    "IdentityN": _passed_on,
    "ArgMax": _by_function("argmax"),
    "ArgMin": _by_function("argmin"),
    "Cumsum": _by_function("cumsum", exclusive=False, reverse=False),
    "Cumprod": _by_function("math.cumprod", exclusive=False, reverse=False),
    "TopKV2": _by_function("math.top_k", sorted=True),
    "BiasAdd": _by_function("nn.bias_add", data_format="NHWC"),
    "MatrixDiagPart": _diagonal,
    "MatrixDiagPartV2": _diagonal,
    "MatrixDiagPartV3": _diagonal,
    "MaxPool": _by_function("nn.max_pool2d", **POOLED),
    "AvgPool": _by_function("nn.avg_pool2d", **POOLED),
    "LRN": _by_function("nn.local_response_normalization", depth_radius=5, bias=1.0, alpha=1.0, beta=0.5),
    "DepthToSpace": _by_function("nn.depth_to_space", block_size=0, data_format="NHWC"),
    "SpaceToDepth": _by_function("nn.space_to_depth", block_size=0, data_format="NHWC"),
    "ResizeBilinear": _by_function("image.resize_bilinear", **RESIZED),
    "ResizeNearestNeighbor": _by_function("image.resize_nearest_neighbor", **RESIZED),
    "ExtractImagePatches": _patches,
    "AdjustContrastv2": _by_function("image.adjust_contrast"),
}
