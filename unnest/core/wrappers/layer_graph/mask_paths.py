"""Paths of masks through a layer graph and its nested models: back to what makes one, on to what heeds it.

A mask of a nested model's input comes from the models around it (`EnclosingModel`). What a custom class does with masks
is not stored; `MaskRules` say what is taken for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from unnest.budget import memoize
from unnest.core.architecture import is_input, is_model, read
from unnest.core.architecture.graph import Call, Graph, Layer
from unnest.core.frontends.operation_layers_as_op_calls import is_operation
from unnest.core.json_tree import OBJECT
from unnest.core.keras_facts.stored_class_names import (
    current_class_name,
    is_keras_layer,
)
from unnest.core.layers.catalog import layer_record, makes_own_mask
from unnest.core.layers.read_config_values import gives_sequences, settings
from unnest.core.layers.record import MaskUse
from unnest.core.model import CallId, JsonObject, Ref
from unnest.core.wrappers.layer_graph.layer_batch_roles import reads_mask
from unnest.core.wrappers.layer_graph.wrapper_records import EnclosingModel
from unnest.core.wrappers.stored_code import code_names_and_numbers

NO_DETOURS: Mapping[Ref, Ref] = MappingProxyType({})


class MaskRules(NamedTuple):
    """What becomes of a mask where the file does not say it.

    `in_tensorflow`: it ends at a custom class, unless its code says otherwise, and at a layer of Keras that takes none.
    In Keras of its own the class hands it on, and the layer raises an error. `custom_code_makes_masks`: custom classes
    and functions named `mask` are taken to make one. (Source: compute_mask of Layer in Keras 2.3.1, TensorFlow 2.3 and
    Keras 3.15.)
    """

    in_tensorflow: bool
    custom_code_makes_masks: bool = False


class _Origins(NamedTuple):
    """The layers that make a tensor's mask, and the positions of the model's inputs that have it."""

    makers: tuple[str, ...] = ()
    inputs: frozenset[int] = frozenset()


class MaskEffects(NamedTuple):
    """The first layer that may compute otherwise with a mask, and the positions of the model's outputs that get it."""

    reader: str | None = None
    outputs: frozenset[int] = frozenset()


def mask_maker(
    graph: Graph, tensor: Ref, outer: EnclosingModel | None, rules: MaskRules
) -> str | None:
    """Return the layer that makes the mask of a tensor, in the graph or around it; None for a tensor without one."""
    origins = _origins(graph, tensor, rules)
    if origins.makers:
        return origins.makers[0]
    around = (
        (_mask_of_input(outer, position, rules) for position in sorted(origins.inputs))
        if outer
        else ()
    )
    return next((maker for maker in around if maker is not None), None)


def mask_effects(
    graph: Graph,
    tensors: Iterable[Ref],
    outer: EnclosingModel | None,
    rules: MaskRules,
    detours: Mapping[Ref, Ref] = NO_DETOURS,
) -> MaskEffects:
    """Return what a mask on these tensors changes, in the graph and around it.

    `detours`: tensor -> the one behind it that takes its mask over, past the layers between them.
    """
    masked = [detours.get(ref, ref) for ref in tensors]
    effects = _effects(graph, _readers(graph, masked), rules, masked, detours)
    if outer is None or outer.graph is None or effects.reader is not None:
        return effects
    layer = outer.graph.layers[outer.layer]
    behind = [
        Ref(layer.name, index, position if layer.is_model else 0)
        for position in sorted(effects.outputs)
        for index in range(len(layer.calls))
    ]
    return mask_effects(outer.graph, behind, outer.outer, rules)


def is_custom_class(layer: Layer) -> bool:
    """Return True for a class outside Keras, and outside `unnest.keras`, the slices of which cut masks, too."""
    name = layer.stored.get("registered_name") or layer.class_name
    return not (
        layer.is_model
        or code_names_and_numbers.is_function(layer)
        or str(name).startswith("unnest>")
        or is_keras_layer(layer)
    )


def _mask_of_input(place: EnclosingModel, position: int, rules: MaskRules) -> str | None:
    """Return the layer that makes the mask of a nested model's input, in any of its calls; None without one."""
    if place.graph is None:
        return None
    layer = place.graph.layers[place.layer]
    for call in layer.calls:
        for ref in call.inputs[position : position + 1] if layer.is_model else call.reads:
            if (maker := mask_maker(place.graph, ref, place.outer, rules)) is not None:
                return maker
    return None


def _origins(graph: Graph, tensor: Ref, rules: MaskRules) -> _Origins:
    makers: dict[str, None] = {}
    inputs: set[int] = set()
    pending, met = [tensor], {tensor}
    while pending:
        here = pending.pop()
        layer, call = graph.layers[here.layer], graph.call(here.call)
        reads: Iterable[Ref] = ()
        if is_input(layer.stored):
            inputs |= {at for at, ref in enumerate(graph.inputs) if ref.call == here.call}
        elif layer.is_model:
            within = memoize(_origins_of_output, read(layer.stored), here.tensor, rules)
            if within.makers:
                makers[layer.name] = None
            reads = [ref for at, ref in enumerate(call.inputs) if at in within.inputs]
        elif _makes_mask(layer, rules):
            makers[layer.name] = None
        elif _hands_on(layer, call, rules):
            if reads_mask(call):
                makers[layer.name] = None
            reads = [ref for at, ref in enumerate(call.reads) if _hears(layer, at)]
            if graph.sequential and not call.reads:
                inputs.add(0)
        new = [ref for ref in reads if ref not in met]
        met.update(new)
        pending += new
    return _Origins(tuple(makers), frozenset(inputs))


