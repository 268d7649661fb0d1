"""The shapes that operations of Keras 3 give, as far as they follow from the shapes that they are given.

(Source: `compute_output_spec` of Keras 3.15, which every rule here was compared with.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from unnest.core.model import Json

Shape: TypeAlias = tuple[int | None, ...]
"""A size an axis; None for one that only a run knows."""


class Sized(NamedTuple):
    """A tensor among an operation's arguments, None where its shape is not known."""

    shape: Shape | None


Argument: TypeAlias = "Sized | Sequence[Argument] | Json"
Rule: TypeAlias = Callable[[Mapping[str, Json], Sequence[Argument]], Shape]
"""An operation's config, and what it is called on -> the shape of (each of) its results."""


class _Unknown(Exception):
    """The shape does not follow."""


def result_shape(class_name: str, config: Mapping[str, Json], args: Sequence[Argument]) -> Shape | None:
    """The shape of what an operation gives, None where it does not follow."""
    rule = RULES.get(class_name)
    if rule is None:
        return None
    try:
        return rule(config, args)
    except (_Unknown, IndexError, ValueError):
        return None


def _shape(argument: Argument) -> Shape:
    """Of a tensor, a number, or a constant array as Keras 3 stores it."""
    if isinstance(argument, Sized):
        if argument.shape is None:
            raise _Unknown
        return argument.shape
    if isinstance(argument, bool | int | float):
        return ()
    if isinstance(argument, Mapping) and argument.get("class_name") == "__numpy__":
        stored = argument["config"]
        assert isinstance(stored, Mapping)
        return _of_nested(stored["value"])
    raise _Unknown


def _of_nested(value: Json) -> Shape:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return (len(value), *_of_nested(value[0]))
    return ()


def _integer(value: Json) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise _Unknown
    return value


def _integers(value: Json) -> list[int]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise _Unknown
    return [_integer(each) for each in value]


def _axes(value: Json, rank: int) -> list[int]:
    """One axis, several, or all (null), counted from the front."""
    axes = [*range(rank)] if value is None else [_integer(value)] if isinstance(value, int) else _integers(value)
    if not all(-rank <= axis < rank for axis in axes):
        raise _Unknown
    return [axis % rank for axis in axes]


def _same(config: Mapping[str, Json], args: Sequence[Argument]) -> Shape:
    del config
    return _shape(args[0])


def _broadcast(config: Mapping[str, Json], args: Sequence[Argument]) -> Shape:
    """NumPy's rule; where one size is not known, the other counts if it is more than 1."""
    del config
    shapes = [_shape(argument) for argument in args]
    rank = max(map(len, shapes))
    return tuple(_wider([(1,) * (rank - len(shape)) + shape for shape in shapes], axis) for axis in range(rank))


def _wider(shapes: Sequence[Shape], axis: int) -> int | None:
    sizes = {shape[axis] for shape in shapes} - {1}
    known = sizes - {None}
    if len(known) > 1:
        raise _Unknown
    return known.pop() if known else None if sizes else 1


def _reduced(config: Mapping[str, Json], args: Sequence[Argument]) -> Shape:
    shape = _shape(args[0])
    axes = _axes(config.get("axis"), len(shape))
    if config.get("keepdims"):
        return tuple(1 if k in axes else size for k, size in enumerate(shape))
    return tuple(size for k, size in enumerate(shape) if k not in axes)


def _transposed(config: Mapping[str, Json], args: Sequence[Argument]) -> Shape:
    shape = _shape(args[0])
    axes = _axes(config.get("axes"), len(shape))
    if config.get("axes") is None or sorted(axes) != [*range(len(shape))]:
        raise _Unknown
    return tuple(shape[axis] for axis in axes)


def _swapped(config: Mapping[str, Json], args: Sequence[Argument]) -> Shape:
    shape = [*_shape(args[0])]
    one, other = _axes([config.get("axis1"), config.get("axis2")], len(shape))
    shape[one], shape[other] = shape[other], shape[one]
    return tuple(shape)


