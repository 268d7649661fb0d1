"""A file's weights in the model that the caller's code builds, every one of its weights set, or none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from unnest.core.architecture import children
from unnest.core.architecture.nested_models import Leaf, LeafPath, leaves
from unnest.core.keras3.conversion_context import CannotConvert, Context, Conversion
from unnest.core.keras_facts.custom_functions_in_configs import HARD_SIGMOID
from unnest.core.keras_facts.optimizer_classes import optimizer_class
from unnest.core.keras_facts.stored_class_names import current_class_name
from unnest.core.layers.catalog import layer_record
from unnest.core.layers.record import Parts
from unnest.core.model import Group, JsonObject, Stored, Tensor
from unnest.core.weight_assignment.flat_list.divide_flat_list import weights_by_leaf
from unnest.core.weight_assignment.layer_weights_record import Ambiguous
from unnest.core.weight_transfer.convert_weights import weights_for_keras_3
from unnest.core.weight_transfer.match_layers_by_graph import Different, MatchedLayers, match_layers
from unnest.core.weight_transfer.match_weights_without_architecture import (
    check_names,
    listed_weights,
)
from unnest.core.weight_transfer.state_for_compiled_optimizer import (
    OTHER_VARIABLES,
    StateAlone,
    place_state,
)
from unnest.core.weight_transfer.target_model import TargetModel, WeightShape, groups_of
from unnest.errors import Refused
from unnest.findings import Code, Finding, listed

OTHER_MODEL = "other-model"


class PlacedWeights(NamedTuple):
    """Weights in the groups of the target's layers, and what is to be said of them."""

    groups: tuple[Group, ...]
    optimizer: tuple[Tensor, ...] | None = None
    findings: tuple[Finding, ...] = ()
    conversions: tuple[Conversion, ...] = ()


def place_model(
    model: Stored,
    target: TargetModel,
    state: StateAlone | None = None,
    context: Context | None = None,
) -> PlacedWeights:
    """Place the weights of a model of Keras 3 whose architecture is known.

    `state` is the optimizer's where the file has no compile settings, `context` the file's writer.

    Raises:
        Refused: the two models do not compute the same, or a layer's weights have other shapes.

    """
    assert model.architecture is not None
    try:
        weights = weights_by_leaf(model.architecture, model.groups)
        shapes = {
            path: tuple(t.shape for t in tensors) for path, tensors in weights.items() if tensors
        }
        found = match_layers(model.architecture, target.architecture, shapes, target.shapes)
    except (Ambiguous, Different) as e:
        advice = "build the model that was saved, or take the file's own: unnest.keras.load_model"
        raise Refused(OTHER_MODEL, f"{e}; {advice}") from e
    entries = {leaf.path: leaf.layer.stored for leaf in leaves(model.architecture)}
    own = {leaf.path: leaf.layer.stored for leaf in leaves(target.architecture)}
    by_target = {
        path: _owned(weights.get(found.stored[path], ()), entries[found.stored[path]], own[path])
        for path in target.shapes
    }
    _check_shapes(by_target, target)
    if state is not None:
        placed_state, findings = place_state(state, by_target, target, context or Context())
    else:
        placed_state, why = _state(model, target, found)
        findings = () if why is None else (Code.OPTIMIZER_DROPPED(why=why),)
    if found.not_compared:
        findings += (Code.NOT_COMPARED(layers=listed(found.not_compared)),)
    return PlacedWeights(groups_of(target.architecture, by_target), placed_state, findings)


def _owned(
    tensors: tuple[Tensor, ...], stored: JsonObject, target: JsonObject
) -> tuple[Tensor, ...]:
    """Return a leaf layer's weights with the names that the target has for the layers of a model which it holds."""
    held = [
        [leaf.path for _, model in children(entry) for leaf in leaves(model)]
        for entry in (stored, target)
    ]
    names = dict(zip(*held, strict=True))
    return tuple(t._replace(owner=names.get(t.owner, t.owner)) for t in tensors)


def place_lists(
    groups: Sequence[Group], target: TargetModel, version: str | None, backend: str | None
) -> PlacedWeights:
    """Place weights that Keras 1 or 2 listed under the names of layers, `version` and `backend` as the file has them.

    Raises:
        Refused: they fit the target's layers in no way, or in several.

    """
    is_keras_1 = version is None and not any("/" in t.name for g in groups for t in g.tensors)
    context = Context.of("1.2.2" if is_keras_1 else version, backend)
    try:
        placed = listed_weights(groups, target, is_keras_1=context.release[:1] == (1,))
    except Ambiguous as e:
        raise _refusal(f"{e}") from e
    findings = [Code.PLACED_BY_ORDER(layers=listed(placed.by_order))] if placed.by_order else []
    if context.release[:1] >= (3,):
        _check_shapes(placed.weights, target)
        return PlacedWeights(groups_of(target.architecture, placed.weights), None, tuple(findings))
    return _converted(placed.weights, target, context, findings)


def place_leaves(
    weights: Mapping[LeafPath, tuple[Tensor, ...]],
    target: TargetModel,
    names: Mapping[LeafPath, str | None],
    *,
    is_keras_3: bool = False,
    state: StateAlone | None = None,
) -> PlacedWeights:
    """Place weights by the leaf layers that the container gives; `names` are the names that the file has for these.

    `state` is the optimizer's.

    Raises:
        Refused: names contradict places, or a layer's weights have other shapes.

    """
    try:
        check_names(names, weights)
    except Ambiguous as e:
        raise _refusal(f"{e}") from e
    if not is_keras_3:
        return _converted(weights, target, Context(), [], state)
    _check_shapes(weights, target)
    return _with_state(weights, weights, target, Context(), state)