def _origins_of_output(model: Graph, position: int, rules: MaskRules) -> _Origins:
    outputs = model.outputs[position : position + 1]
    return _origins(model, outputs[0], rules) if outputs else _Origins()


def _effects(
    graph: Graph,
    given: Iterable[tuple[CallId, int]],
    rules: MaskRules,
    tensors: Iterable[Ref] = (),
    detours: Mapping[Ref, Ref] = NO_DETOURS,
) -> MaskEffects:
    """Return the effects of masks on tensors; `given`: each call that one comes into, and at which position."""
    pending, masked = [*given], {*tensors}
    while pending:
        at, position = pending.pop()
        layer, call = graph.layers[at.layer], graph.call(at)
        if layer.is_model:
            within = memoize(_effects_of_input, read(layer.stored), position, rules)
        elif _is_operation(layer, call):
            within = MaskEffects()
        else:
            hands_on = _hands_on(layer, call, rules) and _hears(layer, position)
            reader = layer.name if _heeds(layer, rules) else None
            within = MaskEffects(reader, frozenset({0} if hands_on else ()))
        if within.reader is not None:
            return MaskEffects(layer.name)
        behind = (Ref(*at, output) for output in within.outputs)
        new = {detours.get(ref, ref) for ref in behind} - masked
        masked |= new
        pending += _readers(graph, new)
    return MaskEffects(None, frozenset(i for i, ref in enumerate(graph.outputs) if ref in masked))


def _readers(graph: Graph, tensors: Iterable[Ref]) -> Iterator[tuple[CallId, int]]:
    """Yield each call that reads one of these tensors, and at which position."""
    for tensor in tensors:
        for at, _ in graph.readers.get(tensor.call, ()):
            for position, ref in enumerate(graph.call(at).inputs):
                if ref == tensor:
                    yield at, position


def _effects_of_input(model: Graph, position: int, rules: MaskRules) -> MaskEffects:
    inputs = model.inputs[position : position + 1]
    if inputs or not model.sequential:
        return _effects(model, _readers(model, inputs), rules, inputs)
    return _effects(model, [(CallId(name, 0), 0) for name in [*model.layers][:1]], rules)


def _mask_use(layer: Layer) -> MaskUse:
    """Return what a layer does with a mask; UNKNOWN for a custom class, whatever its name."""
    if not is_keras_layer(layer):
        return MaskUse.UNKNOWN
    record = layer_record(current_class_name(layer.class_name))
    return MaskUse.PASSES if record.passes_mask_in_keras_3 else record.mask


def _makes_mask(layer: Layer, rules: MaskRules) -> bool:
    """Return True if a layer makes a mask of its own, or may do so and is taken to."""
    if rules.custom_code_makes_masks and (
        is_custom_class(layer) or layer.settings.get("mask") is not None
    ):
        return True
    return _is_maker(layer.stored, rules)


def _is_maker(entry: JsonObject, rules: MaskRules) -> bool:
    """Return True if a layer of Keras, or what a TimeDistributed applies at each step, makes a mask of its own."""
    held = settings(entry).get("layer")
    if entry.get("class_name") == "TimeDistributed" and isinstance(held, OBJECT):
        is_made_within = is_model(held) and memoize(_origins_of_output, read(held), 0, rules).makers
        return bool(is_made_within) or _is_maker(held, rules)
    return makes_own_mask(entry)


def _is_operation(layer: Layer, call: Call) -> bool:
    """Return True for an operation, which gives no mask on; a Sequential stores no calls, and holds layers alone."""
    return bool(call.stored) and is_operation(layer, call)


def _hands_on(layer: Layer, call: Call, rules: MaskRules) -> bool:
    use = _mask_use(layer)
    if _is_operation(layer, call):
        return False
    if use is MaskUse.HEEDS:
        return gives_sequences(layer.settings)
    if is_custom_class(layer):
        return not rules.in_tensorflow
    return use in {MaskUse.PASSES, MaskUse.HEEDS_AND_PASSES, MaskUse.MERGES}


def _hears(layer: Layer, position: int) -> bool:
    """Return True if a layer hands on the mask of its input at that position: states are read without theirs."""
    return position == 0 or _mask_use(layer) is MaskUse.MERGES


def _heeds(layer: Layer, rules: MaskRules) -> bool:
    """Return True if a layer may compute otherwise with a mask, or raises an error there, as standalone Keras does."""
    held = layer.settings.get("layer")
    if layer.class_name == "TimeDistributed" and isinstance(held, OBJECT):
        return _is_heedful_entry(held)
    if code_names_and_numbers.is_function(layer):
        code = code_names_and_numbers.stored_code(layer)
        return code is None or code.accepts is None or "mask" in code.accepts
    use = _mask_use(layer)
    if use is MaskUse.STOPS:
        return not rules.in_tensorflow
    return use not in {MaskUse.PASSES, MaskUse.MERGES, MaskUse.MAKES}


def _is_heedful_entry(entry: JsonObject) -> bool:
    """Return True if the layer that a TimeDistributed holds may heed the mask of each step."""
    use = layer_record(str(entry.get("class_name"))).mask
    return use not in {MaskUse.PASSES, MaskUse.STOPS}