def _expanded(config: Mapping[str, Json], args: Sequence[Argument]) -> Shape:
    shape = [*_shape(args[0])]
    (axis,) = _axes(_integer(config.get("axis")), len(shape) + 1)
    return (*shape[:axis], 1, *shape[axis:])


def _squeezed(config: Mapping[str, Json], args: Sequence[Argument]) -> Shape:
    shape = _shape(args[0])
    if config.get("axis") is None:
        raise _Unknown
    axes = _axes(config["axis"], len(shape))
    if any(shape[axis] not in (1, None) for axis in axes):
        raise _Unknown
    return tuple(size for k, size in enumerate(shape) if k not in axes)


def _tensors(argument: Argument) -> list[Shape]:
    if not isinstance(argument, list | tuple) or isinstance(argument, Sized):
        raise _Unknown
    return [_shape(each) for each in argument]


def _concatenated(config: Mapping[str, Json], args: Sequence[Argument]) -> Shape:
    shapes = _tensors(args[0])
    (axis,) = _axes(_integer(config.get("axis")), len(shapes[0]))
    rest = {len(shape) for shape in shapes}
    if len(rest) > 1:
        raise _Unknown
    whole = [_alike({shape[k] for shape in shapes}) if k != axis else None for k in range(len(shapes[0]))]
    sizes = [shape[axis] for shape in shapes]
    whole[axis] = None if None in sizes else sum(size for size in sizes if size is not None)
    return tuple(whole)


def _stacked(config: Mapping[str, Json], args: Sequence[Argument]) -> Shape:
    shapes = _tensors(args[0])
    if len({len(shape) for shape in shapes}) > 1:
        raise _Unknown
    one = [_alike({shape[k] for shape in shapes}) for k in range(len(shapes[0]))]
    (axis,) = _axes(_integer(config.get("axis")), len(one) + 1)
    return (*one[:axis], len(shapes), *one[axis:])


def _alike(sizes: set[int | None]) -> int | None:
    """The size that several must have, which some of them tell."""
    known = sizes - {None}
    if len(known) > 1:
        raise _Unknown
    return known.pop() if known else None


def _multiplied(config: Mapping[str, Json], args: Sequence[Argument]) -> Shape:
    left, right = _shape(args[0]), _shape(args[1])
    if min(len(left), len(right)) < 2:  # noqa: PLR2004 - matrices
        raise _Unknown
    batch = _broadcast(config, [Sized(left[:-2]), Sized(right[:-2])])
    return (*batch, left[-2], right[-1])


def _reshaped(config: Mapping[str, Json], args: Sequence[Argument]) -> Shape:
    del args
    return tuple(None if size == -1 else size for size in _integers(config.get("newshape")))


def _tiled(config: Mapping[str, Json], args: Sequence[Argument]) -> Shape:
    shape, repeats = _shape(args[0]), _integers(config.get("repeats"))
    if len(shape) != len(repeats):
        raise _Unknown
    return tuple(None if size is None else size * count for size, count in zip(shape, repeats, strict=True))


def _repeated(config: Mapping[str, Json], args: Sequence[Argument]) -> Shape:
    shape = [*_shape(args[0])]
    (axis,) = _axes(_integer(config.get("axis")), len(shape))
    size = shape[axis]
    shape[axis] = None if size is None else size * _integer(config.get("repeats"))
    return tuple(shape)


