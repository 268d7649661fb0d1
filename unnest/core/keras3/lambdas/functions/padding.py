"""A border around a tensor."""

from __future__ import annotations

from dataclasses import replace

from unnest.core.keras3.lambdas.functions.signatures import PAIR, Bound, Table, op
from unnest.core.keras3.lambdas.values import NUMPY, Const, NotUnderstood, SymbolicTensor, Value, array
from unnest.core.keras3.op_nodes import OpNode
from unnest.core.model import Json

PADDING = Table()


def padded(x: SymbolicTensor, widths: Json, value: Json) -> SymbolicTensor:
    """A tensor with so many elements of a value before and behind, two numbers an axis.

    The value is an argument of Keras 3's call, and not of its class.
    """
    made = op(NUMPY, "Pad", x, pad_width=widths, mode="constant")
    node = made.operand
    assert isinstance(node, OpNode)
    return replace(made, operand=replace(node, kwargs={"constant_values": value}))


@PADDING.known("tf.pad", 'x|tensor paddings mode="CONSTANT" * constant_values=0')
def _pad(call: Bound) -> Value:
    widths, mode = _pairs(array(call["paddings"])), call.text("mode").lower()
    if mode not in {"constant", "reflect", "symmetric"}:
        raise NotUnderstood("the padding")
    if mode != "constant":
        return op(NUMPY, "Pad", call.floats("x"), pad_width=widths, mode=mode)
    return padded(call.floats("x"), widths, call.number("constant_values"))


@PADDING.known("K.temporal_padding", "x padding=1")
def _temporal_padding(call: Bound) -> Value:
    """As much on both sides, or two numbers."""
    width = _widths(call)
    pair = _pairs([[width, width] if isinstance(width, int) else width])
    return padded(call.floats("x"), [[0, 0], *pair, [0, 0]], 0)


def _spatial_padding(name: str, axes: int) -> None:
    @PADDING.known(name, "x padding=1 data_format|dim_ordering=null")
    def compute(call: Bound) -> Value:
        """A number an axis, which Keras 1 took, or a pair; one on each side where nothing is said."""
        widths = _widths(call)
        each = [widths] * axes if widths == 1 else widths
        if not isinstance(each, list) or len(each) != axes:
            raise NotUnderstood("the padding")
        pairs = _pairs([[width, width] if isinstance(width, int) else width for width in each])
        around = [[0, 0], *pairs, [0, 0]] if call.is_channels_last("data_format") else [[0, 0], [0, 0], *pairs]
        return padded(call.floats("x"), around, 0)


_spatial_padding("K.spatial_2d_padding", 2)
_spatial_padding("K.spatial_3d_padding", 3)


def _widths(call: Bound) -> Json:
    return call.integer("padding") if isinstance(call["padding"], Const) else array(call["padding"])


def _pairs(widths: Json) -> list[Json]:
    """Two whole numbers an axis."""
    if not isinstance(widths, list) or not all(_is_pair(pair) for pair in widths):
        raise NotUnderstood("the padding")
    return widths


def _is_pair(pair: Json) -> bool:
    return isinstance(pair, list) and len(pair) == PAIR and all(isinstance(each, int) and each >= 0 for each in pair)
