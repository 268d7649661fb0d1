"""A functional model of Keras 3 under construction: names of layers and operations, and their calls."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from unnest.core.architecture import tensor_refs
from unnest.core.architecture.graph import Layer, keras_order, reached
from unnest.core.json_tree import OBJECT, is_list
from unnest.core.keras3 import broadcast_sums
from unnest.core.keras3.broadcast_sums import has_misplaced_sum
from unnest.core.keras3.conversion_context import Context, refused
from unnest.core.keras3.layer_replacements import (
    FLOAT,
    FUNCTIONAL,
    GraphTensor,
    LayerArguments,
    LayerCall,
    NewLayer,
    NodeTree,
    tensors_in,
)
from unnest.core.keras3_op_calls import UNKNOWN_DTYPE, Input, OpNode, Part
from unnest.core.keras_facts import shape_inference
from unnest.core.keras_facts.shape_inference import Spec
from unnest.core.layers.catalog import layer_record
from unnest.core.layers.read_config_values import settings
from unnest.core.model import CallId, Json, JsonObject, Ref, Shape, Tensor, Unknown

SHAPE_OR_NUMBER = "Shape"
"""The class of an operation that stands for a shape or a number: whoever reads it knows its value, and it goes."""


@dataclass(eq=False, repr=False)
class _Entry:
    """A layer or operation, the calls of it, and what each reads."""

    entry: JsonObject
    weights: tuple[Tensor, ...]
    nodes: list[Json] = field(default_factory=list)
    reads: list[tuple[GraphTensor, ...]] = field(default_factory=list)


@dataclass(eq=False, repr=False)
class Builder:
    """Places expressions in a graph; names are given once and never twice."""

    entries: dict[str, _Entry] = field(default_factory=dict)
    specs: dict[GraphTensor, Spec | None] = field(default_factory=dict)
    #: First tensor of a call -> the dtype of all that it gives.
    dtypes: dict[GraphTensor, str] = field(default_factory=dict)
    reserved: set[str] = field(default_factory=set)

    def input(self, layer: NewLayer) -> GraphTensor:
        """Add an input layer and return its tensor."""
        self.entries[layer.name] = _Entry(layer.entry, ())
        tensor = GraphTensor(layer.name, 0, 0)
        self.specs[tensor] = shape_inference.input_spec(layer.entry)
        return tensor

    def place(self, tree: NodeTree, stem: str, last: str | None = None) -> NodeTree:
        """Add all calls of an expression; return it with the graph's tensors in place of calls.

        Operations are called `<stem>_<class>`; the outermost `last`, where that is given.
        """
        return self._placed(tree, stem, last, {})

    def _placed(
        self, tree: NodeTree, stem: str, last: str | None, done: dict[int, GraphTensor]
    ) -> NodeTree:
        """Add the calls of an expression, each part once; `done`: id of a part -> its tensor."""
        if id(tree) in done:
            return done[id(tree)]
        if isinstance(tree, Part):
            whole = self._placed(tree.of, stem, last, done)
            assert isinstance(whole, GraphTensor)
            made = GraphTensor(whole.layer, whole.call_index, tree.index)
        elif isinstance(tree, LayerCall):
            args, kwargs = self._arguments(tree.args, tree.kwargs, stem, done)
            layer, args = self._unmistaken_merge(tree.layer, args)
            args = [self._placed(a, stem, None, done) for a in args]
            made = self._call(self._layer(layer), args, kwargs)
        elif isinstance(tree, OpNode):
            args, kwargs = self._arguments(tree.args, tree.kwargs, stem, done)  # type: ignore[arg-type]  # operands are trees
            node, args = self._unmistaken_sum(tree, args)
            args = [self._placed(a, stem, None, done) for a in args]
            made = self._call(self._operation(node, stem, last), args, kwargs)
        elif (
            isinstance(tree, GraphTensor | Input)
            or not isinstance(tree, Mapping | Sequence)
            or isinstance(tree, str)
        ):
            assert not isinstance(tree, Input), "inputs are filled in before"
            return tree
        elif isinstance(tree, Mapping):
            return {k: self._placed(v, stem, None, done) for k, v in tree.items()}
        else:
            return [self._placed(v, stem, None, done) for v in tree]
        done[id(tree)] = made
        return made

    def _arguments(
        self,
        args: Iterable[NodeTree],
        kwargs: Mapping[str, NodeTree],
        stem: str,
        done: dict[int, GraphTensor],
    ) -> tuple[list[NodeTree], dict[str, NodeTree]]:
        placed = [self._placed(a, stem, None, done) for a in args]
        return placed, {k: self._placed(v, stem, None, done) for k, v in kwargs.items()}

    def _unmistaken_sum(self, node: OpNode, args: list[NodeTree]) -> tuple[OpNode, list[NodeTree]]:
        """Return an operation and its arguments, in another way if it is a sum that Keras 3 may misplace."""
        shapes = self._shapes(args) if node.class_name == "Add" else ()
        if not has_misplaced_sum(shapes) or "bool" in map(self.dtype, tensors_in(args)):
            return node, args
        return broadcast_sums.of_operation(node, args, shapes)

    def _unmistaken_merge(
        self, layer: NewLayer, args: list[NodeTree]
    ) -> tuple[NewLayer, list[NodeTree]]:
        """Return a layer and its arguments; an Add or Average as `_unmistaken_sum` does. Raises CannotConvert."""
        addends = args[0] if layer.class_name in broadcast_sums.LAYERS and args else None
        if not isinstance(addends, list):
            return layer, args
        shapes = shape_inference.of_equal_rank(self._shapes(addends))
        if not has_misplaced_sum(shapes):
            return layer, args
        is_float = all("float" in self.dtype(each) for each in tensors_in(addends))
        negative = self.fresh(f"{layer.name}_negative")
        return broadcast_sums.of_layer(layer, addends, shapes, negative if is_float else None)

    def _shapes(self, args: Sequence[NodeTree]) -> Sequence[Shape]:
        """Return the shapes of tensors and constants; none where one is unknown."""
        specs = [self.specs.get(each) for each in args if isinstance(each, GraphTensor)]
        if None in specs:
            return ()
        if len(specs) == len(args):
            return [spec.shape for spec in specs if spec is not None]
        from unnest.core.ops.static_shapes import shape_of

        try:
            return [shape_of(each) for each in self._sized(args)]
        except Unknown:
            return ()

    def _layer(self, layer: NewLayer) -> str:
        """Add a layer, unless it is there, and return its name.

        A merge that is called again may be of another class now (`_unmistaken_merge`), and is another layer then.
        """
        present = self.entries.get(layer.name)
        if present is not None and present.entry["class_name"] != layer.class_name:
            layer = layer.renamed(self.fresh(layer.name))
        if layer.name not in self.entries:
            self.entries[layer.name] = _Entry(layer.entry, layer.weights)
        return layer.name

    def _operation(self, node: OpNode, stem: str, last: str | None) -> str:
        """Add an operation layer and return its name: `last` if nothing has it yet, or `<stem>_<class>`."""
        if last is not None and last not in self.entries:
            name = last
        else:
            kind = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", node.class_name).lower()
            name = self.fresh(f"{stem}_{kind}")
        entry = {
            "module": node.module, "class_name": node.class_name, "config": {**node.config, "name": name},
            "registered_name": None,
        }  # fmt: skip
        self.entries[name] = _Entry(entry, ())
        return name

    def fresh(self, name: str) -> str:
        """Return a name that no layer has, beginning with `name`."""
        number, new = 0, name
        while new in self.entries or new in self.reserved:
            number += 1
            new = f"{name}_{number}"
        return new

    def reserve(self, name: str) -> str:
        """Return a name that no layer has, and that none will get."""
        new = self.fresh(name)
        self.reserved.add(new)
        return new

    def _call(
        self, name: str, args: Sequence[NodeTree], kwargs: Mapping[str, NodeTree]
    ) -> GraphTensor:
        """Add a call to a layer's entry, and note the shape and dtype of its result."""
        entry = self.entries[name]
        entry.nodes.append(
            {"args": [self._stored(a) for a in args], "kwargs": self._stored(kwargs)}
        )
        tensors = [*tensors_in(list(args)), *tensors_in(dict(kwargs))]
        entry.reads.append(tuple(dict.fromkeys(tensors)))
        made = GraphTensor(name, len(entry.nodes) - 1, 0)
        known = LayerArguments(tuple(args), kwargs, self.specs, self.dtypes)
        dtypes = [known.dtype(t) for t in tensors]
        if _is_operation(entry.entry):
            self.dtypes[made] = dtype_of(entry.entry, None, dtypes)
            shape = self._operation_shape(entry.entry, args)
            self.specs[made] = None if shape is None else Spec(shape, self.dtypes[made])
            return made
        given = [self.specs.get(t) for t in tensors]  # one that is joined to itself counts twice
        spec = _spec(entry.entry, given)
        self.dtypes[made] = dtype_of(entry.entry, spec, dtypes)
        self.specs[made] = spec and spec._replace(dtype=self.dtypes[made])
        return made

    def dtype(self, tensor: GraphTensor) -> str:
        """Return the dtype of a tensor; float32 if nothing says otherwise."""
        return LayerArguments((), {}, self.specs, self.dtypes).dtype(tensor)

    def _operation_shape(self, entry: JsonObject, args: Sequence[NodeTree]) -> Shape | None:
        """Return the shape of an operation's result; None if it is unknown."""
        from unnest.core.frontends.node_defs_as_op_calls import keras3_call
        from unnest.core.interpreters.op_shapes import result_shape

        call = keras3_call(str(entry["class_name"]), self._sized(args), settings(entry))
        return result_shape(call)

    def _sized(self, args: Sequence[NodeTree]) -> list[object]:
        """Return the arguments with shapes in place of tensors."""
        from unnest.core.frontends.node_defs_as_op_calls import plain_argument
        from unnest.core.ops.static_shapes import Sized

        sized: list[object] = []
        for arg in args:
            if isinstance(arg, GraphTensor):
                spec = self.specs.get(arg)
                sized.append(Sized(None if spec is None else spec.shape))
            elif isinstance(arg, list | tuple):
                sized.append(self._sized(arg))
            else:
                sized.append(plain_argument(arg))  # type: ignore[arg-type]  # what is no tensor and no list is JSON
        return sized

    def _stored(self, tree: NodeTree) -> Json:
        """Return the arguments as Keras 3 stores them; an unknown shape is noted as (), which no loader reads."""
        if isinstance(tree, GraphTensor):
            spec = self.specs.get(tree) or Spec((), "float32")
            history: Json = [tree.layer, tree.call_index, tree.tensor]
            noted: JsonObject = {
                "shape": list(spec.shape),
                "dtype": spec.dtype,
                "keras_history": history,
            }
            return {"class_name": tensor_refs.KERAS_3_TENSOR, "config": noted}
        if isinstance(tree, Mapping):
            return {k: self._stored(v) for k, v in tree.items()}
        if isinstance(tree, Sequence) and not isinstance(tree, str):
            return [self._stored(v) for v in tree]
        assert tree is None or isinstance(tree, bool | int | float | str)
        return tree

    def ordered(self, inputs: Sequence[GraphTensor], outputs: Sequence[GraphTensor]) -> list[str]:
        """Return the names of the layers that the outputs need, in Keras's order."""

        def refs(tensors: Sequence[GraphTensor]) -> list[Ref]:
            return [Ref(t.layer, t.call_index, t.tensor) for t in tensors]

        return keras_order(self._reads, refs(inputs), refs(outputs))

    def model(
        self,
        name: str,
        inputs: Sequence[GraphTensor],
        outputs: Sequence[GraphTensor],
        settings: JsonObject,
        structures: tuple[Json, Json] = (None, None),
    ) -> NewLayer:
        """Return the functional model; `settings` are more keys of its config. Raises CannotConvert.

        `structures` are those of its inputs and outputs, where they are no lists: mappings, or nested.
        """
        names = self.ordered(inputs, outputs)
        for size in (n for n in names if self.entries[n].entry["class_name"] == SHAPE_OR_NUMBER):
            raise refused(
                size,
                "TensorFlow operation",
                "gives a shape or a number, where a layer needs a tensor",
            )
        new_indices = self._needed_calls(outputs)
        layers: list[Json] = [
            {**self.entries[n].entry, "name": n, "inbound_nodes": self._nodes(n, new_indices)} for n in names
        ]  # fmt: skip
        config: JsonObject = {
            "name": name, **settings, "layers": layers, "input_layers": self._ends(inputs, new_indices, structures[0]),
            "output_layers": self._ends(outputs, new_indices, structures[1]),
        }  # fmt: skip
        weights = tuple(w for n in names for w in with_owner(n, self.entries[n].weights))
        return NewLayer(name, FUNCTIONAL, config, weights, "keras.src.models.functional")

    def _reads(self, at: CallId) -> list[Ref]:
        """Return the tensors that a call reads; an input has none."""
        calls = self.entries[at.layer].reads
        return [Ref(t.layer, t.call_index, t.tensor) for t in calls[at.call_index]] if calls else []

    def _needed_calls(self, outputs: Sequence[GraphTensor]) -> dict[str, dict[int, int]]:
        """Return the calls that the outputs need: layer -> index of the call here -> its index among those needed."""
        ends = (CallId(t.layer, t.call_index) for t in outputs)
        new_indices: dict[str, dict[int, int]] = {}
        for at in sorted(reached(ends, lambda at: [ref.call for ref in self._reads(at)])):
            of_layer = new_indices.setdefault(at.layer, {})
            of_layer[at.call_index] = len(of_layer)
        return new_indices

    def _nodes(self, name: str, new_indices: Mapping[str, Mapping[int, int]]) -> list[Json]:
        """Return the calls of a layer that are needed, with the indices that the calls of their tensors have then."""
        nodes = self.entries[name].nodes
        return (
            [
                _with_call_indices(nodes[call_index], new_indices)
                for call_index in new_indices.get(name, ())
            ]
            if nodes
            else []
        )

    def _ends(
        self,
        tensors: Sequence[GraphTensor],
        new_indices: Mapping[str, Mapping[int, int]],
        structure: Json,
    ) -> Json:
        """Return stored inputs or outputs; functional models count calls from 1 here (source: Keras 3.15)."""
        ends: list[Json] = []
        for t in tensors:
            call_index = new_indices.get(t.layer, {}).get(t.call_index, t.call_index)
            ends.append(
                [
                    t.layer,
                    call_index + int(self.entries[t.layer].entry["class_name"] == FUNCTIONAL),
                    t.tensor,
                ]
            )
        if structure is not None:
            return _packed(structure, iter(ends))
        return ends[0] if len(ends) == 1 else ends


