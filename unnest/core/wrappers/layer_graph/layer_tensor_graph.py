"""A graph of layers as one of tensors and operations, for the search: calls parsed, shapes inferred, calls compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial
from types import MappingProxyType

import numpy as np

from unnest.budget import charge_steps
from unnest.core.architecture import is_input, read, tensor_refs
from unnest.core.architecture.graph import Call, Graph, Layer
from unnest.core.frontends.node_defs_as_op_calls import parse_node_def
from unnest.core.frontends.operation_layers_as_op_calls import (
    is_operation,
    parse_op_call,
    reshape_target,
    with_refs,
)
from unnest.core.interpreters.op_shapes import call_shape, result_shape
from unnest.core.interpreters.row_dependence_arithmetic import RowsMade
from unnest.core.interpreters.tensor_graph import NO_CALL, Column
from unnest.core.keras_facts.stored_class_names import (
    current_class_name,
    is_keras_layer,
    record_of,
)
from unnest.core.keras_facts.weight_counts_by_config import expected_weight_counts
from unnest.core.layers.catalog import layer_record, merging_record, output_shape
from unnest.core.layers.record import Rows
from unnest.core.model import CallId, Json, Ref, Shape, Unknown
from unnest.core.ops.call import OpCall
from unnest.core.ops.families.opaque_ops_and_claimed_rows import ClaimedRows
from unnest.core.ops.product_axes import MATRIX
from unnest.core.ops.registry import OPERATIONS, argument
from unnest.core.ops.shape_arithmetic import Sized
from unnest.core.wrappers.layer_graph import layer_batch_roles, stored_layer_shapes
from unnest.core.wrappers.search.searched_graph import SearchedGraph
from unnest.core.wrappers.stored_code import code_names_and_numbers
from unnest.core.wrappers.stored_code.layer_code_rows import (
    RANKS,
    code_answer,
    lines_up,
    stored_arguments,
)


class LayerTensors(SearchedGraph):
    """The tensors of one model's graph of layers, not of the models nested in it.

    `supposed` are shapes of tensors that the file does not tell. `claimed` are the rows that layers which are no
    operations take of the first tensor that they read.
    """

    reaches = (True, False)

    def __init__(
        self,
        graph: Graph,
        supposed: Mapping[Ref, Shape] = MappingProxyType({}),
        claimed: Mapping[Ref, ClaimedRows] = MappingProxyType({}),
    ) -> None:
        super().__init__()
        self.graph, self.supposed = graph, supposed
        self.outputs = graph.outputs
        self._claimed: dict[CallId, list[ClaimedRows]] = {}
        self._shapes: dict[Ref, Shape | None] = {}
        self._outputs: dict[tuple[str, int], Shape | None] = {}
        self._computed: dict[CallId, OpCall | None] = {}
        self._differences: dict[Column, str | None] = {}
        self._made: dict[tuple[str, tuple[Shape | None, ...]], RowsMade] = {}
        for ref, rows in sorted(claimed.items()):
            self._claimed.setdefault(ref.call, []).append(rows)

    def reads(self, at: CallId) -> Sequence[Ref]:
        """Return the tensors that a call reads, without unused ones."""
        reads = self.graph.call(at).reads
        return reads[:1] if at in self._claimed else reads

    def is_given(self, ref: Ref) -> bool:
        """Return True if a tensor is an input of the model."""
        return is_input(self.graph.layers[ref.layer].stored) or ref in self.graph.inputs

    def may_join(self, ref: Ref) -> bool:
        """Return True if a layer may put rows together."""
        return layer_batch_roles.may_join(self.graph.layers[ref.layer])

    def says_batch_axis(self, ref: Ref) -> bool:
        """Return True if a layer joins its inputs along the batch by its arguments, and no operation makes an input."""
        layer, reads = self.graph.layers[ref.layer], self.reads(ref.call)
        is_of_layers = not any(self.of(read.call).name for read in reads)
        return (
            is_of_layers
            and layer_batch_roles.joins_on_batch_axis(layer, self.graph.call(ref.call)) is True
        )

    def backwards(self) -> Iterator[Ref]:
        """Yield the first tensor of every call."""
        met: set[CallId] = set()
        pending = [*self.outputs]
        for ref in pending:
            if (at := ref.call) not in met:
                met.add(at)
                charge_steps()
                yield Ref(*at, 0)
                pending += self.reads(at)

    @cached_property
    def readers(self) -> Mapping[CallId, set[CallId]]:
        """Call -> the calls that read its outputs, needed or not."""
        return {at: {user for user, _ in users} for at, users in self.graph.readers.items()}

    def parsed(self, at: CallId) -> OpCall:
        """Return a call as an operation, Keras's own merge layers included."""
        layer, call = self.graph.layers[at.layer], self.graph.call(at)
        if at in self._claimed:
            return OpCall("claimed", [call.reads[0], self._claimed[at]], {})
        if layer.is_model or not call.reads:
            return NO_CALL
        op_call = parse_op_call(layer, call)
        try:
            return (
                _of_keras(layer, call)
                if op_call is None
                else with_refs(op_call, self.graph.layers, self._ref)
            )
        except Unknown:
            return NO_CALL

    def computed(self, at: CallId, known_shapes: dict[Ref, Shape | None] | None = None) -> OpCall:
        """Return a call as an operation; layers of Keras's own, models and stored code have names of their own."""
        if at not in self._computed:
            self._computed[at] = self._without_code(at)
        op_call = self._computed[at]
        if op_call is not None:
            return op_call
        made = self._code_result(at, known_shapes)
        return (
            OpCall(OF_CODE[made], [*self.graph.call(at).reads], {}) if made in OF_CODE else NO_CALL
        )

    def maps_rows(self, at: CallId) -> bool:
        """Return True if a call computes each row of one tensor by itself: such calls alone mix no rows."""
        return len(self.graph.call(at).reads) == 1 and self.computed(at).name in ROW_BY_ROW

    def _without_code(self, at: CallId) -> OpCall | None:
        """Return a call as an operation; None for stored code, the effect of which depends on shapes."""
        layer, call = self.graph.layers[at.layer], self.graph.call(at)
        reads = [*call.reads]
        if (is_mixed := layer_batch_roles.normalizes_by_batch(layer, call)) is not False:
            return OpCall("mixes", reads, {}) if is_mixed else NO_CALL
        if layer.is_model:
            return OpCall("rowwise", reads, {})
        op_call = self.parsed(at)
        if op_call.name or not reads or is_operation(layer, call):
            return op_call
        if (
            code_names_and_numbers.is_function(layer)
            and layer.settings.get("time_major") is not True
        ):
            return None
        return _of_rows(layer, reads)

    def _code_result(
        self, at: CallId, known_shapes: dict[Ref, Shape | None] | None = None
    ) -> RowsMade:
        """Return the effect of a layer's code on its inputs: followed once, for whatever output of the model."""
        layer, shapes = (
            self.graph.layers[at.layer],
            tuple(self.shape(ref, known_shapes) for ref in self.graph.call(at).reads),
        )
        made = self._made.get((layer.name, shapes))
        if made is None:
            made = self._made[layer.name, shapes] = rows_made(layer, shapes)
        return made

    def rank_of(self, ref: Ref, known_shapes: dict[Ref, Shape | None] | None = None) -> int | None:
        """Return the number of axes of a tensor; None if the file does not store it."""
        shape = self.shape(ref, known_shapes)
        return None if shape is None else len(shape)

    def _ref(self, raw: tensor_refs.RawRef) -> Ref:
        """Return a tensor by the number that the file gives its call."""
        return Ref(raw[0], raw[1] - self.graph.layers[raw[0]].first, raw[2])

    def differ(self, column: Column) -> str | None:
        """Return why calls of layers are not the same computation: other arguments, other weights, other settings.

        The searches for joins of operations and of layers ask it of the same columns.
        """
        if column not in self._differences:
            self._differences[column] = self._difference(column)
        return self._differences[column]

    def _difference(self, column: Column) -> str | None:
        """Return what `differ` does, worked out."""
        names = [*dict.fromkeys(ref.layer for ref in column)]
        calls = [self.graph.call(ref.call) for ref in column]
        arguments = [
            tensor_refs.without_tensors(call.arguments, self.graph.layers) for call in calls
        ]
        other = next((k for k, given in enumerate(arguments) if given != arguments[0]), None)
        if other is not None:
            both = dict.fromkeys((column[0].layer, column[other].layer))
            return f"the calls of {' and '.join(both)} differ in their arguments"
        layers = [self.graph.layers[name] for name in names]
        if len(layers) > 1 and any(_may_have_weights(layer, self.graph) for layer in layers):
            return f"{names[0]} and {names[1]} are different layers"
        settings = [(layer.class_name, _settings(layer)) for layer in layers]
        other = next((k for k, its in enumerate(settings) if its != settings[0]), None)
        if other is None:
            return None
        return f"{names[0]} and {names[other]} are different computations"

    def unread(self, column: Column) -> str:
        """Return why a column cannot be read; also if Keras left out an operation's tensors (`einsum`, up to 2.15)."""
        calls = [(self.graph.layers[ref.layer], self.graph.call(ref.call)) for ref in column]
        untold = [
            layer.name
            for layer, call in calls
            if not call.reads and parse_op_call(layer, call) is not None
        ]
        if len(untold) == len(column):
            return f"the file does not tell which tensors {', '.join(untold[:4])} are called on"
        return super().unread(column)

    def shape(self, ref: Ref, known_shapes: dict[Ref, Shape | None] | None = None) -> Shape | None:
        """Return the shape of a tensor; None if the file does not store it.

        Those of all tensors before it are kept, in `known_shapes` or here: a model is asked for each of its tensors.
        """
        shapes = self._shapes if known_shapes is None else known_shapes
        pending = [ref]
        while pending:
            charge_steps()
            here = pending[-1]
            if here in shapes:
                pending.pop()
                continue
            at = here.call
            reads = self.reads(at)
            if (shape := self._stored_shape(here)) is not None or not reads:
                shapes[here] = shape
            elif missing := [read for read in reads if read not in shapes]:
                pending += missing
            else:
                layer, after = self.graph.layers[here.layer], [shapes[read] for read in reads]
                is_of_keras = parse_op_call(layer, self.graph.call(at)) is None
                of_reads = dict(zip(reads, after, strict=True))
                shapes[here] = (
                    _after(layer, after) if is_of_keras else call_shape(self.parsed(at), of_reads)
                )
        shape = shapes[ref]
        return self.supposed.get(ref) if shape is None else shape

    def _stored_shape(self, ref: Ref) -> Shape | None:
        layer = self.graph.layers[ref.layer]
        if ref in self.graph.noted_shapes:
            return self.graph.noted_shapes[ref]
        if layer.is_model:
            return self._shape_of_output(layer, ref.tensor)
        if self.reads(ref.call):
            return None
        shape = stored_layer_shapes.stored_shape(layer)
        # What is no input layer is a Sequential's first layer.
        return shape if is_input(layer.stored) else _after(layer, [shape])

    def _shape_of_output(self, model: Layer, output: int) -> Shape | None:
        """Return the shape of a nested model's output, worked out once for all calls of the model."""
        if (model.name, output) not in self._outputs:
            inner = read(model.stored)
            is_one = output < len(inner.outputs)
            self._outputs[model.name, output] = (
                LayerTensors(inner).shape(inner.outputs[output]) if is_one else None
            )
        return self._outputs[model.name, output]

    def is_number(self, ref: Ref) -> bool:
        """True if a tensor is noted as a single number, or reduced over the batch; nested models are looked into."""
        graph = self
        while (layer := graph.graph.layers[ref.layer]).is_model:
            inner = read(layer.stored)
            if ref.tensor >= len(inner.outputs):
                return False
            graph, ref = LayerTensors(inner), inner.outputs[ref.tensor]
        if graph.shape(ref) == ():
            return True
        op_call = graph.of(ref.call)
        while (
            op_call.name == "reshape"
            and (shape := [*reshape_target(op_call)])
            and all(size == 1 for size in shape)
        ):
            ref = graph.reads(ref.call)[0]
            op_call = graph.of(ref.call)
        if not op_call.name and code_names_and_numbers.is_function(graph.graph.layers[ref.layer]):
            return graph._code_result(ref.call) is RowsMade.ONE
        if op_call.name not in AVERAGED:
            return False
        axes = argument(op_call, "axis")
        return not argument(op_call, "keepdims") and (
            axes is None or axes == 0 or (isinstance(axes, list) and 0 in axes)
        )