def _part(config: Mapping[str, Json], args: Sequence[Argument]) -> Shape:
    """`x[keys]`: a number takes an axis away, a slice keeps it, null adds one, an ellipsis stands for the others."""
    del config
    shape, keys = _shape(args[0]), args[1]
    if not isinstance(keys, list | tuple) or isinstance(keys, Sized):
        raise _Unknown
    used = sum(key is not None and not _is_ellipsis(key) for key in keys)
    if used > len(shape):
        raise _Unknown
    sizes: list[int | None] = []
    axes = iter(shape)
    for key in keys:
        if key is None:
            sizes.append(1)
        elif _is_ellipsis(key):
            sizes += [next(axes) for _ in range(len(shape) - used)]
        else:
            size = next(axes)
            if not isinstance(key, int):
                sizes.append(_sliced(key, size))
    return (*sizes, *axes)


def _is_ellipsis(key: Argument) -> bool:
    return isinstance(key, Mapping) and key.get("class_name") == "__ellipsis__"


def _sliced(key: Argument, size: int | None) -> int | None:
    ends = key.get("config") if isinstance(key, Mapping) and key.get("class_name") == "__slice__" else None
    if not isinstance(ends, Mapping):
        raise _Unknown
    start, stop, step = (None if ends.get(name) is None else _integer(ends[name]) for name in ("start", "stop", "step"))
    return None if size is None else len(range(size)[start:stop:step])


def _padded(config: Mapping[str, Json], args: Sequence[Argument]) -> Shape:
    shape, widths = _shape(args[0]), config.get("pad_width")
    if not isinstance(widths, Sequence) or len(widths) != len(shape):
        raise _Unknown
    pairs = [_integers(width) for width in widths]
    return tuple(None if size is None else size + sum(pair) for size, pair in zip(shape, pairs, strict=True))


_ELEMENTWISE = [
    "Absolute",
    "Arccos",
    "Arccosh",
    "Arcsin",
    "Arcsinh",
    "Arctan",
    "Arctanh",
    "Cast",
    "Ceil",
    "Clip",
    "Cos",
    "Cosh",
    "Cumprod",
    "Cumsum",
    "Elu",
    "Erf",
    "Exp",
    "Expm1",
    "Flip",
    "Floor",
    "Gelu",
    "Isfinite",
    "Isinf",
    "Isnan",
    "LeakyRelu",
    "Log",
    "Log1p",
    "LogSigmoid",
    "LogSoftmax",
    "LogicalNot",
    "Negative",
    "Normalize",
    "OnesLike",
    "Reciprocal",
    "Relu",
    "Relu6",
    "Rescaling",
    "Roll",
    "Round",
    "Rsqrt",
    "Selu",
    "Sigmoid",
    "Sign",
    "Silu",
    "Sin",
    "Sinh",
    "Softmax",
    "Softplus",
    "Softsign",
    "Sort",
    "Sqrt",
    "Square",
    "StopGradient",
    "Tan",
    "Tanh",
    "ZerosLike",
]
_OF_TWO = [
    "Add",
    "Arctan2",
    "Divide",
    "DivideNoNan",
    "Equal",
    "FloorDivide",
    "Greater",
    "GreaterEqual",
    "Less",
    "LessEqual",
    "LogicalAnd",
    "LogicalOr",
    "Maximum",
    "Minimum",
    "Mod",
    "Multiply",
    "NotEqual",
    "Power",
    "Subtract",
    "Where",
]
_REDUCTIONS = ["All", "Any", "Argmax", "Argmin", "Logsumexp", "Max", "Mean", "Min", "Prod", "Std", "Sum", "Var"]

RULES: dict[str, Rule] = {
    **dict.fromkeys(_ELEMENTWISE, _same),
    **dict.fromkeys(_OF_TWO, _broadcast),
    **dict.fromkeys(_REDUCTIONS, _reduced),
    "Concatenate": _concatenated,
    "ExpandDims": _expanded,
    "GetItem": _part,
    "Matmul": _multiplied,
    "Pad": _padded,
    "Repeat": _repeated,
    "Reshape": _reshaped,
    "Squeeze": _squeezed,
    "Stack": _stacked,
    "Swapaxes": _swapped,
    "Tile": _tiled,
    "Transpose": _transposed,
}
