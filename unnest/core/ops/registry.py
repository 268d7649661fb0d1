"""Registry of operations: decorators that make an entry, and the entry of a call by name, node, class or operator.

An entry (`operation_entry`) has the operation's names, its arguments in order, its kind, and its NumPy function. Its
kind (`operation_kinds`) says what it does to tensors in general, and the entry only what its kind does not.

    @operation("tile", "x multiples|repeats", Kind.REPEAT)
    def tile(x, multiples): ...

    @shape_rule("tile")
    def tile_shape(x, multiples): ...

    @keras3("K.tile tf.tile", "x|input n|multiples")
    def tile_nodes(call):
        return call.op("Tile", call.tensor("x"), repeats=call.integers("n"))

    define("sinh tf.sinh tf.math.sinh", "*x", Kind.MAP, keras3="Sinh")

Names are those of any dialect (`tf.strided_slice`, `StridedSlice`), all reduced by `plain_name`. In a signature `a|b`
are two names of one argument; `*x` takes all arguments. Arguments called x, xs and updates are tensors whose contents
the operation hands on; all others say which entries, where to, or how many. What Keras 3 computes a function with
stands in `function_registry`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from unnest.core.model import Json, Ref, Unknown
from unnest.core.ops.call import OpCall, Value, plain_name
from unnest.core.ops.operation_entry import CONTENTS, AxesRule, Kernel, Operation, ShapeRule, Theano
from unnest.core.ops.operation_kinds import KEEPING_SHAPE, Kind
from unnest.core.ops.read_whole_numbers import axis_number

if TYPE_CHECKING:
    from typing_extensions import Unpack

COMPUTING_MODULES = frozenset({"image", "nn", "random"})
"""Modules of TensorFlow and Keras each of whose functions computes with the tensor that it is given."""


COMMON_ALIASES = {
    "x": ("input", "inputs", "tensor", "params", "data", "input_", "value", "a", "reference"),
    "xs": ("values", "arrays", "tensors"),
    "axis": ("axes", "dim", "reduction_indices", "concat_dim", "split_dim"),
}
"""What dialects call an argument of many operations."""


OPERATIONS: dict[str, Operation] = {}
"""Plain name -> the operation."""

BY_NODE_OP: dict[str, tuple[Operation, str]] = {}
"""The op of a NodeDef -> the operation, and the arguments that the node's inputs and attributes are."""

BY_FUNCTION: dict[str, Operation] = {}
"""Full name of a function that one class of Keras 3 computes -> the operation."""

BY_LAYER_CLASS: dict[str, Operation] = {}
"""Class of Keras 3 -> the operation that it computes."""

BY_OPERATOR: dict[str, Operation] = {}
"""Operator of Python -> the operation; `-x` and `~x` are those of one operand."""


KernelT = TypeVar("KernelT", bound=Kernel)
ShapeRuleT = TypeVar("ShapeRuleT", bound=ShapeRule)
AxesRuleT = TypeVar("AxesRuleT", bound=AxesRule)


class EntryOptions(TypedDict, total=False):
    """Options of an entry beside its names, its arguments and its kind: see `Operation`.

    `nodes`: ops of a NodeDef whose inputs are not the arguments in order, with their patterns (`nodes`).
    """

    nodes: Mapping[str, str]
    default_axis: int
    number_function: Callable[..., Any] | None
    keeps_shape: bool
    keras3_class: str
    keras3_config: Mapping[str, Json]
    python_operator: str
    takes_booleans: bool
    same_on_integers: bool
    floats_alone: bool
    result_dtype: str
    reorders_rows: bool
    mixes_rows: bool
    theano: Theano
    function_name: str


def define(
    names: str,
    signature: str,
    kind: Kind,
    compute: Kernel | None = None,
    **options: Unpack[EntryOptions],
) -> None:
    """Register an operation under names that are separated by spaces."""
    parameters, aliases = _arguments(signature)
    plain = [*dict.fromkeys(plain_name(name) for name in names.split())]
    entry = Operation(
        plain[0], parameters, kind, compute, aliases,
        default_axis=options.get("default_axis"),
        number_function=options.get("number_function"),
        keeps_shape=options.get("keeps_shape", kind in KEEPING_SHAPE),
        keras3_class=options.get("keras3_class", ""),
        keras3_config=options.get("keras3_config", {}),
        python_operator=options.get("python_operator", ""),
        theano=options.get("theano"),
        takes_booleans=options.get("takes_booleans", False),
        same_on_integers=options.get("same_on_integers", False),
        floats_alone=options.get("floats_alone", False),
        result_dtype=options.get("result_dtype", ""),
        reorders_rows=options.get("reorders_rows", False),
        mixes_rows=options.get("mixes_rows", False),
        function_name=options.get("function_name", ""),
    )  # fmt: skip
    for name in plain:
        assert name not in OPERATIONS, name
        OPERATIONS[name] = entry
    for node, pattern in options.get("nodes", {}).items():
        BY_NODE_OP[node] = entry, pattern
    if entry.keras3_class:
        BY_LAYER_CLASS.setdefault(entry.keras3_class, entry)
    if entry.python_operator:
        BY_OPERATOR.setdefault(entry.python_operator, entry)
    for name in names.split():
        if "." in name and entry.keras3_class:
            assert name not in BY_FUNCTION, name
            BY_FUNCTION[name] = entry


