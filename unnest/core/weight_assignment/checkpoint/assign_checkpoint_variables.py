"""Assign a checkpoint's variables to layers by names alone, as `tf.train.Saver` stores them.

`layers_by_variable_name` finds the layer that a variable is named after. A name that was taken is numbered,
`conv_1/kernel`: then there are several sets for one layer, and only the graph shows which one is read.

The order of a layer's weights is that in which they were made, which `.meta` has. Without it the layer's config lists
its initializers, and only Keras's own layers are known to make their weights in one order. (Source: files of Keras 1.2
to 2.3 and tf.keras 1.8 to 2.15.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from unnest.core.architecture import children, is_input, read
from unnest.core.architecture.graph import Layer
from unnest.core.architecture.nested_models import leaves
from unnest.core.keras_facts.stored_class_names import record_of
from unnest.core.keras_facts.weight_counts_by_config import (
    fits_unit_sizes,
    has_initializers,
    initialized_weight_counts,
    trained_count,
    weight_stems,
)
from unnest.core.model import Group, JsonObject, Tensor
from unnest.core.weight_assignment.checkpoint.layers_by_variable_name import (
    Bearers,
    is_satellite,
    without_numbers,
)
from unnest.core.weight_assignment.layer_weights_record import trained_first
from unnest.core.weight_assignment.weight_order_within_layer import (
    NamedWeight,
    Variable,
    in_creation_order,
    layers_with_weights,
    weight_stem,
)
from unnest.errors import Refused

#: A layer's name, behind those of the models that it is in.
ScopePath: TypeAlias = "tuple[str, ...]"


@dataclass
class CheckpointVariables:
    """The variables of a checkpoint. `where` is its path for messages, `unsaved` the names of the program's others."""

    where: str
    variables: Sequence[Variable]
    unsaved: Sequence[str] = ()
    #: What is no part of the model and no satellite of its weights; filled by `groups`.
    not_placed: list[Variable] = field(default_factory=list)
    #: Layers of which nothing says that all their weights are trained.
    assumed_trained: list[Layer] = field(default_factory=list)

    def groups(self, architecture: JsonObject) -> tuple[Group, ...]:
        """Return a group per layer of the architecture, with all its weights in Keras's order. Raises Refused."""
        layers = dict(leaves(architecture, inner_model=_inner_model))
        with_weights = [layer for layer in layers.values() if not _is_weightless(layer)]
        repeated = {
            n for n, count in Counter(layer.name for layer in with_weights).items() if count > 1
        }
        named_weights = self._group_by_named_layer(
            [layer for layer in with_weights if layer.name not in repeated]
        )
        tensors_by_path: dict[ScopePath, tuple[Tensor, ...]] = {}
        without_tensors: list[Layer] = []
        for path, layer in layers.items():
            if _is_weightless(layer):
                tensors_by_path[path] = ()
                continue
            if layer.name in repeated and (
                initialized_weight_counts(layer.config) or has_initializers(layer.config)
            ):
                why = f"several layers are called {layer.name!r}, and only names say which layer a variable belongs to"
                raise self._refusal(
                    "weights-ambiguous", f"{why}; load the checkpoint and save the model as .h5"
                )
            tensors_by_path[path] = self._layer_tensors(layer, named_weights.get(layer.name, {}))
            if not tensors_by_path[path]:
                without_tensors.append(layer)
        self._check_left_over(tensors_by_path, without_tensors)
        return tuple(
            Group(name, tensors) for name, tensors in _flat_lists(architecture, tensors_by_path)
        )

    @cached_property
    def _variable_names(self) -> frozenset[str]:
        return frozenset({*(v.name for v in self.variables), *self.unsaved})

    # ---- whose ----

    def _group_by_named_layer(
        self, layers: Sequence[Layer]
    ) -> dict[str, dict[str, list[NamedWeight]]]:
        """Return by layer the sets of variables named after it, by the path up to that name; unsaved ones too."""
        bearers = Bearers(layers)
        named_weights: dict[str, dict[str, list[NamedWeight]]] = {}
        saved_names = {v.name for v in self.variables}
        variables = [
            *self.variables,
            *(Variable(n, None) for n in self.unsaved if n not in saved_names),
        ]
        for variable in variables:
            if not is_satellite(variable.name, self._variable_names):
                bearing = bearers.find(variable)
                if bearing:
                    named_weights.setdefault(bearing.layer, {}).setdefault(
                        bearing.family, []
                    ).append(bearing.named_weight)
        return named_weights

    def _layer_tensors(
        self, layer: Layer, families: Mapping[str, list[NamedWeight]]
    ) -> tuple[Tensor, ...]:
        """Return a layer's tensors in Keras's order. Raises Refused if some are missing, or do not fit."""
        named_weights = self._family(layer, families)
        missing = [c.variable.name for c in named_weights if c.variable.tensor is None]
        if missing:
            raise self._refusal(
                "weights-missing",
                f"{', '.join(missing[:4])} of {layer.name!r} were not saved; save all of the model's variables",
            )
        expected_count = _expected_count(layer)
        if expected_count is not None and not _may_be(layer, expected_count, named_weights):
            raise self._refusal(
                "architecture-mismatch",
                f"{len(named_weights)} variables are named after {layer.name!r}, which has {expected_count}; "
                "pass the architecture of the model that was saved",
            )
        ordered = self._ordered(layer, named_weights)
        flags = self._trained(layer, ordered)
        tensors = [
            c.variable.tensor._replace(trained=flag)
            for c, flag in zip(ordered, flags, strict=True)
            if c.variable.tensor is not None
        ]
        return trained_first(tensors)

    def _family(self, layer: Layer, families: Mapping[str, list[NamedWeight]]) -> list[NamedWeight]:
        """Return the one set of variables that belongs to the layer. Raises Refused if there are several."""
        if len(families) > 1:
            read_families = {
                f: named_weights
                for f, named_weights in families.items()
                if any(c.variable.read for c in named_weights)
            }
            families = read_families or families
        if len(families) > 1:
            sets = ", ".join(sorted(families)[:4])
            raise self._refusal(
                "weights-ambiguous",
                f"there are {len(families)} sets of variables for {layer.name!r} ({sets}), and which one the model "
                "reads is stored nowhere; put the .meta file beside it",
            )
        return next(iter(families.values()), [])

    def _check_left_over(
        self,
        tensors_by_path: Mapping[ScopePath, tuple[Tensor, ...]],
        without_tensors: Sequence[Layer],
    ) -> None:
        """Raise Refused if an unassigned variable may belong to a layer that got none."""
        placed_tensors = [t for variables in tensors_by_path.values() for t in variables]
        refs, shapes = {t.ref for t in placed_tensors}, {t.shape for t in placed_tensors}
        unplaced = [
            v
            for v in self.variables
            if v.tensor is not None
            and v.tensor.ref not in refs
            and v.tensor.shape
            and not is_satellite(v.name, self._variable_names)
        ]
        series: dict[str, list[Variable]] = {}
        for v in unplaced:
            series.setdefault(without_numbers(v.name), []).append(v)
        slots = {
            v.name
            for variables in series.values()
            if len(variables) > 1 and all(_is_slot(o, shapes) for o in variables)
            for v in variables
        }
        self.not_placed = [v for v in unplaced if v.name not in slots]
        self._check_trained(tensors_by_path, [v for v in unplaced if v.name in slots])
        graph = any(v.read is not None for v in self.variables)
        doubtful = [v for v in unplaced if v.read] if graph else self.not_placed
        if doubtful and without_tensors:
            raise self._refusal(
                "weights-unplaced",
                f"{doubtful[0].name!r} bears no layer's name and may belong to {without_tensors[0].name!r}, "
                "which would get none; save the model as .h5",
            )

    # ---- in which order ----

    def _ordered(self, layer: Layer, named_weights: list[NamedWeight]) -> list[NamedWeight]:
        if len(named_weights) == 1:
            return named_weights
        if all(c.variable.made is not None for c in named_weights):
            return sorted(named_weights, key=lambda c: c.variable.made or 0)
        ordered = in_creation_order(layer, named_weights)
        if ordered is None:
            raise self._refusal(
                "weights-ambiguous",
                f"the order of {layer.name!r}'s weights is stored nowhere; put the .meta file beside it",
            )
        return ordered

    def _trained(self, layer: Layer, ordered: Sequence[NamedWeight]) -> list[bool]:
        """Return for each, in order, whether the weight is trained."""
        count, expected_weights = (
            trained_count(layer, len(ordered)),
            initialized_weight_counts(layer.config),
        )
        if count != 0 and expected_weights is not None and not expected_weights.statistics:
            return [True] * len(ordered)
        if count is not None:
            return [k < count for k in range(len(ordered))]
        stems = {s for _, _, part in layers_with_weights(layer) for s in weight_stems(part)}
        if expected_weights is None and stems:  # Keras 1: what is trained has a regularizer
            return [weight_stem(c.weight, stems) is not None for c in ordered]
        slotted = [self._has_slot(c.variable) for c in ordered]
        if any(slotted):
            return slotted
        flags = [c.variable.trained is not False for c in ordered]
        if len(flags) > 1 and all(flags) and not record_of(layer.class_name, layer.config).exported:
            self.assumed_trained.append(layer)
        return flags

    def _has_slot(self, variable: Variable) -> bool:
        """Return True if an optimizer keeps a slot of the same shape for the variable, under its name."""
        return any(
            v.name.startswith(variable.name + "/")
            and v.tensor is not None
            and variable.tensor is not None
            and v.tensor.shape == variable.tensor.shape
            for v in self.variables
        )

    def _check_trained(
        self, tensors_by_path: Mapping[ScopePath, tuple[Tensor, ...]], slots: Sequence[Variable]
    ) -> None:
        """Check that no weights of a layer may be frozen without its config saying so, since those would come last.

        Keras declares all its variables trained to TensorFlow; but there are as many slots as trained ones.

        Raises:
            Refused: some may be frozen.

        """
        refs = {t.ref for tensors in tensors_by_path.values() for t in tensors}
        some_not_trained = (
            v.trained is False and v.tensor is not None and v.tensor.ref in refs
            for v in self.variables
        )
        if not self.assumed_trained or any(some_not_trained):
            return
        slot_shapes = Counter(
            v.tensor.shape for v in slots if v.tensor is not None and v.tensor.shape != (1,)
        )
        trained_shapes = Counter(
            t.shape
            for tensors in tensors_by_path.values()
            for t in tensors
            if t.trained and t.shape != (1,)
        )
        slots_per_weight = {slot_shapes[shape] / count for shape, count in trained_shapes.items()}
        if (
            len(slots_per_weight) != 1
            or not min(slots_per_weight)
            or slot_shapes.keys() - trained_shapes.keys()
        ):
            layer = self.assumed_trained[0]
            raise self._refusal(
                "weights-ambiguous",
                f"which weights of {layer.name!r} are trained is not stored, and only the code of "
                f"{layer.class_name} gives their order; save the model as .h5",
            )

    def _refusal(self, code: str, why: str) -> Refused:
        return Refused(code, f"{self.where}: {why}")


