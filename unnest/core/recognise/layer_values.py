"""Tensors of a layer graph, carried out on numbered rows.

Whatever is no operation (an input, the output of a real layer) becomes an array that holds a number for each of its
elements; operations move these about. Sizes stand in for sizes: an axis is as long as it needs to be for every number
that an operation mentions to make a difference.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from math import prod
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from unnest.budget import spend
from unnest.core.architecture import is_input, is_model, read, tensor_refs
from unnest.core.architecture.graph import Call, CallId, Graph, Layer, Ref
from unnest.core.keras_facts.layer_classes import is_keras_class, today
from unnest.core.keras_facts.shape_rules import Unknown, rule_of
from unnest.core.model import Json
from unnest.core.recognise import layer_facts
from unnest.core.recognise.kernels import ELEMENT, Unreadable, carry_out, contents, is_known
from unnest.core.recognise.op_calls import Said, said
from unnest.core.recognise.operations import operation

Array: TypeAlias = "np.ndarray[Any, Any]"
Shape: TypeAlias = "tuple[int | None, ...]"

NOTHING = Said("", (), {})
"""What a layer says that is no operation."""

MAX_CALLS = 2000
"""Operations that one tensor may take; real ones take a few per tower."""

MAX_WORK = 30_000_000
"""Elements that all tensors of one trial may have: some tenths of a second."""

STEPS_A_CALL = 20
"""What parsing one call costs."""


class Operations:
    """What the calls of a layer graph say, each parsed once."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._said: dict[CallId, Said] = {}
        self._moved: dict[CallId, list[Ref]] = {}

    def of(self, at: CallId) -> Said:
        """The operation behind a call, `NOTHING` where there is none that is known."""
        if at not in self._said:
            spend(STEPS_A_CALL)
            what = self._parsed(at)
            self._said[at] = what if is_known(what) else NOTHING
        return self._said[at]

    def _parsed(self, at: CallId) -> Said:
        layer, call = self.graph.layers[at.layer], self.graph.call(at)
        if is_model(layer.stored) or not call.reads:
            return NOTHING
        return said(layer, call) or self._of_keras(layer, [self._stored(ref) for ref in call.reads], call)

    @staticmethod
    def _of_keras(layer: Layer, reads: list[Json], call: Call) -> Said:
        """One of Keras's own layers that puts tensors together, as the operation that it is."""
        if layer_facts.joins_on_batch_axis(layer, call):
            return Said("concat", [reads, 0], {})
        if len(reads) == 1 and "function" not in layer.settings and layer_facts.passes_on(layer, call):
            return Said("identity", reads, {})
        if len(reads) == 1 or not is_keras_class(layer.class_name, layer.stored):
            return NOTHING
        if layer.class_name == "Concatenate":
            return Said("concat", [reads, layer.settings.get("axis", -1)], {})
        return Said({"Add": "addn", "Average": "average"}.get(layer.class_name, ""), [reads], {})

    def _stored(self, ref: Ref) -> Json:
        return [ref.layer, ref.rank + self.graph.layers[ref.layer].first, ref.tensor]

    def moved(self, at: CallId) -> list[Ref]:
        """The tensors whose contents an operation moves about; none where it is no operation."""
        if at not in self._moved:
            found = tensor_refs.reads(contents(self.of(at)), self.graph.layers)
            self._moved[at] = [self.ref(raw) for raw in found]
        return self._moved[at]

    def ref(self, raw: tensor_refs.RawRef) -> Ref:
        """A tensor by the number that the file gives its call."""
        return Ref(raw[0], raw[1] - self.graph.layers[raw[0]].first, raw[2])

    def literals(self, calls: Sequence[CallId]) -> Iterator[int]:
        """The whole numbers among the arguments of some calls, without those that belong to tensors."""
        pending: list[Json] = [part for at in calls for part in (self.of(at).args, self.of(at).kwargs)]
        while pending:
            value = pending.pop()
            if isinstance(value, int) and not isinstance(value, bool):
                yield abs(value)
            elif isinstance(value, Mapping) and value.get("class_name") != tensor_refs.KERAS_3_TENSOR:
                pending += value.values()
            elif isinstance(value, Sequence) and not isinstance(value, str) and not _is_tensor(value):
                pending += value

    @cached_property
    def _noted(self) -> dict[Ref, Shape]:
        """The shapes that Keras 3 notes beside every tensor that a call reads."""
        return {
            self.ref(raw): shape for _, call in self.graph.calls() for raw, shape in _notes(call.stored, self.graph)
        }

    def shape(self, ref: Ref, known: Mapping[Ref, Shape | None] = MappingProxyType({})) -> Shape | None:
        """The shape of a tensor, as far as the file tells, None where it does not; some may be known."""
        shapes = dict(known)
        pending = [ref]
        while pending and len(shapes) < MAX_CALLS:
            here = pending[-1]
            reads = self.graph.call(here.call).reads
            if here in shapes:
                pending.pop()
            elif (shape := self._told_shape(here)) is not None or not reads:
                shapes[here] = shape
            elif missing := [read for read in reads if read not in shapes]:
                pending += missing
            else:
                known_operation = operation(self.graph.layers[here.layer], self.graph.call(here.call))
                keeps = known_operation is not None and known_operation.name in KEEPING_SHAPE
                after = [shapes[read] for read in reads]
                shapes[here] = after[0] if keeps else _after(self.graph.layers[here.layer], after)
        return shapes.get(ref)

    def noted(self, ref: Ref) -> Shape | None:
        """The shape that Keras 3 notes beside a tensor."""
        return self._noted.get(ref)

    def _told_shape(self, ref: Ref) -> Shape | None:
        layer = self.graph.layers[ref.layer]
        if ref in self._noted:
            return self._noted[ref]
        if is_model(layer.stored):
            inner = read(layer.stored)
            return Operations(inner).shape(inner.outputs[ref.tensor]) if ref.tensor < len(inner.outputs) else None
        if self.graph.call(ref.call).reads:
            return None
        shape = layer_facts.stored_shape(layer)
        return shape if is_input(layer.stored) else _after(layer, [shape])  # a Sequential's first layer