def _of_keras(layer: Layer, call: Call) -> OpCall:
    """Return a call of a merging Keras layer (Concatenate, Add ...) as the operation that it computes."""
    reads = [*call.reads]
    # A function of one tensor joins it with itself.
    is_code_for_one = len(reads) == 1 and code_names_and_numbers.is_function(layer)
    if (
        not is_code_for_one
        and layer_batch_roles.joins_on_batch_axis(layer, call)
        and lines_up(layer, len(reads))
    ):
        return OpCall("concat", [reads, 0], {})
    if (
        len(reads) == 1
        and "function" not in layer.settings
        and layer_batch_roles.passes_on(layer, call)
    ):
        return OpCall("identity", reads, {})
    if len(reads) == 1 or not is_keras_layer(layer):
        return NO_CALL
    record = merging_record(layer.class_name, layer.settings)
    if record.concatenates:
        return OpCall(
            "concat", [reads, layer.settings.get("axis", layer.settings.get("concat_axis", -1))], {}
        )
    return OpCall(record.merges, [reads], {})


def _of_rows(layer: Layer, reads: list[Ref]) -> OpCall:
    """Return the effect of one of Keras's own layers on rows: most keep them apart."""
    if layer.settings.get("time_major") is True:
        return OpCall("timemajor", reads, {})
    if not is_keras_layer(layer) or layer_batch_roles.runs_others_code(layer):
        return NO_CALL
    rows = record_of(layer.class_name, layer.config).rows
    if rows is Rows.ALONG_AXIS:
        return OpCall("alongaxis", reads, {"axis": layer.settings.get("axis", -1)})
    return OpCall("oversteps" if rows is Rows.OVER_STEPS else "rowwise", reads, {})