def _is_slot(variable: Variable, shapes: Container[tuple[int, ...]]) -> bool:
    """Return True if one of a series has a weight's shape, or that of an unused slot."""
    shape = variable.tensor.shape if variable.tensor else ()
    return shape in shapes or shape == (1,)


def _expected_count(layer: Layer) -> int | None:
    """Return the least number of weights that a layer's config, or the layers inside it, promise; None if unknown."""
    expected_weights = initialized_weight_counts(layer.config)
    if expected_weights is not None:
        return expected_weights.total
    regularized = [(kind, len(weight_stems(part))) for kind, _, part in layers_with_weights(layer)]
    if regularized:  # Keras 1: configs do not mention BatchNormalization's statistics
        return sum(n + 2 * (kind == "BatchNormalization") for kind, n in regularized)
    return 1 if has_initializers(layer.config) else None


def _may_be(layer: Layer, expected_count: int, named_weights: Sequence[NamedWeight]) -> bool:
    """Return True if these may be the weights that a layer's config promises."""
    if (
        record_of(layer.class_name, layer.config).is_plain
        and initialized_weight_counts(layer.config) is not None
        and len(named_weights) != expected_count
    ):
        return False
    shapes = [c.variable.tensor.shape for c in named_weights if c.variable.tensor is not None]
    return len(named_weights) >= expected_count and fits_unit_sizes(layer.settings, shapes)