KEEPING_SHAPE = frozenset({
    "relu", "relu6", "leaky_relu", "elu", "selu", "gelu", "silu", "swish", "sigmoid", "tanh", "softmax", "log_softmax",
    "softplus", "softsign", "square", "sqrt", "exp", "log", "abs", "identity", "cast", "stop_gradient", "l2_normalize",
})  # fmt: skip
"""Operations whose result has the shape of the first tensor that they read."""

ELEMENTWISE_LAYERS = frozenset({"Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum"})


def _after(layer: Layer, shapes: Sequence[Shape | None]) -> Shape | None:
    """What one of Keras's own layers makes of tensors of these shapes."""
    shape = shapes[0]
    if shape is None or not is_keras_class(layer.class_name, layer.stored):
        return None
    if len(shapes) > 1:
        return shape if layer.class_name in ELEMENTWISE_LAYERS and len({*shapes}) == 1 else None
    try:
        return rule_of(today(layer.class_name))(layer.settings, shape)
    except (Unknown, ArithmeticError, LookupError, TypeError):
        return None


def _is_tensor(value: Sequence[Json]) -> bool:
    """Whether this is `["layer", node, tensor]`, whose numbers count nothing."""
    return bool(value) and isinstance(value[0], str)


def _notes(value: Json, graph: Graph) -> Iterator[tuple[tensor_refs.RawRef, Shape]]:
    pending = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, Mapping):
            config = part.get("config")
            if part.get("class_name") == tensor_refs.KERAS_3_TENSOR and isinstance(config, Mapping):
                shape = config.get("shape")
                if isinstance(shape, Sequence) and not isinstance(shape, str):
                    for raw in tensor_refs.reads(part, graph.layers):
                        yield raw, tuple(d if isinstance(d, int) else None for d in shape)
            else:
                pending += part.values()
        elif isinstance(part, Sequence) and not isinstance(part, str):
            pending += part