def _converted(
    weights: Mapping[LeafPath, tuple[Tensor, ...]],
    target: TargetModel,
    context: Context,
    findings: list[Finding],
    state: StateAlone | None = None,
) -> PlacedWeights:
    """Convert each leaf layer's weights, and the optimizer's state, to Keras 3. Raises Refused."""
    within = {leaf.path: leaf for leaf in leaves(target.architecture)}
    try:
        done = {
            path: weights_for_keras_3(within[path], weights.get(path, ()), context)
            for path in target.shapes
        }
    except CannotConvert as e:
        raise Refused("cannot-convert", f"{e}") from e
    _check_shapes(done, target)
    if unscaled := [leaf.name for leaf in within.values() if leaf.layer.class_name == "Activation"
                    and leaf.layer.settings.get("activation") == HARD_SIGMOID]:  # fmt: skip
        findings.append(Code.OTHER_HARD_SIGMOID(layers=listed(unscaled)))
    if changed := [*_with_other_default(within.values(), weights, context)]:
        findings.append(Code.OTHER_GATES(layers=listed(changed)))
    placed = _with_state(done, weights, target, context, state)
    return placed._replace(
        findings=(*findings, *placed.findings), conversions=context.conversions()
    )


def _with_state(
    weights: Mapping[LeafPath, tuple[Tensor, ...]],
    old_weights: Mapping[LeafPath, tuple[Tensor, ...]],
    target: TargetModel,
    context: Context,
    state: StateAlone | None,
) -> PlacedWeights:
    """Return the weights in the target's groups, with the optimizer's state if the file has one."""
    placed = PlacedWeights(groups_of(target.architecture, weights))
    if state is None:
        return placed
    order = tuple(tensor.ref for tensors in old_weights.values() for tensor in tensors)
    tensors, findings = place_state(state._replace(order=order), weights, target, context)
    return placed._replace(optimizer=tensors, findings=findings)


def _with_other_default(
    within: Iterable[Leaf], weights: Mapping[LeafPath, tuple[Tensor, ...]], context: Context
) -> Iterator[str]:
    """Yield layers with sigmoid gates, as is the default today; before TensorFlow 2 it was hard_sigmoid."""
    if context.release >= (2, 3) and (context.is_tf or context.release >= (2, 4)):
        return
    for leaf in within:
        settings = leaf.layer.settings
        held = settings.get("layer")
        inner = held.get("config") if isinstance(held, Mapping) else None
        for config in (settings, inner):
            if (
                isinstance(config, Mapping)
                and config.get("recurrent_activation") == "sigmoid"
                and weights.get(leaf.path)
            ):
                bias = weights[leaf.path][-1].shape
                units = config.get("units")
                is_cudnn = isinstance(units, int) and bias in ((8 * units,), (6 * units,))
                if not is_cudnn:
                    yield leaf.name


def _check_shapes(weights: Mapping[LeafPath, tuple[Tensor, ...]], target: TargetModel) -> None:
    """Raise Refused for the first layer whose weights are missing, or of other shapes."""
    kinds = {
        leaf.path: current_class_name(leaf.layer.class_name) for leaf in leaves(target.architecture)
    }
    for path, wanted in target.shapes.items():
        shapes = tuple(t.shape for t in weights.get(path, ()))
        if shapes == wanted or (
            layer_record(kinds[path]).parts is Parts.LAYERS and sorted(shapes) == sorted(wanted)
        ):
            continue
        name = "/".join(path)
        if not shapes:
            raise _refusal(f"the file has no weights for {name!r}")
        raise _refusal(
            f"the weights for {name!r} have the shapes {_shapes_text(shapes)}, your model has {_shapes_text(wanted)}"
        )


def _shapes_text(shapes: Sequence[WeightShape]) -> str:
    return ", ".join(map(str, shapes[:4])) + (" ..." if len(shapes) > 4 else "")  # noqa: PLR2004 - as many as fit


def _state(
    model: Stored, target: TargetModel, found: MatchedLayers
) -> tuple[tuple[Tensor, ...] | None, str | None]:
    """Return the optimizer's state for the target, or the reason for its absence; no reason if it is not wanted."""
    if target.optimizer is None or not model.optimizer:
        return None, None
    assert model.architecture is not None
    kind = optimizer_class(model.training)
    if kind is None or kind.rpartition(">")[2].lower() != target.optimizer.class_name.lower():
        return (
            None,
            f"the file's optimizer is {kind}, your model is compiled with {target.optimizer.class_name}",
        )
    trained = {
        leaf.path: leaf.layer.settings.get("trainable") is not False
        for leaf in leaves(model.architecture)
    }
    own = {
        leaf.path: leaf.layer.settings.get("trainable") is not False
        for leaf in leaves(target.architecture)
    }
    order = [path for path in trained if path in found.stored.values()]
    places = [order.index(found.stored[path]) for path in own if path in found.stored]
    if places != sorted(places) or any(
        trained[old] != own[new] for new, old in found.stored.items()
    ):
        return None, "your model trains other layers, or in another order"
    if tuple(t.shape for t in model.optimizer) != target.optimizer.shapes:
        return None, OTHER_VARIABLES
    return model.optimizer, None


def _refusal(why: str) -> Refused:
    return Refused(
        OTHER_MODEL,
        f"{why}; build the model that was saved, or pass the JSON of its model as architecture",
    )
