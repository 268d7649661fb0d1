"""A model of layers, functional or Sequential, as Keras 3's: every layer by its rule, every call in today's form."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from unnest.core.architecture import is_input, is_model, read, tensor_refs
from unnest.core.architecture.graph import Call, CallId, Graph, Layer, Ref
from unnest.core.assign.flat_list import split
from unnest.core.assign.shares import Ambiguous
from unnest.core.keras3.builder import Builder, dtype_of, owned
from unnest.core.keras3.context import CannotConvert, Context, refused
from unnest.core.keras3.layers import piece
from unnest.core.keras3.masks import Masks, check_chain
from unnest.core.keras3.op_nodes import Part
from unnest.core.keras3.pieces import (
    FLOAT,
    SEQUENTIAL,
    Arguments,
    Choice,
    Expansion,
    Known,
    LayerCall,
    NewLayer,
    Piece,
    Tree,
)
from unnest.core.keras3.shapes import build_shape
from unnest.core.keras_facts import shape_inference
from unnest.core.keras_facts.shape_inference import Spec
from unnest.core.model import Json, JsonObject, Tensor

Weights = tuple[Tensor, ...]
Shares = Mapping[str, Weights]


def nested(entry: JsonObject, name: str, weights: Weights, context: Context) -> NewLayer:
    """A model inside another, whose weights are one flat list."""
    graph = read(entry)
    if context.masks and context.is_tf and not context.half_pixels:
        why = "masks and a model in a model came out otherwise in TensorFlow before 1.15"
        raise refused(name, str(entry.get("class_name")), why)
    try:
        shares = {n: s.tensors for n, s in split(weights, graph).items()} if weights else {}
    except Ambiguous as doubt:
        raise refused(name, str(entry.get("class_name")), f"its weights cannot be placed: {doubt}") from doubt
    inner = replace(context, output_names={})  # what is noted goes to the same lists
    return converted(graph, shares, inner).renamed(name)


def converted(graph: Graph, shares: Shares, context: Context) -> NewLayer:
    """The model; `shares` are its layers' weights. Raises CannotConvert."""
    if graph.sequential:
        first = next(iter(graph.layers.values()), None)
        if first is not None and first.class_name == "Merge" and first.settings.get("layers"):
            return _merged_branches(graph, shares, context)
        return _sequential(graph, shares, context)
    return _Functional(graph, shares, context).model()


# ---- functional models ----