class Values:
    """The tensors of a layer graph for a batch of `rows`, no axis longer than `longest` but where it must be."""

    def __init__(self, operations: Operations, rows: int, longest: int, given: Mapping[Ref, Array]) -> None:
        self.operations, self.rows, self.longest = operations, rows, longest
        self._tensors: dict[Ref, Array] = dict(given)
        self._numbered = sum(a.size for a in given.values())
        self._work = 0

    def of(self, ref: Ref) -> Array:
        """The array at a tensor. Raises Unreadable, ByContents, and what NumPy does where shapes do not fit."""
        pending = [ref]
        while pending:
            here = pending[-1]
            if here in self._tensors:
                pending.pop()
                continue
            what = self.operations.of(here.call)
            if not what.name:
                self._tensors[here] = self._source(here)
                continue
            missing = [r for r in self.operations.graph.call(here.call).reads if r not in self._tensors]
            if missing:
                pending += missing
                if len(pending) > MAX_CALLS:
                    raise Unreadable
                continue
            self._carry_out(here.call, what)
            if here not in self._tensors:
                raise Unreadable
        return self._tensors[ref]

    def _carry_out(self, at: CallId, what: Said) -> None:
        with np.errstate(all="ignore"):
            results = carry_out(what, self.operations.graph.layers, lambda raw: self._tensors[self.operations.ref(raw)])
        self._work += sum(array.size for array in results)
        if self._work > MAX_WORK:
            raise Unreadable
        spend(STEPS_A_CALL + self._work // 1000)
        for tensor, array in enumerate(results):
            self._tensors[Ref(at.layer, at.rank, tensor)] = array

    def _source(self, ref: Ref) -> Array:
        """A tensor that is no operation's: its elements by number, unlike those of all others."""
        array = numbered(self._sizes(self.operations.shape(ref)), self._numbered)
        self._numbered += array.size
        return array

    def _sizes(self, shape: Shape | None) -> tuple[int, ...]:
        """The shape of a stand-in. Raises Unreadable for what has no rows, or too much in them."""
        if not shape:
            raise Unreadable
        sizes = (self.rows if shape[0] is None else shape[0], *row_sizes(shape[1:], self.longest))
        if prod(sizes) > MAX_WORK // 4:
            raise Unreadable
        return sizes


def row_sizes(row: Shape, longest: int) -> tuple[int, ...]:
    """The shape of one row. An axis that is longer than any number that is mentioned may as well be shorter."""
    unlike = range(max(longest, 2) + 1, max(longest, 2) + 1 + len(row))
    return tuple(u if d is None else min(d, u) for d, u in zip(row, unlike, strict=True))


def numbered(shape: tuple[int, ...], first: int = 0) -> Array:
    """An array whose elements are numbered from `first` on, row-major."""
    return np.arange(first, first + prod(shape), dtype=np.int32).view(ELEMENT).reshape(shape)


def rows_of(part: Array, source: Array) -> list[int] | None:
    """Which rows of the source a tensor is made of; None where it is not made of whole rows."""
    if part.dtype != ELEMENT or source.dtype != ELEMENT or not source.ndim or not source.size:
        return None
    if part.ndim != source.ndim or part.shape[1:] != source.shape[1:]:
        return None
    row_of = {int(first): row for row, first in enumerate(source.reshape(len(source), -1)[:, 0]["element"])}
    firsts = part.reshape(len(part), -1)[:, 0]["element"] if len(part) else ()
    rows = [row_of.get(int(first), -1) for first in firsts]
    return rows if -1 not in rows and np.array_equal(part, source[rows] if rows else source[:0]) else None
