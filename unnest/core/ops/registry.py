"""Registry of operations: an entry has its names, its arguments in order, its kind, and its NumPy function.

A kind says what an operation does to tensors in general: how its result's shape follows, on which rows of a batch each
of its numbers depends, whether it can cut a batch or join one. An entry says only what its kind does not.

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
the operation hands on; all others say which entries, where to, or how many.

Keras 3 computes an operation by nodes of its own. Where that is one class, called as the operation's kind is, the entry
names the class, and names with dots are the functions that it computes. Otherwise a function below the entry makes the
nodes from a call's arguments; it names its functions with the signatures that they had. Full names are short ones of
modules and the function's own: `tensorflow` is `tf`, `keras.backend` `K`, `numpy` `np`. A signature is the original's:
`x|input` are two names of one argument (Keras's and TensorFlow's), defaults are JSON, behind `*` arguments count by
name alone, where versions differ in their order. Nodes compute exactly what the function did, in every version that
had it; what they do not take raises `Unknown`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypedDict, TypeVar

import numpy as np

from unnest.core.model import Json, Shape, Unknown
from unnest.core.ops.call import OpCall, Value, plain_name
from unnest.core.ops.numbered_elements import Array

if TYPE_CHECKING:  # the values of stored code are loaded where a model holds some
    from typing_extensions import Unpack

    from unnest.core.ops.keras3_call_translator import FunctionCall
    from unnest.core.ops.keras3_expression_values import SymbolicValue


class Kind(Enum):
    """The effect of an operation on the numbers of its tensors."""

    MAP = "each number by itself; the shape stays"
    ELEMENTWISE = "the numbers in the same place of several tensors, which are broadcast"
    ROWWISE = "each entry of the first axis by itself, over the last axis or a new one"
    WINDOW = (
        "each entry of the first axis by itself, over its other axes: convolutions, pooling, images"
    )
    REDUCTION = "all numbers along some axes, which are dropped"
    ALONG = "all numbers along an axis; the shape stays"
    FOLD = "all numbers along an axis, which gets another length, or all numbers"
    SEGMENT = "entries along the first axis, if no other is named: added up, compared, dealt out"
    MATRIX = "matrices: TensorFlow takes the last two axes, NumPy and Keras the first two"
    PRODUCT = "sums of products of several tensors"
    SLICE = "takes entries by position"
    TAKE = "takes entries by an index"
    MASK = "takes entries by a mask or a number for each"
    MOVE = "hands on all numbers in another shape or order of axes"
    REORDER = "hands on all entries of an axis in another order"
    REPEAT = "hands on numbers several times"
    CONCATENATE = "joins tensors along an axis"
    STACK = "joins tensors along a new axis"
    SCATTER = "puts entries in their places, and zeros or another tensor elsewhere"
    FILL = "one number everywhere, of a given shape"
    NUMBERS = "numbers that no tensor holds: ranges, constants"
    SIZE = "the sizes of a tensor's axes"
    CONTROL = "one of several branches, or a number that depends on no contents"
    OPAQUE = "what layers and stored code do to rows"


SLICES = frozenset({Kind.SLICE, Kind.TAKE, Kind.MASK})
"""Operations that take entries out of a tensor: a batch may be cut with them."""

MOVES = frozenset({Kind.MOVE, Kind.TAKE, Kind.REORDER})
"""Operations that may stand between the parts of a batch and what joins them."""

JOINS = frozenset({Kind.CONCATENATE, Kind.STACK, Kind.SCATTER})
"""Operations that put entries of several tensors together."""

IN_PLACE = frozenset({Kind.MAP, Kind.ELEMENTWISE})
"""Operations each of whose numbers is made of those that stand in the same place."""

ROW_BY_ROW = IN_PLACE | {Kind.WINDOW, Kind.ROWWISE}
"""Operations that leave every entry of the first axis where it is."""

COMPUTING = ROW_BY_ROW | {
    Kind.REDUCTION,
    Kind.ALONG,
    Kind.FOLD,
    Kind.SEGMENT,
    Kind.MATRIX,
    Kind.PRODUCT,
}
"""Operations that make new numbers of those that they are given."""

COMPUTING_MODULES = frozenset({"image", "nn", "random"})
"""Modules of TensorFlow and Keras each of whose functions computes with the tensor that it is given."""

KEEPING_SHAPE = frozenset({Kind.MAP, Kind.ALONG, Kind.REORDER})
"""Operations whose result has the shape of the first tensor that they read."""

COMMON_ALIASES = {
    "x": ("input", "inputs", "tensor", "params", "data", "input_", "value", "a", "reference"),
    "xs": ("values", "arrays", "tensors"),
    "axis": ("axes", "dim", "reduction_indices", "concat_dim", "split_dim"),
}
"""What dialects call an argument of many operations."""

CONTENTS = ("x", "xs", "updates")
"""The arguments whose contents an operation hands on; all others say which, where to, or how many."""

IDLE_ARGUMENTS = frozenset(
    {"name", "out_type", "validate_indices", "output_type", "partition_strategy"}
)
"""Arguments that do not change what is put where; the last is of a table in several parts."""

ShapeRule: TypeAlias = "Callable[..., Shape]"
"""Arguments by parameter, as the NumPy function has them, a `Sized` for each tensor -> the shape of the result."""

AxesRule: TypeAlias = "Callable[..., tuple[list[str], str]]"
"""The numbers of axes of a product's tensors (None for one that is not known), its other arguments by parameter -> the
letters of each tensor's axes, and of the result's (`product_axes`)."""

Kernel: TypeAlias = "Callable[..., Array | list[Array]]"


@dataclass(eq=False, slots=True, repr=False)
class Operation:
    """One operation: `parameters` in order, `compute` on arrays (None where only its kind is known).

    `aliases` maps what dialects call an argument to the parameter. `axis`: the axis of an operation along axes where
    the call names none, None for all. `function`: a NumPy function that plain numbers are computed with.
    `keeps_shape`: whether the result has the shape of the first tensor. `shape`: the rule for the result's shape, where
    that of the kind does not hold. `axes`: of a product, which axes are summed over. `reorders`: of what layers and
    stored code do, whether it leaves rows in another order, or `mixes` them.

    `keras3` is the class of Keras 3's operation, `config` what its constructor takes beside the call's arguments.
    `symbol`: the operator of Python. `takes_truth`: whether its tensors are of truth values; `gives`: the dtype of its
    result, where that is not theirs. `called` is the function that computes its nodes, where none of TensorFlow's has
    the operation's name.
    """

    name: str
    parameters: tuple[str, ...]
    kind: Kind
    compute: Kernel | None = None
    aliases: Mapping[str, str] = field(default_factory=dict)
    axis: int | None = None
    function: Callable[..., Any] | None = None
    keeps_shape: bool = False
    shape: ShapeRule | None = None
    axes: AxesRule | None = None
    reorders: bool = False
    mixes: bool = False
    keras3: str = ""
    config: Mapping[str, Json] = field(default_factory=dict)
    symbol: str = ""
    takes_truth: bool = False
    gives: str = ""
    called: str = ""

    @property
    def adds(self) -> bool:
        """True for additions, which join rows that each operand holds between zeros."""
        return self.function is np.add

    @property
    def chooses_by_mask(self) -> bool:
        """True if the first tensor says which of the others a number is taken from."""
        return self.parameters[:1] == ("mask",)

    @property
    def names_shape(self) -> bool:
        """True if it gives its tensors a shape that the call names."""
        return "shape" in self.parameters and self.kind in (Kind.MOVE, Kind.REPEAT, Kind.SCATTER)

    @property
    def takes_all(self) -> bool:
        """True if all arguments, by whatever name, are operands in order."""
        return self.parameters[:1] == ("*x",)

    def position(self, parameter: str) -> int | None:
        """Return the index of a parameter; None if the operation does not have it."""
        return self.parameters.index(parameter) if parameter in self.parameters else None

    def bind(self, args: Sequence[Value], kwargs: Mapping[str, Value]) -> dict[str, Value]:
        """Return the arguments by parameter.

        Raises:
            Unknown: If an argument is given that the operation does not take, and that is not empty.

        """
        if self.takes_all:
            return {
                "x": [*args, *(value for key, value in kwargs.items() if key not in IDLE_ARGUMENTS)]
            }
        bound = dict(zip(self.parameters, args, strict=False))
        for key, value in kwargs.items():
            if key in IDLE_ARGUMENTS:
                continue
            parameter = self.aliases.get(key, key)
            if parameter in self.parameters and parameter not in bound:
                bound[parameter] = value
            elif not _is_empty(value):  # an argument that would change what the function does
                raise Unknown(f"the argument {key} of {self.name}")
        if len(args) > len(self.parameters):
            raise Unknown(f"{self.name} with more arguments than it takes")
        return bound


def argument(call: OpCall, parameter: str) -> Value:
    """Return a call's argument for a parameter, by any of its names or by position; None without one."""
    operation = OPERATIONS.get(call.name)
    aliases = {} if operation is None else operation.aliases
    for key, value in call.kwargs.items():
        if aliases.get(key, key) == parameter:
            return value
    at = None if operation is None else operation.position(parameter)
    return call.args[at] if at is not None and at < len(call.args) else None