def _with_call_indices(node: Json, new_indices: Mapping[str, Mapping[int, int]]) -> Json:
    """Return a stored call, or a part of it, with new indices of the calls that its tensors come from."""
    if isinstance(node, OBJECT):
        if node.get("class_name") == tensor_refs.KERAS_3_TENSOR:
            config = node["config"]
            assert isinstance(config, Mapping)
            layer, call_index, tensor = cast(
                "list[Any]", config["keras_history"]
            )  # as `_stored` writes it
            return {
                **node,
                "config": {
                    **config,
                    "keras_history": [layer, new_indices[layer][call_index], tensor],
                },
            }
        return {key: _with_call_indices(part, new_indices) for key, part in node.items()}
    return [_with_call_indices(part, new_indices) for part in node] if is_list(node) else node


def _packed(structure: Json, ends: Iterator[Json]) -> Json:
    """Put the ends in the places of a structure, in the order in which Keras flattens it: a mapping's keys sorted.

    (Source: Keras 3.7, which takes a list of tensors for a mapping of inputs only where its keys are in order.)
    """
    if isinstance(structure, OBJECT):
        return {key: _packed(structure[key], ends) for key in sorted(structure)}
    if not is_list(structure) or (structure and isinstance(structure[0], str)):
        return next(ends)
    return [_packed(part, ends) for part in structure]