def _may_have_weights(layer: Layer, graph: Graph) -> bool:
    """True if two layers of this kind may hold different weights: all but operations and Keras's own without any."""
    # Counted for Keras 1's configs too, some of which hold no initializers.
    promises = expected_weight_counts(layer.class_name, layer.config)
    if not layer_batch_roles.is_weightless(layer) or (promises is not None and promises.total):
        return True
    if is_operation(layer, graph.call(CallId(layer.name, 0))):
        return False
    record = layer_record(layer.class_name)
    if not is_keras_layer(layer):
        return True
    if record.weight_count is not None:
        return record.weight_count(layer.settings) > 0
    # Keras 1's may hold branches.
    holds_no_models = layer.class_name == "Merge" and not layer.settings.get("layers")
    return not (record.is_plain or holds_no_models) or bool(record.adapted_argument)


#: What differs in a config between two copies of one layer.
NAMES = frozenset({"name", "shared_object_id"})


def _settings(layer: Layer) -> Json:
    """Return a config without names, among them the input names of a NodeDef."""
    settings: dict[str, Json] = {
        key: value for key, value in layer.settings.items() if key not in NAMES
    }
    node = parse_node_def(settings.get("node_def"))
    if node is not None:
        settings["node_def"] = {
            key: value for key, value in node.items() if key not in ("name", "input")
        }
    return settings