def _is_empty(value: Value) -> bool:
    return value is None or (not isinstance(value, np.ndarray) and value in (0, False, "", [], {}))


OPERATIONS: dict[str, Operation] = {}
"""Plain name -> the operation."""

BY_NODE_OP: dict[str, tuple[Operation, str]] = {}
"""The op of a NodeDef -> the operation, and the arguments that the node's inputs and attributes are."""

BY_LAYER_CLASS: dict[str, Operation] = {}
"""Class of Keras 3 -> the operation that it computes."""

BY_OPERATOR: dict[str, Operation] = {}
"""Operator of Python -> the operation; `-x` and `~x` are those of one operand."""

Nodes: TypeAlias = "Callable[[FunctionCall], SymbolicValue]"
"""One call of a function -> what computes it: a tensor of Keras 3's operations, a list of them, or a plain value."""


class Function(NamedTuple):
    """A function by its signature, with what makes the nodes of a call: `nodes`, or the one class of its operation."""

    signature: str
    nodes: Nodes | None
    operation: Operation | None
    theano: Theano | None


FUNCTIONS: dict[str, Function] = {}
"""Full name -> the function."""

KernelT = TypeVar("KernelT", bound=Kernel)
NodesT = TypeVar("NodesT", bound=Nodes)
ShapeRuleT = TypeVar("ShapeRuleT", bound=ShapeRule)
AxesRuleT = TypeVar("AxesRuleT", bound=AxesRule)