@dataclass
class _Functional:
    """One functional model on its way."""

    graph: Graph
    shares: Shares
    context: Context
    builder: Builder = field(default_factory=Builder)
    #: Call of the old graph -> what it gave, by tensor index.
    made: dict[CallId, list[Tree]] = field(default_factory=dict)
    pieces: dict[str, Piece] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.masks = Masks(self.context)

    def model(self) -> NewLayer:
        """The new model."""
        names = today_names(self.graph.layers, self.context)
        self.builder.reserved |= set(names.values())
        for layer in self.graph.layers.values():
            self.pieces[layer.name] = piece(
                layer.stored, names[layer.name], self.shares.get(layer.name, ()), self.context
            )
        for at, call in in_order(self.graph):
            self.made[at] = self._call(self.graph.layers[at.layer], call, names[at.layer])
        inputs = [self._tensor(_origin(r, self.graph)) for r in self.graph.inputs]
        outputs = [self._tensor(r) for r in self.graph.outputs]
        for old, new in zip(self.graph.outputs, outputs, strict=True):
            self.context.output_names[old.layer] = new.layer
        config = self.graph.model["config"]
        settings: dict[str, Json] = {}
        if isinstance(config, Mapping) and config.get("trainable") is not None:
            settings["trainable"] = bool(config["trainable"])
        return self.builder.model(self.graph.name, inputs, outputs, settings)

    def _tensor(self, ref: Ref) -> Known:
        made = self.made[ref.call]
        tensor = made[ref.tensor] if ref.tensor < len(made) else None
        if tensor is None and len(made) == 1 and isinstance(made[0], Known):
            # The outputs of one call of a layer that gives several.
            tensor = Known(made[0].layer, made[0].rank, ref.tensor)
        if not isinstance(tensor, Known):
            raise refused(ref.layer, self.graph.layers[ref.layer].class_name, f"has no output {ref.tensor}")
        return tensor

    def _call(self, layer: Layer, call: Call, name: str) -> list[Tree]:
        made = self.pieces[layer.name]
        if isinstance(made, NewLayer) and made.class_name == "InputLayer":
            return [self.builder.input(made)]
        given = self._given(call, layer)
        if isinstance(made, Choice):
            once = len(layer.calls) == 1
            made = made.resolved(
                [given.spec(t) if once else None for t in given.tensors], [given.dtype(t) for t in given.tensors]
            )
            self.pieces[layer.name] = made
            assert not isinstance(made, Choice)
        if isinstance(made, NewLayer):
            args, kwargs = arguments_of(made, given, self.context)
            args, kwargs = self.masks.given(layer.class_name, made, given, args, kwargs)
            new = [self.builder.place(LayerCall(made, args, kwargs), name)]
            self.masks.note(layer.class_name, layer.settings, given, new)
            return new
        trees = made.outputs(given)
        placed: list[Tree] = []
        for k, tree in enumerate(trees):
            last = name if len(trees) == 1 else f"{name}_{k}"
            placed.append(self.builder.place(tree, name, last))
        self.masks.note(layer.class_name, layer.settings, given, placed)
        return placed

    def _given(self, call: Call, layer: Layer) -> Arguments:
        """A stored call's arguments, its tensors those of the new graph."""
        args, kwargs = _parsed(call.stored, self.graph, layer)

        def known(value: Json) -> Tree:
            if is_ref(value, self.graph):
                assert isinstance(value, Sequence)
                return self._tensor(_ref(value, self.graph))
            if isinstance(value, Mapping):
                return {k: known(v) for k, v in value.items()}
            if isinstance(value, Sequence) and not isinstance(value, str):
                return [known(v) for v in value]
            return value

        return Arguments(
            tuple(known(a) for a in args),
            {k: known(v) for k, v in kwargs.items()},
            self.builder.specs,
            self.builder.dtypes,
        )


def _origin(ref: Ref, graph: Graph) -> Ref:
    """The input layer behind a model's input.

    A layer of Keras 1 that gave back its very input (Activation `linear`) took its tensor's place there.
    """
    while graph.call(ref.call).reads:
        ref = graph.call(ref.call).reads[0]
    return ref


def arguments_of(layer: NewLayer, given: Arguments, context: Context) -> tuple[tuple[Tree, ...], Mapping[str, Tree]]:
    """A call's arguments as Keras 3's class takes them."""
    args, kwargs = list(given.args), dict(given.kwargs)
    if kwargs.get("training"):
        why = "was called with training=True, which Keras 3 overrides at inference"
        raise refused(layer.name, layer.class_name, why)
    if layer.class_name in RECURRENT and args and isinstance(args[0], list) and len(args[0]) > 1:
        if kwargs.get("constants") or layer.config.get("num_constants"):
            raise refused(layer.name, layer.class_name, "constants of a cell have no counterpart in Keras 3")
        context.note("initial-state", layer.name)
        kwargs["initial_state"] = args[0][1:]
        args[0] = args[0][0]
    for key in ("mask", "training", "initial_state", "constants", "attention_mask"):
        value = kwargs.get(key, ...)
        if value is None or (isinstance(value, list) and all(part is None for part in value)):
            del kwargs[key]
    return tuple(args), kwargs


