"""Weights for a tf_keras model: placed in that model as Keras 3 holds it, then led back to its own variables.

The rules of --keras 3 make each weight of Keras 3 from stored ones, of the file and of the target alike. Where both
went through the same rules these cancel out, and the target's variable is the file's own array, bit for bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from unnest.core.architecture.nested_models import LeafPath, leaves
from unnest.core.keras3 import derived_weights
from unnest.core.keras3.conversion_context import CannotConvert, Context
from unnest.core.keras3.convert_config_values import class_and_config
from unnest.core.keras3.convert_stored_model import convert
from unnest.core.model import JsonObject, Stored, Tensor
from unnest.core.weight_assignment.flat_list.divide_flat_list import weights_by_leaf
from unnest.core.weight_assignment.layer_weights_record import Ambiguous
from unnest.core.weight_transfer.convert_weights import weights_for_keras_3
from unnest.core.weight_transfer.load_into_model import OTHER_MODEL, PlacedWeights
from unnest.core.weight_transfer.state_for_compiled_optimizer import OTHER_VARIABLES
from unnest.core.weight_transfer.target_model import (
    TargetModel,
    TargetOptimizer,
    WeightsByLeaf,
    groups_of,
)
from unnest.errors import Refused
from unnest.findings import Code

#: Findings on what Keras 3 computes otherwise than the Keras that wrote the file.
KERAS_3_FINDINGS = frozenset(
    {"other-hard-sigmoid", "other-rate", "other-schedule", "other-epsilon"}
)


class Keras3Form(NamedTuple):
    """A tf_keras model as one that takes weights of Keras 3: `target`.

    `weights` are those of each of its leaf layers, and `optimizer` the state of its optimizer, computed from `own`, the
    variables of the tf_keras model by its leaf layers.
    """

    target: TargetModel
    weights: WeightsByLeaf
    optimizer: tuple[Tensor, ...]
    own: WeightsByLeaf


def keras_3_form_of_graph(target: TargetModel) -> Keras3Form:
    """Return a tf_keras model as Keras 3 has it, to be compared with a file's model.

    Raises:
        Refused: Keras 3 has no such model, so that no rule says what its weights are.

    """
    own, model, trained = _converted(target)
    assert model.architecture is not None
    weights = _by_leaf(model.architecture, model)
    shapes = {path: tuple(t.shape for t in each) for path, each in weights.items() if each}
    optimizer = target.optimizer and _optimizer(target.optimizer, model, weights, trained)
    return Keras3Form(
        TargetModel(model.architecture, shapes, optimizer), weights, model.optimizer or (), own
    )


def keras_3_form_of_layers(target: TargetModel) -> Keras3Form:
    """Return a tf_keras model with each layer's weights as Keras 3 has them, for weights without a model.

    Raises:
        Refused: no rule says what the weights of a layer are in Keras 3.

    """
    own, context = _own_variables(target), Context.of(target.keras_version, "tensorflow")
    within = {leaf.path: leaf for leaf in leaves(target.architecture)}
    try:
        weights = {
            path: weights_for_keras_3(within[path], each, context) for path, each in own.items()
        }
    except CannotConvert as e:
        raise Refused("cannot-convert", f"your model: {e}") from e
    shapes = {path: tuple(t.shape for t in each) for path, each in weights.items()}
    optimizer = target.optimizer
    state: tuple[Tensor, ...] = ()
    if optimizer is not None:
        try:
            _, model, trained = _converted(target)
            optimizer, state = _optimizer(optimizer, model, weights, trained), model.optimizer or ()
        except Refused:
            optimizer = TargetOptimizer(optimizer.class_name, ())
    return Keras3Form(TargetModel(target.architecture, shapes, optimizer), weights, state, own)


def as_tf_keras_weights(
    placed: PlacedWeights, form: Keras3Form, target: TargetModel
) -> PlacedWeights:
    """Return weights that were placed in a form of a tf_keras model as those of its own variables.

    Raises:
        Refused: a variable of the model does not follow from the file's weights; the message names its layer.

    """
    weights = _own_weights(
        form, _by_leaf(form.target.architecture, Stored("weights", groups=placed.groups))
    )
    findings = tuple(f for f in placed.findings if f.code not in KERAS_3_FINDINGS)
    state = None
    if placed.optimizer is not None:
        state = _own_state(placed.optimizer, form.optimizer, target.optimizer)
        findings += () if state else (Code.OPTIMIZER_DROPPED(why=OTHER_VARIABLES),)
    computed = {path[-1] for path, each in weights.items() if any(t.recipe for t in each)}
    conversions = tuple(c for c in placed.conversions if computed.intersection(c.layers))
    return PlacedWeights(groups_of(target.architecture, weights), state, findings, conversions)


def _own_variables(target: TargetModel) -> dict[LeafPath, tuple[Tensor, ...]]:
    """Return a handle for each variable of a model; its dtype is that of the rules, and no byte of it is read."""
    optimizer = target.optimizer
    trained = set(optimizer.trained) if optimizer else set()
    return {
        path: tuple(
            t._replace(trained=(path, k) in trained)
            for k, t in enumerate(_variables("/".join(path), shapes))
        )
        for path, shapes in target.shapes.items()
    }


def _converted(target: TargetModel) -> tuple[WeightsByLeaf, Stored, frozenset[str]]:
    """Return a model's variables, the model in Keras 3 with weights made of them, and which of them are trained.

    Raises:
        Refused: Keras 3 has no such model.

    """
    own, optimizer = _own_variables(target), target.optimizer
    state = (
        tuple(_variables("optimizer", optimizer.shapes)) if optimizer and optimizer.shapes else None
    )
    groups, version = groups_of(target.architecture, own), target.keras_version
    made = convert(
        Stored(
            "model", target.architecture, _training(optimizer), groups, state, version, "tensorflow"
        )
    )
    if made.model is None:
        raise Refused(
            "cannot-convert", f"your model: {made.refusal.message if made.refusal else ''}"
        )
    return own, made.model, frozenset(t.ref for each in own.values() for t in each if t.trained)


def _own_weights(form: Keras3Form, given: WeightsByLeaf) -> WeightsByLeaf:
    """Return the value of each variable. Raises Refused."""
    paths = {frozenset(t.ref for t in each): path for path, each in form.own.items()}
    weights: dict[LeafPath, tuple[Tensor, ...]] = {}
    bound: dict[str, Tensor] = {}
    for path, patterns in form.weights.items():
        values, own_path = given[path], paths.get(frozenset(t.ref for t in patterns))
        if own_path is not None and sorted(t.shape for t in values) == sorted(
            t.shape for t in patterns
        ):
            weights[own_path] = (
                values  # as they are: names and owners show which held layer each belongs to
            )
        elif len(patterns) != len(values) or not all(
            bind_pattern(a, b, bound) for a, b in zip(patterns, values, strict=True)
        ):
            raise _refused(path, "its weights do not follow from those of the file")
    for path, each in form.own.items():
        if path not in weights:
            if any(t.ref not in bound for t in each):
                raise _refused(path, "the file does not have all of its weights")
            weights[path] = tuple(bound[t.ref] for t in each)
    return weights


def _variables(prefix: str, shapes: Sequence[tuple[int, ...]]) -> Iterator[Tensor]:
    """Yield a handle for each variable."""
    for k, shape in enumerate(shapes):
        yield Tensor(f"{prefix}/{k}", shape, "<f4", f"target:{prefix}/{k}")


def _training(optimizer: TargetOptimizer | None) -> JsonObject | None:
    if optimizer is None:
        return None
    return {
        "optimizer_config": {"class_name": optimizer.class_name, "config": optimizer.config},
        "loss": None,
    }


def _optimizer(
    optimizer: TargetOptimizer, model: Stored, weights: WeightsByLeaf, trained: frozenset[str]
) -> TargetOptimizer:
    """Return the optimizer as Keras 3 has it, without variables if Keras 3 lacks it."""
    if model.training is None or model.optimizer is None:
        return TargetOptimizer(optimizer.class_name, ())
    kind, config = class_and_config(model.training["optimizer"])
    places = [
        (path, k)
        for path, each in weights.items()
        for k, tensor in enumerate(each)
        if derived_weights.stored_refs([tensor]) & trained
    ]
    return TargetOptimizer(kind, tuple(t.shape for t in model.optimizer), tuple(places), config)


def _by_leaf(architecture: JsonObject, model: Stored) -> Mapping[LeafPath, tuple[Tensor, ...]]:
    """Return the weights of a model by leaf layer. Raises Refused."""
    try:
        weights = weights_by_leaf(architecture, model.groups)
    except Ambiguous as doubt:
        raise Refused(OTHER_MODEL, f"your model: {doubt}") from doubt
    return {leaf.path: weights.get(leaf.path, ()) for leaf in leaves(architecture)}


def _own_state(
    placed: Sequence[Tensor], patterns: Sequence[Tensor], optimizer: TargetOptimizer | None
) -> tuple[Tensor, ...] | None:
    """Return the target's optimizer variables, or None where they do not follow; the learning rate is the caller's."""
    bound: dict[str, Tensor] = {}
    for pattern, value in zip(patterns, placed, strict=True):
        is_constant = pattern.recipe is not None and pattern.recipe.step == "constant"
        if not is_constant and not bind_pattern(pattern, value, bound):
            return None
    own = [*_variables("optimizer", optimizer.shapes)] if optimizer else []
    return tuple(bound[t.ref] for t in own) if all(t.ref in bound for t in own) else None


def bind_pattern(pattern: Tensor, value: Tensor, bound: dict[str, Tensor]) -> bool:
    """Note which tensors the stored ones of `pattern` are, so that it is `value`; False without any.

    Steps that both have cancel out; factors that only the pattern has are divided by, and its shapes are undone.
    """
    if pattern.recipe is None:
        return pattern.shape == value.shape and bound.setdefault(pattern.ref, value) == value
    step, operands, arguments = pattern.recipe
    if value.recipe is not None and (value.recipe.step, value.recipe.arguments) == (
        step,
        arguments,
    ):
        return all(
            bind_pattern(a, b, bound) for a, b in zip(operands, value.recipe.of, strict=True)
        )
    if step == "scale" and all(arguments):
        return bind_pattern(
            operands[0],
            derived_weights.scaled(value, *(1 / factor for factor in arguments)),
            bound,
        )
    if step == "reshape":
        return bind_pattern(operands[0], derived_weights.reshaped(value, *operands[0].shape), bound)
    return False


def _refused(path: LeafPath, why: str) -> Refused:
    return Refused(
        OTHER_MODEL, f"your model's {'/'.join(path)!r}: {why}; build the model that was saved"
    )