def with_owner(name: str, weights: Iterable[Tensor]) -> list[Tensor]:
    """Return a layer's weights as weights of the model that contains it."""
    return [w._replace(owner=(name, *w.owner)) for w in weights]


def _is_operation(entry: JsonObject) -> bool:
    return str(entry["module"]).startswith("keras.src.ops")


def _spec(entry: JsonObject, given: Sequence[Spec | None]) -> Spec | None:
    """Return shape and dtype of a layer's output, for inputs of which these may be unknown (None)."""
    if entry["class_name"] == "Reshape" and given == [None]:
        target = settings(entry).get("target_shape")
        whole = (
            [size for size in target if isinstance(size, int) and size > 0]
            if isinstance(target, Sequence)
            else []
        )
        return Spec((None, *whole), FLOAT) if whole and target == whole else None
    if any(s is None for s in given):
        return None
    # Masking has no shape rule in its record, so other readers of shapes follow them up to a mask only.
    if entry["class_name"] == "Masking":
        return given[0]
    return shape_inference.output_spec(entry, [s for s in given if s is not None])


def dtype_of(entry: JsonObject, spec: Spec | None, given: Sequence[str]) -> str:
    """Return the dtype of a layer's or operation's result; arithmetic on integers differs from that on floats."""
    kind, config = str(entry["class_name"]), entry.get("config")
    if not _is_operation(entry):
        if spec is not None:
            return spec.dtype
        if kind == "Lambda" or entry.get("module") is None:
            return UNKNOWN_DTYPE
        return given[0] if given and layer_record(kind).keeps_dtype else FLOAT
    from unnest.core.ops.registry import BY_LAYER_CLASS

    operation = BY_LAYER_CLASS.get(kind)
    if operation is not None and operation.result_dtype:
        return operation.result_dtype
    told = config.get("dtype") if isinstance(config, Mapping) else None
    values = given[1:] if operation is not None and operation.chooses_by_mask else given
    return told if isinstance(told, str) else values[0] if values else FLOAT


#: What Keras 3 calls the operations that it puts into a graph to compute masks: no layer may be called so.
MASK_OPERATION_NAMES = (
    r"(concatenate|any|all|expand_dims|not_equal|equal"
    r"|logical_(and|or)|ones_like|broadcast_to|cast|where)(_\d+)?"
)


def keras_3_names(layers: Mapping[str, Layer], context: Context) -> dict[str, str]:
    """Layer -> its name in Keras 3, which refuses slashes and the names of its own operations."""

    def is_masking(name: str) -> bool:
        return context.masks and re.fullmatch(MASK_OPERATION_NAMES, name) is not None

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