#: Layers whose first call argument was once a list of the input and the states.
RECURRENT = frozenset({"LSTM", "GRU", "SimpleRNN", "RNN", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D", "Bidirectional"})


def is_ref(value: Json, graph: Graph) -> bool:
    """Whether a value is a reference to a tensor of the graph: `["layer", node, tensor]`, keyword arguments behind."""
    return tensor_refs.is_ref(value, graph.layers)


def _ref(value: Sequence[Json], graph: Graph) -> Ref:
    name, number, tensor = str(value[0]), value[1], value[2]
    assert isinstance(number, int)
    assert isinstance(tensor, int)
    return Ref(name, number - graph.layers[name].first, tensor)


def _parsed(node: Json, graph: Graph, layer: Layer) -> tuple[list[Json], dict[str, Json]]:
    """Positional and named arguments of a stored call of before Keras 3.

    The named ones stand behind the (first) tensor; a first argument that is no tensor is `_CONSTANT_VALUE`.
    """
    kwargs: dict[str, Json] = {}

    def stripped(value: Json) -> Json:
        if is_ref(value, graph) or _is_constant(value):
            assert isinstance(value, Sequence)
            for extra in value[3:]:
                if isinstance(extra, Mapping):
                    kwargs.update({k: v for k, v in extra.items() if k not in kwargs})
            return list(value[:3]) if not _is_constant(value) else value[2]
        if isinstance(value, Mapping):
            return {k: stripped(v) for k, v in value.items()}
        if isinstance(value, Sequence) and not isinstance(value, str):
            return [stripped(v) for v in value]
        return value

    if isinstance(node, Mapping):
        if "args" in node:
            raise refused(layer.name, layer.class_name, "is called as Keras 3 calls layers, in a file of before")
        return [stripped(node)], kwargs
    first = stripped(node)
    if isinstance(first, list) and len(first) == 1 and not is_ref(first, graph):
        first = first[0]
    return [first], kwargs


CONSTANT = "_CONSTANT_VALUE"


def _is_constant(value: Json) -> bool:
    """`["_CONSTANT_VALUE", -1, value, named arguments]`."""
    return isinstance(value, Sequence) and not isinstance(value, str) and len(value) > 2 and value[0] == CONSTANT  # noqa: PLR2004


def in_order(graph: Graph) -> Iterator[tuple[CallId, Call]]:
    """Every call after those that it reads; among these in stored order."""
    calls = dict(graph.calls())
    missing = {at: {r.call for r in call.reads} for at, call in calls.items()}
    ready = [at for at, reads in missing.items() if not reads]
    while ready:
        following: list[CallId] = []
        for at in ready:
            yield at, calls[at]
            for user, _ in graph.readers.get(at, ()):
                if at in missing[user]:
                    missing[user].discard(at)
                    if not missing[user]:
                        following.append(user)
        ready = following


#: What Keras 3 calls the operations that it puts into a graph to compute masks: no layer may be called so.
MASKING = re.compile(
    r"(concatenate|any|all|expand_dims|not_equal|equal|logical_(and|or)|ones_like|broadcast_to|cast|where)(_\d+)?"
)


def today_names(layers: Mapping[str, Layer], context: Context) -> dict[str, str]:
    """Layer -> its name in Keras 3, which refuses slashes, and the names of its own operations."""

    def is_masking(name: str) -> bool:
        return context.masks and MASKING.fullmatch(name) is not None

    taken = {name: "/" in name or is_masking(name) for name in layers}
    names: dict[str, str] = {name: name for name in layers if not taken[name]}
    for name in layers:
        if taken[name]:
            stem = name.replace("/", "_") if "/" in name else f"{name}_layer"
            new, number = stem, 0
            while new in names.values() or is_masking(new):
                number += 1
                new = f"{stem}_{number}"
            names[name] = new
            context.note("layer-name", name)
    return names


# ---- Sequential ----


def _sequential(graph: Graph, shares: Shares, context: Context) -> NewLayer:
    check_chain([layer.stored for layer in graph.layers.values()], context)
    names = today_names(graph.layers, context)
    pieces: list[Piece] = [
        piece(layer.stored, names[layer.name], shares.get(layer.name, ()), context) for layer in graph.layers.values()
    ]
    if graph.outputs:
        last = graph.outputs[0].layer
        context.output_names[last] = names[last]
    first = _input_of(graph, names, context)
    if first is not None:
        pieces.insert(0, first)
    pieces = _resolved(pieces)
    layers: list[NewLayer] = []
    for made in pieces:
        if not isinstance(made, NewLayer) and (not isinstance(made, Expansion) or made.chain is None):
            called = [*([first.name] if first else []), *names.values()]
            return _as_functional(graph, pieces, called, context)
        layers += (made.chain or ()) if isinstance(made, Expansion) else (made,)
    config: dict[str, Json] = {"name": graph.name, "trainable": True, "layers": [layer.entry for layer in layers]}
    shape = build_shape(graph.model)
    if first is None and shape is not None and not (layers and layers[0].class_name == "InputLayer"):
        config["build_input_shape"] = shape
    weights = tuple(w for layer in layers for w in owned(layer.name, layer.weights))
    return NewLayer(graph.name, SEQUENTIAL, config, weights, "keras")


def _resolved(pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces of a chain, each told what it is given as far as that is known.

    Behind operations they stay as they are: the model will be a functional one, whose builder knows more.
    """
    resolved: list[Piece] = []
    spec: Spec | None = None
    dtype = FLOAT
    for k, made in enumerate(pieces):
        new = made.resolved([spec], [dtype]) if isinstance(made, Choice) else made
        steps = new.chain if isinstance(new, Expansion) else (new,) if isinstance(new, NewLayer) else None
        resolved.append(new)
        if steps is None:
            return [*resolved, *pieces[k + 1 :]]
        for step in steps:
            if step.class_name == "InputLayer":
                spec = shape_inference.of_input(step.entry)
            else:
                spec = None if spec is None else shape_inference.result_of(step.entry, [spec])
            dtype = dtype_of(step.entry, spec, [dtype])
    return resolved


def _input_of(graph: Graph, names: Mapping[str, str], context: Context) -> NewLayer | None:
    """The input layer of a Sequential whose first layer keeps its shape; None where there is one, or no shape."""
    layer = next(iter(graph.layers.values()), None)
    if layer is None or is_input(layer.stored):
        return None
    shape, dtype = _first_shape(layer.stored)
    if shape is None:
        return None
    context.note("input-layer", names[layer.name])
    name = f"{names[layer.name]}_input"
    while name in names.values():
        name += "_"
    return NewLayer(name, "InputLayer", {"batch_shape": shape, "dtype": dtype, "sparse": False, "name": name})


def _first_shape(entry: JsonObject) -> tuple[list[Json] | None, str]:
    """The input shape that a first layer stores, and its dtype; a first model's is its first layer's."""
    from unnest.core.keras3.config_values import dtype as dtype_of
    from unnest.core.keras3.config_values import plain

    if is_model(entry):
        graph = read(entry)
        if graph.sequential and graph.layers:
            return _first_shape(next(iter(graph.layers.values())).stored)
        if len(graph.inputs) == 1:
            return _first_shape(graph.layers[graph.inputs[0].layer].stored)
        return None, "float32"
    config = plain(entry.get("config"))
    if not isinstance(config, Mapping):
        return None, "float32"
    shape = config.get("batch_input_shape", config.get("batch_shape"))
    kind = str(entry.get("class_name"))
    if shape is None:
        inner = config.get("layer")
        return (None, "float32") if not isinstance(inner, Mapping) or kind != "Bidirectional" else _first_shape(inner)
    dtype = dtype_of(config.get("dtype", config.get("input_dtype")), kind, Context()) or "float32"
    if kind == "Embedding":
        dtype = "float32"  # as Keras 3 has a Sequential's input whose dtype nobody tells; ids are cast to int
    return (list(shape), dtype.removeprefix("mixed_")) if isinstance(shape, Sequence) else (None, dtype)


def _as_functional(graph: Graph, pieces: Sequence[Piece], names: Sequence[str], context: Context) -> NewLayer:
    """A chain in which a layer became operations, which a Sequential cannot hold."""
    name = graph.name
    context.note("sequential-graph", name)
    builder = Builder(reserved=set(names))
    first, shape = pieces[0], build_shape(graph.model)
    if not (isinstance(first, NewLayer) and first.class_name == "InputLayer") and shape is not None:
        config: JsonObject = {"batch_shape": shape, "dtype": "float32", "sparse": False, "name": f"{names[0]}_input"}
        first = NewLayer(f"{names[0]}_input", "InputLayer", config)
        pieces, names = [first, *pieces], [first.name, *names]
    if not isinstance(first, NewLayer) or first.class_name != "InputLayer":
        raise CannotConvert(f"{name!r} (Sequential): its input shape is not stored, which operations need")
    start = builder.input(first)
    return builder.model(name, [start], [_chained(builder, start, pieces[1:], names[1:])], {"trainable": True})


def _chained(builder: Builder, tensor: Known, pieces: Sequence[Piece], names: Sequence[str]) -> Known:
    """What comes out of a chain that `tensor` goes into."""
    for made, called in zip(pieces, names, strict=True):
        given = Arguments((tensor,), {}, builder.specs, builder.dtypes)
        new = made.resolved([given.spec(tensor)], [given.dtype(tensor)]) if isinstance(made, Choice) else made
        if isinstance(new, NewLayer):
            placed = builder.place(LayerCall(new, (tensor,)), called)
        else:
            assert isinstance(new, Expansion), "resolved before"
            (tree,) = new.outputs(given)
            placed = builder.place(tree, called, called)
        assert isinstance(placed, Known)
        tensor = placed
    return tensor


def _merged_branches(graph: Graph, shares: Shares, context: Context) -> NewLayer:
    """Keras 1's Sequential that begins with a Merge of models, which has an input for each of them.

    The file lists the weights of the branches' layers beside those of the others (source: Keras 1.2.2, keras/models.py:
    flattened_layers).
    """
    merge, *rest = graph.layers.values()
    branches = _branches(merge, shares, context)
    names = today_names(graph.layers, context)
    context.note("sequential-graph", graph.name)
    builder = Builder(reserved={*names.values(), *(b.name for b in branches)})
    inputs, tensors = [], []
    for branch in branches:
        start = builder.input(_input_like(branch, merge))
        inputs.append(start)
        tensors.append(builder.place(LayerCall(branch, (start,)), branch.name))
    joined = {**merge.stored, "config": {k: v for k, v in merge.settings.items() if k != "layers"}}
    made = piece(joined, names[merge.name], (), context)
    if not isinstance(made, NewLayer):
        raise refused(merge.name, merge.class_name, "is several operations today")
    tensor = builder.place(LayerCall(made, (tensors,)), names[merge.name])
    assert isinstance(tensor, Known)
    pieces = [piece(layer.stored, names[layer.name], shares.get(layer.name, ()), context) for layer in rest]
    tensor = _chained(builder, tensor, pieces, [names[layer.name] for layer in rest])
    if graph.outputs:
        context.output_names[graph.outputs[0].layer] = tensor.layer
    return builder.model(graph.name, inputs, [tensor], {"trainable": True})


def _branches(merge: Layer, shares: Shares, context: Context) -> list[NewLayer]:
    """The models that a Merge holds, each under a name of its own: Keras 1 stores none. Raises CannotConvert."""
    entries = merge.settings["layers"]
    if context.masks:
        raise refused(merge.name, merge.class_name, "merges branches with masks, which Keras 3 merges otherwise")
    if not isinstance(entries, Sequence) or not all(isinstance(e, Mapping) and is_model(e) for e in entries):
        raise refused(merge.name, merge.class_name, "holds branches that are no models")
    graphs = [read(entry) for entry in entries if isinstance(entry, Mapping)]
    held = [name for graph in graphs for name in graph.layers]
    if len(held) > len(set(held)):
        raise refused(merge.name, merge.class_name, "its branches share layers")
    inner = replace(context, output_names={})
    return [converted(g, shares, inner).renamed(f"{merge.name}_branch_{k}") for k, g in enumerate(graphs)]


def _input_like(branch: NewLayer, merge: Layer) -> NewLayer:
    """An input layer for what goes into a branch. Raises CannotConvert where that is not one tensor."""
    layers = branch.config["layers"]
    assert isinstance(layers, Sequence)
    settings = [e["config"] for e in layers if isinstance(e, Mapping) and e.get("class_name") == "InputLayer"]
    if len(settings) != 1 or not isinstance(settings[0], Mapping):
        raise refused(merge.name, merge.class_name, "has a branch whose input is not stored, or with several")
    name = f"{branch.name}_input"
    return NewLayer(name, "InputLayer", {**settings[0], "name": name})


__all__ = ["Part", "converted", "nested"]
