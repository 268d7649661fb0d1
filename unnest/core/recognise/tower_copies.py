"""Towers of a layer graph that are one computation: the operands of a join, walked back in step until they part.

Two towers are alike where the same layer is called on each of them in the same way, or where each has an operation of
its own, or a Keras layer without weights, that are equal but for their names. Layers with weights of their own are
different computations, however alike they look.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from unnest.budget import spend
from unnest.core.architecture import is_input, is_model, tensor_refs
from unnest.core.architecture.graph import CallId, Graph, Layer, Ref
from unnest.core.keras_facts.layer_classes import PLAIN, is_keras_class
from unnest.core.keras_facts.weight_specs import has_initializers
from unnest.core.model import Json
from unnest.core.recognise.operations import node_def, operation

#: What comparing one tensor of every tower costs.
STEPS_A_COLUMN = 10

Column: TypeAlias = "tuple[Ref, ...]"
"""One tensor of every tower, in the towers' order."""


class Unlike(Exception):
    """The operands are not one computation; the message says where they differ. `after`: tensors compared before."""

    def __init__(self, reason: str, after: int) -> None:
        super().__init__(reason)
        self.after = after


@dataclass
class Copies:
    """The towers behind some operands.

    `entries`: where they part, each with the tensor that its rows are of. `calls`: those of every tower between the
    entries and its operand. `shared`: tensors that all towers read.
    """

    entries: dict[Column, Ref] = field(default_factory=dict)
    calls: list[set[CallId]] = field(default_factory=list)
    shared: set[Ref] = field(default_factory=set)


def walk_back(graph: Graph, operands: Column, source: Callable[[Column], Ref | None]) -> Copies:
    """The towers that end in these operands. Raises Unlike.

    `source` tells what the towers' tensors are rows of, where they part; None where they do not.
    """
    copies = Copies(calls=[set() for _ in operands])
    met: dict[Ref, Column] = {}
    pending = [operands]
    while pending:
        spend(STEPS_A_COLUMN)
        column = pending.pop()
        first = column[0]
        if len(set(column)) == 1:
            copies.shared.add(first)
        elif first not in met:
            met[first] = column
            if (cut := source(column)) is not None:
                copies.entries[column] = cut
                continue
            if (reason := _differ(graph, column)) is not None:
                raise Unlike(reason, len(met) - 1)
            for calls, ref in zip(copies.calls, column, strict=True):
                calls.add(ref.call)
            pending += zip(*(graph.call(ref.call).reads for ref in column), strict=True)
        elif met[first] != column:
            raise Unlike(f"the towers use the outputs of {first.layer} in different ways", len(met))
    if len(set().union(*copies.calls)) < sum(map(len, copies.calls)):
        raise Unlike("a call is part of two towers", len(met))
    depends = _reaches_input(graph, copies.shared)
    if depends is not None:
        raise Unlike(f"every tower reads the whole of {depends.layer}", len(met))
    return copies


def _differ(graph: Graph, column: Column) -> str | None:
    """Why one step of the towers is not the same computation in all of them; None where it is."""
    names = [*dict.fromkeys(ref.layer for ref in column)]
    reads = [len(graph.call(ref.call).reads) for ref in column]
    reasons = (
        (0 in reads, f"the towers read different tensors: {', '.join(names[:4])}"),
        (len({ref.tensor for ref in column}) > 1, f"the towers end in different outputs of {names[0]}"),
        (len({*reads}) > 1, f"{names[0]} is called on different numbers of tensors"),
        (len({ref.call for ref in column}) < len(column), f"two towers share a call of {names[0]}"),
    )
    reason = next((sentence for holds, sentence in reasons if holds), None)
    return reason or _different_calls(graph, column, names)


def _different_calls(graph: Graph, column: Column, names: Sequence[str]) -> str | None:
    arguments = [_arguments(graph, ref.call) for ref in column]
    if any(other != arguments[0] for other in arguments):
        return f"the calls of {' and '.join(names[:2])} differ in more than their tensors"
    layers = [graph.layers[name] for name in names]
    if len(layers) > 1 and any(_may_have_weights(layer, graph) for layer in layers):
        return f"{names[0]} and {names[1]} are different layers"
    settings = [(layer.class_name, _settings(layer)) for layer in layers]
    is_different = any(other != settings[0] for other in settings)
    return f"{names[0]} and {names[1]} compute different things" if is_different else None


def _arguments(graph: Graph, at: CallId) -> Json:
    """What a call is given beside its tensors."""
    return tensor_refs.without_tensors(graph.call(at).stored, graph.layers)


def _may_have_weights(layer: Layer, graph: Graph) -> bool:
    """Whether two layers of this kind may hold different weights: all but operations and Keras's own without any."""
    if is_model(layer.stored) or has_initializers(layer.config):
        return True
    if operation(layer, graph.call(CallId(layer.name, 0))) is not None:
        return False
    is_known = layer.class_name in PLAIN - LOOKED_UP and is_keras_class(layer.class_name, layer.stored)
    return not is_known


#: Keras's own layers whose weights no config speaks of.
LOOKED_UP = frozenset({"Discretization", "Normalization"})
#: What differs in a config between two copies of one layer.
NAMES = frozenset({"name", "shared_object_id"})


def _settings(layer: Layer) -> Json:
    """A config without the names in it; a NodeDef's inputs are names too."""
    settings: dict[str, Json] = {key: value for key, value in layer.settings.items() if key not in NAMES}
    node = node_def(settings.get("node_def"))
    if node is not None:
        settings["node_def"] = {key: value for key, value in node.items() if key not in ("name", "input")}
    return settings


def _reaches_input(graph: Graph, tensors: Iterable[Ref]) -> Ref | None:
    """An input of the model that some tensors are computed from: rows, or their number, for all towers alike."""
    pending, met = [*tensors], {*tensors}
    while pending:
        spend()
        ref = pending.pop()
        if is_input(graph.layers[ref.layer].stored) or ref in graph.inputs:
            return ref
        pending += [read for read in graph.call(ref.call).reads if read not in met]
        met.update(graph.call(ref.call).reads)
    return None


def behind(graph: Graph, ends: Sequence[Ref], stops: Iterable[Ref]) -> set[CallId]:
    """The calls that some tensors are made by, no further than `stops`."""
    calls: set[CallId] = set()
    met = {*stops}
    pending = [ref for ref in ends if ref not in met]
    while pending:
        spend()
        ref = pending.pop()
        if ref in met:
            continue
        met.add(ref)
        calls.add(ref.call)
        pending += graph.call(ref.call).reads
    return calls