@lru_cache(maxsize=256)
def _arguments(signature: str) -> tuple[tuple[str, ...], Mapping[str, str]]:
    """Return the parameters of a signature, and alias -> parameter."""
    parameters, aliases = list[str](), dict[str, str]()
    for spelled in signature.split():
        parameter, *others = spelled.split("|")
        parameters.append(parameter)
        aliases.update(dict.fromkeys((*others, *COMMON_ALIASES.get(parameter, ())), parameter))
    return tuple(parameters), {
        alias: of for alias, of in aliases.items() if alias not in parameters
    }


def define_all(names: str, signature: str, kind: Kind, **options: Unpack[EntryOptions]) -> None:
    """Register several operations that differ in their names alone; `a|b` are two names of one."""
    for name in names.split():
        define(name.replace("|", " "), signature, kind, **options)


def operation(
    names: str, signature: str, kind: Kind, **options: Unpack[EntryOptions]
) -> Callable[[KernelT], KernelT]:
    """Register the operation that a NumPy function computes."""

    def register(compute: KernelT) -> KernelT:
        define(names, signature, kind, compute, **options)
        return compute

    return register


def shape_rule(name: str) -> Callable[[ShapeRuleT], ShapeRuleT]:
    """Register the rule for the shape of an operation's result; it raises Unknown where that does not follow."""

    def register(rule: ShapeRuleT) -> ShapeRuleT:
        OPERATIONS[plain_name(name)].shape_rule = rule
        return rule

    return register


def axes_rule(name: str) -> Callable[[AxesRuleT], AxesRuleT]:
    """Register which axes a product sums over. The rule raises Unknown where that is not known."""

    def register(rule: AxesRuleT) -> AxesRuleT:
        OPERATIONS[plain_name(name)].axes_rule = rule
        return rule

    return register


def operation_of(call: OpCall) -> Operation | None:
    """Return the operation of a call; None if it is not registered."""
    return OPERATIONS.get(call.name)


def kind_of(call: OpCall) -> Kind | None:
    """Return the kind of a call's operation; None if it is not registered."""
    found = OPERATIONS.get(call.name)
    return None if found is None else found.kind


def is_known(call: OpCall) -> bool:
    """True if the call can be carried out on arrays."""
    operation = OPERATIONS.get(call.name)
    return operation is not None and operation.compute is not None


def function_of(call: OpCall) -> Callable[..., Any] | None:
    """Return the NumPy function of a call's operation on plain numbers; None without one."""
    found = OPERATIONS.get(call.name)
    return None if found is None else found.number_function


def argument(call: OpCall, parameter: str) -> Value:
    """Return a call's argument for a parameter, by any of its names or by position; None without one."""
    operation = OPERATIONS.get(call.name)
    aliases = {} if operation is None else operation.aliases
    for key, value in call.kwargs.items():
        if aliases.get(key, key) == parameter:
            return value
    at = None if operation is None else operation.position(parameter)
    return call.args[at] if at is not None and at < len(call.args) else None


def contents(call: OpCall) -> list[Value]:
    """Return the arguments whose content a call moves or computes with; [] if its arguments cannot be read."""
    operation = OPERATIONS.get(call.name)
    if operation is None or operation.compute is None:
        return []
    try:
        bound = operation.bind(call.args, call.kwargs)
    except Unknown:
        return []
    if operation.takes_all:
        return list(bound["x"])
    return [bound[parameter] for parameter in CONTENTS if parameter in bound]


def literal_axis(call: OpCall) -> int | None:
    """Return the axis that a call names as a number, 0 by default; None if the axis is computed."""
    operation = OPERATIONS.get(call.name)
    try:
        if operation is None or operation.compute is None:
            return None
        axis = operation.bind(call.args, call.kwargs).get("axis")
        return None if isinstance(axis, Ref) else axis_number(axis)
    except Unknown:
        return None
