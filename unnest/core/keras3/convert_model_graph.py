"""A model of layers, functional or Sequential, as Keras 3's: every layer by its rule, every call in today's form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from unnest.core.architecture import read
from unnest.core.architecture.graph import Call, Graph, Layer, in_order, reached
from unnest.core.architecture.input_output_names import OUTPUTS, has_keys
from unnest.core.architecture.nested_models import merged_models
from unnest.core.json_tree import is_list
from unnest.core.keras3.conversion_context import Context, GraphNotes, refused
from unnest.core.keras3.convert_call_arguments import (
    ONE_TENSOR,
    graph_tensor,
    is_ref,
    keras_3_arguments,
    parse_call,
)
from unnest.core.keras3.convert_sequential import convert_sequential, functional_equivalent
from unnest.core.keras3.graph.graph_builder import Builder
from unnest.core.keras3.graph.rename_layers_for_keras3 import keras_3_names
from unnest.core.keras3.keras1.convert_merged_models import merged_branches
from unnest.core.keras3.layer_replacements import (
    Choice,
    LayerArguments,
    LayerCall,
    NewLayer,
    NodeTree,
    Piece,
    Shares,
    Weights,
)
from unnest.core.keras3.masks.keep_old_masks import OldMasks, without_mask
from unnest.core.keras3.masks.outputs_at_masked_steps import (
    is_split_in_two,
    join_directions,
    may_be_split_in_two,
    split_directions,
    with_initial_state_at_masked_start,
)
from unnest.core.keras3_op_node import GraphTensor
from unnest.core.keras_facts.unloadable_models import takes_list
from unnest.core.layers.catalog import layer_record
from unnest.core.model import CallId, Json, JsonObject, Ref
from unnest.core.weight_assignment.flat_list.divide_flat_list import divide_flat_list
from unnest.core.weight_assignment.layer_weights_record import Ambiguous


def convert_nested(entry: JsonObject, name: str, weights: Weights, context: Context) -> NewLayer:
    """Convert a nested model, whose weights are one flat list."""
    graph = read(entry)
    if context.masks and context.is_tf and not context.half_pixels:
        why = "masks and a model in a model came out otherwise in TensorFlow before 1.15"
        raise refused(name, str(entry.get("class_name")), why)
    try:
        shares = (
            {n: s.tensors for n, s in divide_flat_list(weights, graph).items()} if weights else {}
        )
    except Ambiguous as doubt:
        raise refused(
            name, str(entry.get("class_name")), f"its weights cannot be placed: {doubt}"
        ) from doubt
    inner = replace(context, is_nested=True, graph=GraphNotes())
    return convert_graph(graph, shares, inner).renamed(name)


def convert_graph(graph: Graph, shares: Shares, context: Context) -> NewLayer:
    """Convert a model; `shares` are its layers' weights. Raises CannotConvert."""
    if graph.sequential:
        if merged_models(graph):
            return merged_branches(graph, shares, context, convert_graph)
        _check_merges(graph)
        if may_be_split_in_two(graph, context) and (model := functional_equivalent(graph, context)):
            return _Functional(read(model), shares, context).model()
        return convert_sequential(graph, shares, context)
    return _Functional(graph, shares, context).model()


def _check_merges(graph: Graph) -> None:
    """Raise CannotConvert for a Sequential with a layer that takes a list of tensors: no Keras could build it."""
    for layer in graph.layers.values():
        if takes_list(layer.class_name, layer.stored):
            raise refused(layer.name, layer.class_name, ONE_TENSOR)