class EntryOptions(TypedDict, total=False):
    """Options of an entry beside its names, its arguments and its kind: see `Operation`.

    `nodes`: ops of a NodeDef whose inputs are not the arguments in order, with their patterns (`nodes`). `theano`:
    where the functions of Keras's backend among its names compute the same on Theano.
    """

    nodes: Mapping[str, str]
    axis: int
    function: Callable[..., Any] | None
    keeps_shape: bool
    keras3: str
    config: Mapping[str, Json]
    symbol: str
    takes_truth: bool
    gives: str
    reorders: bool
    mixes: bool
    theano: Theano
    called: str


ARGUMENTS_BY_KIND = {
    Kind.MAP: "x|features|tensor|logits|input|a",
    Kind.ELEMENTWISE: "x|a y|b",
    Kind.REDUCTION: "x|input_tensor axis|reduction_indices=null keepdims|keep_dims=false",
}
"""Kind -> the signature of functions that one class of Keras 3 computes."""


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
        axis=options.get("axis"),
        function=options.get("function"),
        keeps_shape=options.get("keeps_shape", kind in KEEPING_SHAPE),
        keras3=options.get("keras3", ""),
        config=options.get("config", {}),
        symbol=options.get("symbol", ""),
        takes_truth=options.get("takes_truth", False),
        gives=options.get("gives", ""),
        reorders=options.get("reorders", False),
        mixes=options.get("mixes", False),
        called=options.get("called", ""),
    )  # fmt: skip
    for name in plain:
        assert name not in OPERATIONS, name
        OPERATIONS[name] = entry
    for node, pattern in options.get("nodes", {}).items():
        BY_NODE_OP[node] = entry, pattern
    if entry.keras3:
        BY_LAYER_CLASS.setdefault(entry.keras3, entry)
    if entry.symbol:
        BY_OPERATOR.setdefault(entry.symbol, entry)
    for name in names.split():
        if "." in name and entry.keras3:
            _define_function(
                name, Function(ARGUMENTS_BY_KIND[kind], None, entry, options.get("theano"))
            )


def _define_function(name: str, function: Function) -> None:
    assert name not in FUNCTIONS, name
    FUNCTIONS[name] = function


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
        OPERATIONS[plain_name(name)].shape = rule
        return rule

    return register


def axes_rule(name: str) -> Callable[[AxesRuleT], AxesRuleT]:
    """Register which axes a product sums over. The rule raises Unknown where that is not known."""

    def register(rule: AxesRuleT) -> AxesRuleT:
        OPERATIONS[plain_name(name)].axes = rule
        return rule

    return register


def keras3(
    functions: str, signature: str, theano: Theano | None = None
) -> Callable[[NodesT], NodesT]:
    """Register functions, by full names separated by spaces, with what makes the nodes of their calls."""

    def register(nodes: NodesT) -> NodesT:
        for name in functions.split():
            _define_function(name, Function(signature, nodes, None, theano))
        return nodes

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
    return None if found is None else found.function


class Theano(Enum):
    """Arguments for which a function of `K` computes the same on Theano: not every file names its backend."""

    SAME = "for all numbers"
    USUALLY = (
        "for floats of usual size: "
        "files of Keras 1, which do not tell their backend, are read with this assumption"
    )
    USUALLY_OF_ONE = "for floats of usual size, where it is called with one argument"


class Signature(NamedTuple):
    """The arguments of a function, each with all its names, how many count by their place, and defaults by name."""

    parameters: tuple[tuple[str, ...], ...]
    positional: int
    defaults: Mapping[str, Json]


@lru_cache(maxsize=512)
def parse_signature(signature: str) -> Signature:
    """Return the parameters and defaults of a signature; a parameter goes by its first name."""
    parameters, defaults = list[tuple[str, ...]](), dict[str, Json]()
    positional, _, by_name = signature.partition(" * ")
    for spelled in (*positional.split(), *by_name.split()):
        names, _, default = spelled.partition("=")
        parameters.append(tuple(names.split("|")))
        if default:
            defaults[parameters[-1][0]] = json.loads(default)
    return Signature(tuple(parameters), len(positional.split()), defaults)