def _inner_model(layer: Layer) -> JsonObject | None:
    """Return the model that a layer is, or wraps; None for others."""
    if layer.is_model:
        return layer.stored
    held_models = [child for _, child in children(layer.stored)]
    return held_models[0] if len(held_models) == 1 else None


def _flat_lists(
    model: JsonObject, tensors_by_path: Mapping[ScopePath, tuple[Tensor, ...]], path: ScopePath = ()
) -> Iterator[tuple[str, tuple[Tensor, ...]]]:
    """Yield every layer of a model with the flat list of its tensors, those of nested models included."""
    for layer in read(model).layers.values():
        inner, layer_path = _inner_model(layer), (*path, layer.name)
        if inner is None:
            yield layer.name, tensors_by_path[layer_path]
            continue
        flat_list = [
            t._replace(owner=(name, *t.owner))
            for name, tensors in _flat_lists(inner, tensors_by_path, layer_path)
            for t in tensors
        ]
        if layer.settings.get("trainable") is False:
            flat_list = [t._replace(trained=False) for t in flat_list]
        yield (
            layer.name,
            trained_first(flat_list),
        )


def _is_weightless(layer: Layer) -> bool:
    """Return True for inputs, and for Keras's own layers whose configs mention no weights."""
    record = record_of(layer.class_name, layer.config)
    is_known = record.exported and not record.has_silent_weights
    return is_input(layer.stored) or (is_known and _expected_count(layer) is None)
