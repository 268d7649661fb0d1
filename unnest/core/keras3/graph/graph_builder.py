"""A graph of Keras 3 under construction: expressions of layers and operations in, named layers with their calls out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from unnest.core.keras3.graph import sums_mistaken_for_bias_adds
from unnest.core.keras3.graph.functional_model_json import (
    Entry,
    GraphEntries,
    stored_arguments,
)
from unnest.core.keras3.graph.rename_layers_for_keras3 import operation_name
from unnest.core.keras3.graph.result_specs import (
    dtype_of,
    is_operation,
    layer_rows,
    layer_spec,
    operation_rows,
    operation_shape,
    shapes_for_tensors,
)
from unnest.core.keras3.graph.sums_mistaken_for_bias_adds import has_misplaced_sum
from unnest.core.keras3.layer_replacements import (
    Choice,
    EqualRows,
    Expansion,
    LayerArguments,
    LayerCall,
    NewLayer,
    NodeTree,
    Piece,
    tensors_in,
)
from unnest.core.keras3_op_node import GraphTensor, Input, OpNode, Part
from unnest.core.keras_facts import keras3_layer_output_specs
from unnest.core.keras_facts.keras3_layer_output_specs import Spec
from unnest.core.model import JsonObject, Shape, Unknown


@dataclass(eq=False, repr=False)
class Builder(GraphEntries):
    """Places expressions in a graph; names are given once and never twice."""

    specs: dict[GraphTensor, Spec | None] = field(default_factory=dict)
    #: First tensor of a call -> the dtype of all that it gives.
    dtypes: dict[GraphTensor, str] = field(default_factory=dict)
    rows: EqualRows = field(default_factory=EqualRows)
    reserved: set[str] = field(default_factory=set)

    def input(self, layer: NewLayer) -> GraphTensor:
        """Add an input layer and return its tensor."""
        self.entries[layer.name] = Entry(layer.entry, ())
        tensor = GraphTensor(layer.name, 0, 0)
        self.rows.inputs.add(self.rows.of(tensor))
        self.specs[tensor] = keras3_layer_output_specs.input_spec(layer.entry)
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
        return sums_mistaken_for_bias_adds.of_operation(node, args, shapes)

    def _unmistaken_merge(
        self, layer: NewLayer, args: list[NodeTree]
    ) -> tuple[NewLayer, list[NodeTree]]:
        """Return a layer and its arguments; an Add or Average as `_unmistaken_sum` does. Raises CannotConvert."""
        addends = (
            args[0] if layer.class_name in sums_mistaken_for_bias_adds.LAYERS and args else None
        )
        if not isinstance(addends, list):
            return layer, args
        shapes = keras3_layer_output_specs.of_equal_rank(self._shapes(addends))
        if not has_misplaced_sum(shapes):
            return layer, args
        is_float = all("float" in self.dtype(each) for each in tensors_in(addends))
        negative = self.fresh(f"{layer.name}_negative")
        return sums_mistaken_for_bias_adds.of_layer(
            layer, addends, shapes, negative if is_float else None
        )

    def _shapes(self, args: Sequence[NodeTree]) -> Sequence[Shape]:
        """Return the shapes of tensors and constants; none where one is unknown."""
        specs = [self.specs.get(each) for each in args if isinstance(each, GraphTensor)]
        if None in specs:
            return ()
        if len(specs) == len(args):
            return [spec.shape for spec in specs if spec is not None]
        from unnest.core.ops.shape_arithmetic import shape_of

        try:
            return [shape_of(each) for each in shapes_for_tensors(args, self.specs)]
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
            self.entries[layer.name] = Entry(layer.entry, layer.weights)
        return layer.name

    def _operation(self, node: OpNode, stem: str, last: str | None) -> str:
        """Add an operation layer and return its name: `last` if nothing has it yet, or `<stem>_<class>`."""
        if last is not None and last not in self.entries:
            name = last
        else:
            name = self.fresh(operation_name(stem, node.class_name))
        entry = {
            "module": node.module, "class_name": node.class_name, "config": {**node.config, "name": name},
            "registered_name": None,
        }  # fmt: skip
        self.entries[name] = Entry(entry, ())
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
            {
                "args": [stored_arguments(a, self.specs) for a in args],
                "kwargs": stored_arguments(kwargs, self.specs),
            }
        )
        tensors = [*tensors_in(list(args)), *tensors_in(dict(kwargs))]
        entry.reads.append(tuple(dict.fromkeys(tensors)))
        made = GraphTensor(name, len(entry.nodes) - 1, 0)
        known = LayerArguments(tuple(args), kwargs, self.specs, self.dtypes, self.rows)
        dtypes = [known.dtype(t) for t in tensors]
        rows = self._rows(entry.entry, args, tensors)
        if rows is not None:
            self.rows.numbers[made] = rows
        if is_operation(entry.entry):
            self.dtypes[made] = dtype_of(entry.entry, None, dtypes)
            shape = operation_shape(entry.entry, args, self.specs)
            self.specs[made] = None if shape is None else Spec(shape, self.dtypes[made])
            return made
        given = [self.specs.get(t) for t in tensors]  # one that is joined to itself counts twice
        spec = layer_spec(entry.entry, given)
        self.dtypes[made] = dtype_of(entry.entry, spec, dtypes)
        self.specs[made] = spec and spec._replace(dtype=self.dtypes[made])
        return made

    def _rows(
        self, entry: JsonObject, args: Sequence[NodeTree], tensors: Sequence[GraphTensor]
    ) -> int | None:
        """Return the number of the tensors with as many rows as a call's first result; None where it is not known."""
        numbers = {t: self.rows.of(t) for t in tensors}
        if is_operation(entry):
            return operation_rows(entry, args, self.specs, numbers)
        return layer_rows(entry, [(self.specs.get(t), numbers[t]) for t in tensors])

    def dtype(self, tensor: GraphTensor) -> str:
        """Return the dtype of a tensor; float32 if nothing says otherwise."""
        return LayerArguments((), {}, self.specs, self.dtypes).dtype(tensor)


def place_chain(
    builder: Builder, tensor: GraphTensor, pieces: Sequence[Piece], names: Sequence[str]
) -> GraphTensor:
    """Return the output of a chain that `tensor` goes into."""
    for piece, name in zip(pieces, names, strict=True):
        tensor = place_piece(builder, piece, (tensor,), name)
    return tensor


def place_piece(
    builder: Builder, piece: Piece, args: tuple[NodeTree, ...], name: str
) -> GraphTensor:
    """Add the only call of a converted layer with one output, under the layer's name; return the output."""
    given = LayerArguments(args, {}, builder.specs, builder.dtypes, builder.rows)
    if isinstance(piece, Choice):
        tensors = given.tensors
        piece = piece.resolved([given.spec(t) for t in tensors], [given.dtype(t) for t in tensors])
    if isinstance(piece, NewLayer):
        placed = builder.place(LayerCall(piece, args), name)
    else:
        assert isinstance(piece, Expansion), "resolved before"
        (tree,) = piece.outputs(given)
        placed = builder.place(tree, name, name)
    assert isinstance(placed, GraphTensor)
    return placed
