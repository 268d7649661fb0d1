"""Replacements for a layer of an older model: a layer of Keras 3, or a few layers and operations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from unnest.core.keras3_op_node import GraphTensor, Input, Operand, OpNode, Part
from unnest.core.keras_facts.keras3_layer_output_specs import Spec
from unnest.core.model import Json, JsonObject, Tensor

Config: TypeAlias = Mapping[str, Json]
Weights: TypeAlias = tuple[Tensor, ...]
Shares: TypeAlias = Mapping[str, Weights]
"""Layer -> its weights, in stored order."""

FLOAT = "float32"
FUNCTIONAL, SEQUENTIAL = "Functional", "Sequential"
NUMPY = "keras.src.ops.numpy"
MODEL_MODULES = {FUNCTIONAL: "keras.src.models.functional", SEQUENTIAL: "keras"}


class NewLayer(NamedTuple):
    """A layer of Keras 3 with its weights, in the order in which its class lists them.

    A model's weights each bear their layers' names in `owner`. `registered_name` is set for a custom class,
    `build_shape` where the layer is built on another input shape than that of its call. `call_arguments` go to each
    call: arguments that the class took when it was made, once.
    """

    name: str
    class_name: str
    config: JsonObject
    weights: tuple[Tensor, ...] = ()
    module: str | None = "keras.layers"
    registered_name: str | None = None
    build_shape: tuple[int | None, ...] | None = None
    call_arguments: Mapping[str, Json] = MappingProxyType({})

    @property
    def entry(self) -> JsonObject:
        """Return the layer's JSON as Keras 3 stores it, without its calls."""
        registered = FUNCTIONAL if self.class_name == FUNCTIONAL else self.registered_name
        entry: JsonObject = {
            "module": self.module, "class_name": self.class_name, "config": self.config, "registered_name": registered,
        }  # fmt: skip
        if self.build_shape is None:
            return entry
        return {**entry, "build_config": {"input_shape": list(self.build_shape)}}

    def renamed(self, name: str) -> NewLayer:
        """Return the layer under another name."""
        return self._replace(name=name, config={**self.config, "name": name})


@dataclass(frozen=True)
class LayerCall:
    """A call of a layer within an expansion; two calls of one layer share it."""

    layer: NewLayer
    args: tuple[NodeTree, ...]
    kwargs: Mapping[str, NodeTree] = field(default_factory=dict)


NodeTree: TypeAlias = (
    "GraphTensor | Part | OpNode | LayerCall | Sequence[NodeTree] | Mapping[str, NodeTree] | Json"
)
"""An expression of tensors and constants that the builder places in the graph."""


@dataclass(eq=False, repr=False)
class EqualRows:
    """Numbers for the tensors of a graph: tensors with the same number have equally many rows.

    `inputs` are the numbers of the graph's inputs.
    """

    numbers: dict[GraphTensor, int] = field(default_factory=dict)
    inputs: set[int] = field(default_factory=set)

    def of(self, tensor: GraphTensor) -> int:
        """Return the number of a tensor; one of its own if nothing is known of it."""
        return self.numbers.setdefault(tensor, len(self.numbers))


@dataclass(frozen=True, eq=False, repr=False)
class LayerArguments:
    """The arguments of one call: positional and named, tensors in any structure."""

    args: tuple[NodeTree, ...]
    kwargs: Mapping[str, NodeTree]
    #: What is known of each tensor; its dtype may be known where its shape is not.
    specs: Mapping[GraphTensor, Spec | None]
    dtypes: Mapping[GraphTensor, str] = field(default_factory=dict)
    rows: EqualRows = field(default_factory=EqualRows)

    @property
    def tensors(self) -> list[GraphTensor]:
        """Every tensor among the arguments, positional ones first."""
        return [*tensors_in(self.args), *tensors_in(dict(self.kwargs))]

    def spec(self, tree: NodeTree) -> Spec | None:
        """Return the known shape and dtype of a tensor; None if unknown."""
        return self.specs.get(tree) if isinstance(tree, GraphTensor) else None

    def dtype(self, tensor: GraphTensor) -> str:
        """Return the dtype of a tensor; float32 if nothing says otherwise."""
        spec = self.specs.get(tensor)
        return self.dtypes.get(replace(tensor, tensor=0), FLOAT if spec is None else spec.dtype)