@dataclass(eq=False, repr=False)
class _Functional:
    """One functional model on its way."""

    graph: Graph
    shares: Shares
    context: Context
    builder: Builder = field(default_factory=Builder)
    #: Call of the old graph -> what it gave, by tensor index.
    made: dict[CallId, list[NodeTree]] = field(default_factory=dict)
    pieces: dict[str, Piece] = field(default_factory=dict)
    #: Bidirectional -> the two layers that it is written as.
    ways: dict[str, tuple[NewLayer, NewLayer]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.masks = OldMasks(self.context, reserve=self.builder.reserve)

    def model(self) -> NewLayer:
        """Return the model that was built."""
        names = keras_3_names(self.graph.layers, self.context)
        self.builder.reserved |= set(names.values())
        added = self._added()
        for name, layer in self.graph.layers.items():
            if name not in added:
                self.pieces[name] = self.context.convert_layer(
                    layer.stored, names[name], self.shares.get(name, ())
                )
        for at, call in in_order(self.graph):
            if at.layer not in added:
                self.made[at] = self._call(self.graph.layers[at.layer], call, names[at.layer])
        inputs = [self._tensor(_origin(r, self.graph)) for r in self.graph.inputs]
        outputs = [self._end(r) for r in self.graph.outputs]
        if not has_keys(self.graph, OUTPUTS):  # which stay as they are
            for old, new in zip(self.graph.outputs, outputs, strict=True):
                self.context.graph.output_names[old.layer] = new.layer
        self.masks.note_ends(outputs)
        config = self.graph.model["config"]
        settings: dict[str, Json] = {}
        if isinstance(config, Mapping) and config.get("trainable") is not None:
            settings["trainable"] = bool(config["trainable"])
        ends = (
            config.get(key) if isinstance(config, Mapping) else None
            for key in ("input_layers", "output_layers")
        )
        inputs_as, outputs_as = (end if self._keeps_structure(end) else None for end in ends)
        return self.builder.model(
            self.graph.name, inputs, outputs, settings, (inputs_as, outputs_as)
        )

    def _keeps_structure(self, ends: Json) -> bool:
        """Return True if inputs or outputs stay in the mapping, or the nested structure, that the model was made with.

        A model in a model is called with a list of tensors, but where its inputs are nested.
        """
        if not isinstance(ends, Mapping):
            return (
                not all(is_ref(end, self.graph) for end in ends)
                if isinstance(ends, Sequence)
                else False
            )
        return not self.context.is_nested or not all(
            is_ref(end, self.graph) for end in ends.values()
        )

    def _added(self) -> set[str]:
        """Return the layers of added losses and metrics, and those that lead to them alone."""

        def layers_behind(calls: Iterable[CallId]) -> set[str]:
            return {
                at.layer
                for at in reached(calls, lambda at: [r.call for r in self.graph.call(at).reads])
            }

        ends = (*self.graph.outputs, *self.graph.inputs)
        adding = [
            at
            for at, _ in self.graph.calls()
            if layer_record(self.graph.layers[at.layer].class_name).adds_loss
        ]
        added = layers_behind(adding) - layers_behind(ref.call for ref in ends)
        for name, layer in self.graph.layers.items():
            if name in added and layer_record(layer.class_name).adds_loss:
                self.context.notes.added.append(name)
            elif name in added and self.shares.get(name):
                self.context.notes.added.append(f"{name} and its weights")
        return added

    def _end(self, ref: Ref) -> GraphTensor:
        """Return an output; that of a nested model keeps its old mask, which layers behind it may read."""
        tensor = self._tensor(ref)
        if not self.context.is_nested:
            return tensor
        kind = self.graph.layers[ref.layer].class_name
        end = self.builder.place(
            self.masks.handed_on(kind, tensor, self.builder.dtype(tensor)), tensor.layer
        )
        assert isinstance(end, GraphTensor)
        return end

    def _tensor(self, ref: Ref) -> GraphTensor:
        made = self.made[ref.call]
        tensor = made[ref.tensor] if ref.tensor < len(made) else None
        if tensor is None and len(made) == 1 and isinstance(made[0], GraphTensor):
            # The outputs of one call of a layer that gives several.
            tensor = GraphTensor(made[0].layer, made[0].call_index, ref.tensor)
        if not isinstance(tensor, GraphTensor):
            raise refused(
                ref.layer, self.graph.layers[ref.layer].class_name, f"has no output {ref.tensor}"
            )
        return tensor

    def _call(self, layer: Layer, call: Call, name: str) -> list[NodeTree]:
        """Add a call of a converted layer to the new graph; return its outputs."""
        made = self.pieces[layer.name]
        if isinstance(made, NewLayer) and made.class_name == "InputLayer":
            return [self.builder.input(made)]
        given = self._call_arguments(call, layer)
        if isinstance(made, Choice):
            once = len(layer.calls) == 1
            made = made.resolved(
                [given.spec(t) if once else None for t in given.tensors],
                [given.dtype(t) for t in given.tensors],
            )
            self.pieces[layer.name] = made
            assert not isinstance(made, Choice)
        if isinstance(made, NewLayer):
            args, kwargs = keras_3_arguments(made, given, self.context)
            args, kwargs = self.masks.call_with_masks(layer.class_name, made, given, args, kwargs)
            if self.masks.meets(given) and is_split_in_two(made, kwargs, self.context):
                return self._both_ways(layer, made, given, args, kwargs)
            tree: NodeTree = LayerCall(made, args, kwargs)
            mask = self.masks.behind(layer.class_name, _settings(layer), given)
            if self.masks.is_replaced(layer.class_name, given, mask):
                tree = without_mask(tree)
            new = self.builder.place(tree, name, name)
            placed = self._begun(layer, made, kwargs, new, name)
            self.masks.note(mask, placed, today=placed[0] is new)
            return placed
        trees = made.outputs(given)
        placed = []
        for k, tree in enumerate(trees):
            last = name if len(trees) == 1 else f"{name}_{k}"
            placed.append(self.builder.place(tree, name, last))
        rows = getattr(self.context.graph.results.get(name), "rows", None)
        if rows is not None and placed == [first := GraphTensor(name, 0, 0)]:
            self.builder.rows.numbers[first] = rows
        self.masks.note(self.masks.behind(layer.class_name, _settings(layer), given), placed)
        return placed

    def _both_ways(
        self,
        layer: Layer,
        made: NewLayer,
        given: LayerArguments,
        args: tuple[NodeTree, ...],
        kwargs: Mapping[str, NodeTree],
    ) -> list[NodeTree]:
        """Return a Bidirectional's old output, its last one at masked steps included; its calls share both layers."""
        self.context.note("masked-steps", made.name)
        if made.name not in self.ways:
            forward, backward = (
                self.builder.reserve(f"{made.name}_{way}") for way in ("forward", "backward")
            )
            self.ways[made.name] = split_directions(made, forward, backward)
        placed = [
            self.builder.place(
                join_directions(made, self.ways[made.name], args, kwargs), made.name, made.name
            )
        ]
        mask = self.masks.behind(layer.class_name, _settings(layer), given)
        self.masks.note(mask, placed, today=False)
        return placed

    def _begun(
        self, layer: Layer, made: NewLayer, kwargs: Mapping[str, NodeTree], new: NodeTree, name: str
    ) -> list[NodeTree]:
        """Return a layer's old output, its first masked steps as they were; the states of a recurrent one stay."""
        if not isinstance(new, GraphTensor):
            return [new]
        first = with_initial_state_at_masked_start(
            layer.class_name, made, kwargs, new, self.context
        )
        if first is new:
            return [new]
        states = (replace(new, tensor=place) for place in (1, 2))  # of an LSTM; the others have one
        return [self.builder.place(first, name), *states]

    def _call_arguments(self, call: Call, layer: Layer) -> LayerArguments:
        """Return a stored call's arguments with tensors of the new graph."""
        args, kwargs = parse_call(call.arguments, self.graph, layer)

        def new_tensors(value: Json) -> NodeTree:
            if is_ref(value, self.graph):
                assert isinstance(value, Sequence)
                return self._tensor(graph_tensor(value, self.graph))
            if isinstance(value, Mapping):
                return {k: new_tensors(v) for k, v in value.items()}
            if is_list(value):
                return [new_tensors(v) for v in value]
            return value

        return LayerArguments(
            tuple(new_tensors(a) for a in args),
            {k: new_tensors(v) for k, v in kwargs.items()},
            self.builder.specs,
            self.builder.dtypes,
            self.builder.rows,
        )


def _origin(ref: Ref, graph: Graph) -> Ref:
    """Return the input layer behind a model's input.

    A layer of Keras 1 that gave back its very input (Activation `linear`) took its tensor's place there.
    """
    while graph.call(ref.call).reads:
        ref = graph.call(ref.call).reads[0]
    return ref


def _settings(layer: Layer) -> JsonObject:
    """Return a layer's config as an object; {} for an old Sequential's, which is a list."""
    return {"layers": layer.config} if isinstance(layer.config, list) else layer.settings
