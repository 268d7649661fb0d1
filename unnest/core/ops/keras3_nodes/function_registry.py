"""Functions of TensorFlow, Keras and NumPy by full name, each with its signature and what computes it in Keras 3.

Keras 3 computes an operation by nodes of its own. Where that is one class, called as the operation's kind is, the entry
names the class, and names with dots are the functions that it computes. Otherwise a function below the entry, under
`@keras3`, makes the nodes from a call's arguments; it names its functions with the signatures that they had. Full names
are short ones of modules and the function's own: `tensorflow` is `tf`, `keras.backend` `K`, `numpy` `np`. A signature
is the original's: `x|input` are two names of one argument (Keras's and TensorFlow's), defaults are JSON, behind `*`
arguments count by name alone, where versions differ in their order. Nodes compute exactly what the function did, in
every version that had it; what they do not take raises `Unknown`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

from unnest.core.model import Json
from unnest.core.ops.operation_entry import Operation, Theano
from unnest.core.ops.operation_kinds import Kind
from unnest.core.ops.registry import BY_FUNCTION

if TYPE_CHECKING:  # the values of stored code are loaded where a model holds some
    from unnest.core.ops.keras3_nodes.expression_values import SymbolicValue
    from unnest.core.ops.keras3_nodes.function_call import FunctionCall


Nodes: TypeAlias = "Callable[[FunctionCall], SymbolicValue]"
"""One call of a function -> what computes it: a tensor of Keras 3's operations, a list of them, or a plain value."""


class Function(NamedTuple):
    """A function by its signature, with what makes the nodes of a call: `nodes`, or the one class of its operation."""

    signature: str
    nodes: Nodes | None
    operation: Operation | None
    theano: Theano | None


WITH_NODES: dict[str, Function] = {}
"""Full name -> the function, of those whose nodes a function of ours makes."""


NodesT = TypeVar("NodesT", bound=Nodes)


ARGUMENTS_BY_KIND = {
    Kind.MAP: "x|features|tensor|logits|input|a",
    Kind.ELEMENTWISE: "x|a y|b",
    Kind.REDUCTION: "x|input_tensor axis|reduction_indices=null keepdims|keep_dims=false",
}
"""Kind -> the signature of functions that one class of Keras 3 computes."""


@cache
def known_functions() -> Mapping[str, Function]:
    """Return full name -> the function, of all that are known; to be called when the families are loaded."""
    of_one_class = {
        name: Function(ARGUMENTS_BY_KIND[operation.kind], None, operation, operation.theano)
        for name, operation in BY_FUNCTION.items()
    }
    assert not WITH_NODES.keys() & of_one_class.keys()
    return WITH_NODES | of_one_class


def keras3(
    functions: str, signature: str, theano: Theano | None = None
) -> Callable[[NodesT], NodesT]:
    """Register functions, by full names separated by spaces, with what makes the nodes of their calls."""

    def register(nodes: NodesT) -> NodesT:
        for name in functions.split():
            assert name not in WITH_NODES, name
            assert name not in BY_FUNCTION, name
            WITH_NODES[name] = Function(signature, nodes, None, theano)
        return nodes

    return register


class Signature(NamedTuple):
    """The arguments of a function, each with all its names, how many count by their place, and defaults by name."""

    parameters: tuple[tuple[str, ...], ...]
    positional: int
    defaults: Mapping[str, Json]


@lru_cache(maxsize=512)
def parse_signature(signature: str) -> Signature:
    """Return the parameters and defaults of a signature; a parameter goes by its first name."""
    parameters, defaults = list[tuple[str, ...]](), dict[str, Json]()
    positional, _, by_name = f" {signature}".partition(" * ")
    for spelled in (*positional.split(), *by_name.split()):
        names, _, default = spelled.partition("=")
        parameters.append(tuple(names.split("|")))
        if default:
            defaults[parameters[-1][0]] = json.loads(default)
    return Signature(tuple(parameters), len(positional.split()), defaults)