class Expansion(NamedTuple):
    """A layer that becomes several: `outputs` gives an expression for each tensor that a call of it made.

    `chain` are the layers, where it is a chain of layers that each read the one before.
    """

    outputs: Callable[[LayerArguments], Sequence[NodeTree]]
    chain: tuple[NewLayer, ...] | None = None


class Choice(NamedTuple):
    """A replacement that depends on the inputs: `resolved` receives the specs of each, and their dtypes."""

    resolved: Callable[[Sequence[Spec | None], Sequence[str]], Piece]


Piece: TypeAlias = "NewLayer | Expansion | Choice"


def chain(*layers: NewLayer) -> Expansion:
    """Return an expansion that calls layers one after the other."""

    def outputs(call: LayerArguments) -> Sequence[NodeTree]:
        args, kwargs = call.args, call.kwargs
        for layer in layers:
            made = LayerCall(layer, args, kwargs)
            args, kwargs = (made,), {}
        return (made,)

    return Expansion(outputs, layers)


def with_inputs_filled_in(
    tree: Operand, tensors: Sequence[NodeTree], done: dict[int, NodeTree]
) -> NodeTree:
    """Return an operand with a layer's tensors in place of its inputs; a node that occurs twice stays one node."""
    if isinstance(tree, Input):
        return tensors[tree.index]
    if id(tree) in done:
        return done[id(tree)]
    new: NodeTree
    if isinstance(tree, Part):
        new = Part(with_inputs_filled_in(tree.of, tensors, done), tree.index)  # type: ignore[arg-type]  # a node stays a node
    elif isinstance(tree, OpNode):
        args = tuple(with_inputs_filled_in(a, tensors, done) for a in tree.args)
        kwargs = {k: with_inputs_filled_in(v, tensors, done) for k, v in tree.kwargs.items()}
        new = OpNode(tree.module, tree.class_name, tree.config, args, kwargs)  # type: ignore[arg-type]  # calls among operands
    elif isinstance(tree, Mapping):
        return {k: with_inputs_filled_in(v, tensors, done) for k, v in tree.items()}
    elif isinstance(tree, Sequence) and not isinstance(tree, str):
        return [with_inputs_filled_in(v, tensors, done) for v in tree]
    else:
        return tree
    done[id(tree)] = new
    return new


def numpy_operation(kind: str, *args: NodeTree, **config: Json) -> OpNode:
    """Return an operation on tensors, by its name in NumPy."""
    return OpNode(NUMPY, kind, config, args)  # type: ignore[arg-type]  # trees of the builder are operands


def negated(constant: NodeTree) -> NodeTree:
    """Return a number, nested lists of numbers, or a stored array of them, with the other sign."""
    if isinstance(constant, Mapping):
        config = constant["config"]
        assert isinstance(config, Mapping), "a stored array has its numbers in its config"
        return {**constant, "config": {**config, "value": negated(config["value"])}}
    if isinstance(constant, Sequence):
        return [negated(each) for each in constant]
    assert isinstance(constant, int | float), "shapes are known of numbers alone"
    return -constant


def tensors_in(tree: NodeTree) -> Iterator[GraphTensor]:
    """Yield the tensors in a structure of arguments."""
    if isinstance(tree, GraphTensor):
        yield tree
    elif isinstance(tree, Mapping):
        for part in tree.values():
            yield from tensors_in(part)
    elif isinstance(tree, Sequence) and not isinstance(tree, str):
        for part in tree:
            yield from tensors_in(part)


def with_tensors(tree: NodeTree, change: Callable[[GraphTensor], NodeTree]) -> NodeTree:
    """Return a structure of arguments with its tensors changed."""
    if isinstance(tree, GraphTensor):
        return change(tree)
    if isinstance(tree, Mapping):
        return {k: with_tensors(v, change) for k, v in tree.items()}
    if isinstance(tree, Sequence) and not isinstance(tree, str):
        return [with_tensors(v, change) for v in tree]
    return tree