AVERAGED = frozenset(
    name for name, each in OPERATIONS.items() if each.number_function in (np.mean, np.sum)
)
"""Operations that make one number, a loss say, of all numbers of a tensor."""

ROW_BY_ROW = frozenset({"rowwise", "oversteps"})
"""The names of what computes an entry along the first axis by itself: over steps, too, where that is a row."""

OF_CODE = {
    RowsMade.KEPT: "rowwise",
    RowsMade.MIXED: "mixes",
    RowsMade.ONE: "mixes",
    RowsMade.OTHERS: "takes",
}
"""The names that stand for stored code which leaves the rows where they are, works along them, or takes some."""


def _after(layer: Layer, shapes: Sequence[Shape | None]) -> Shape | None:
    """Return the output shapes of one of Keras's own layers for tensors of these shapes."""
    shape = shapes[0]
    if shape is None or not is_keras_layer(layer):
        return None
    tensors = [Sized(each) for each in shapes]
    if len(shapes) > 1 and layer_record(layer.class_name).concatenates:
        return result_shape(OpCall("concat", [tensors, layer.settings.get("axis", -1)], {}))
    if len(shapes) > 1 and layer_record(layer.class_name).is_elementwise:
        return result_shape(OpCall("addn", [tensors], {}))
    if len(shapes) > 1:  # of two matrices, one number for each row
        is_dot = layer.class_name == "Dot" and all(
            each is not None and len(each) == MATRIX for each in shapes
        )
        return (shape[0], 1) if is_dot else None
    try:
        return output_shape(current_class_name(layer.class_name), layer.settings, shape)
    except (Unknown, ArithmeticError, LookupError, TypeError):
        return None


def rows_made(layer: Layer, shapes: Sequence[Shape | None]) -> RowsMade:
    """Return the output of a layer's code for tensors of these shapes; any number of axes if unknown."""
    if not code_names_and_numbers.is_function(layer):
        return RowsMade.UNKNOWN
    return code_answer(layer, (rows_made, tuple(shapes)), partial(_rows_made, shapes))


def _rows_made(shapes: Sequence[Shape | None], layer: Layer) -> RowsMade:
    from unnest.core.wrappers.stored_code import (
        code_row_dependence,  # with the tables of nine Pythons
    )

    return code_row_dependence.rows_made(
        layer.settings.get("function"), stored_arguments(layer), shapes, RANKS
    )
