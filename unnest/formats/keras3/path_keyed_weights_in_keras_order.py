"""In which order Keras lists the weights of a path-keyed file's layers, which is not that of the paths."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from unnest.core.architecture import is_model, read
from unnest.core.architecture.graph import Layer
from unnest.core.architecture.nested_models import by_owner, leaves, nested_model
from unnest.core.keras_facts.weight_counts_by_config import trained_count
from unnest.core.keras_facts.weights_of_wrapped_layers import wrapped_layer
from unnest.core.layers.catalog import layer_record
from unnest.core.model import Group, JsonObject, Stored, Tensor
from unnest.core.weight_assignment.layer_weights_record import trained_first
from unnest.errors import Refused
from unnest.formats.change_container.h5_keras_config_conversion import keras_to_h5
from unnest.formats.keras3.layer_paths import (
    DEPENDENCIES,
    LAYERS,
    join_path,
    layers_with_paths,
    name_by_path,
    promises_weights,
)
from unnest.formats.keras3.weights_to_paths import (
    BY_CODE,
    OWN_VARS,
    Layout,
    check_not_quantized,
    is_word_state,
    unplaced,
)


def as_h5_lists(model: Stored) -> Stored:
    """Return a path-keyed file's model as its Keras stores it in `.h5`: lists per layer, weights named by their paths.

    Raises:
        Refused: the order of a custom layer's weights is known to its code alone.

    """
    as_stored = keras_to_h5(in_order(model, in_lists=True))
    as_stored = as_stored._replace(groups=name_by_path(as_stored.groups))
    return as_stored if as_stored.training is not None else as_stored._replace(optimizer=None)


def in_order(model: Stored, *, in_lists: bool) -> Stored:
    """Return a path-keyed file's model with each layer's weights in Keras's order, which is not that of the paths.

    Layers that hold other layers list them as their code does. `in_lists`: a nested model's weights become one list,
    with the trained ones first.

    Raises:
        Refused: the order of a custom layer's weights is known to its code alone.

    """
    assert model.architecture is not None
    layers = read(model.architecture).layers
    is_older = any(t.ref.startswith(DEPENDENCIES) for g in model.groups for t in g.tensors)
    lists = _Lists(
        (model.keras_version or "").startswith("3."), DEPENDENCIES if is_older else LAYERS
    )
    groups = [
        Group(g.name, lists.of_layer(layers[g.name].stored, g.name, g.tensors))
        for g in model.groups
    ]
    if in_lists:
        for group in groups:
            _check_order_decided(layers[group.name], group.tensors)
    return model._replace(groups=tuple(groups))


@dataclass(frozen=True)
class _Lists:
    """The flat lists of one file's layers, in Keras's order; `modern` and `attribute` as a Layout has them."""

    modern: bool
    attribute: str

    def of_layer(
        self, entry: JsonObject, name: str, tensors: Sequence[Tensor], path: str = ""
    ) -> tuple[Tensor, ...]:
        """Return a layer's weights in Keras's order; `path` is where the layer is, if known. Raises Refused."""
        # No other container stores these.
        tensors = [t for t in tensors if "seed_generator" not in t.ref.split("/")]
        if is_model(entry):
            return self._of_model(entry, tensors)
        check_not_quantized(entry, name)
        held = _time_distributed_model(entry)
        if held is None:
            return self._as_code_lists(entry, name, tensors)
        path = (
            path
            or f"/{tensors[0].ref if tensors else ''}".partition(f"/layer/{self.attribute}/")[0][1:]
        )
        return self._of_model_at(join_path(path, "layer"), held, name, tensors)

    def _of_model(self, model: JsonObject, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
        """Return a nested model's weights in Keras's order, each with the layers that own it."""
        ordered: list[Tensor] = []
        owned = by_owner(tensors)
        for inner in read(model).layers.values():
            inner_sorted = self.of_layer(inner.stored, inner.name, owned.get(inner.name, ()))
            ordered += [t._replace(owner=(inner.name, *t.owner)) for t in inner_sorted]
        return trained_first(ordered)

    def _as_code_lists(
        self, entry: JsonObject, name: str, tensors: Sequence[Tensor]
    ) -> tuple[Tensor, ...]:
        """Return the weights of a layer that contains no model: its own, and those of its inner layers."""
        index_by_ref = {t.ref: k for k, t in enumerate(tensors)}
        refusal = unplaced(name, str(entry.get("class_name")))
        if any(ref.split("/")[-2:-1] != ["vars"] for ref in index_by_ref):
            raise refusal
        if index_by_ref and is_word_state(str(entry.get("class_name")), index_by_ref):
            return tuple(t._replace(trained=False) for t in tensors)
        home = _home(tensors, self.attribute)
        own_vars = join_path(_innermost(entry, home), "vars")
        if all(ref.rpartition("/")[0] == own_vars for ref in index_by_ref):
            has_own_names = not all(ref.rpartition("/")[2].isdecimal() for ref in index_by_ref)
            if has_own_names:
                raise refusal
            return tuple(t._replace(name=f"{OWN_VARS}{k}") for k, t in enumerate(tensors))
        layout = Layout(self.modern, self.attribute)
        layout.add_layer(
            entry, name, [t._replace(name=str(k)) for k, t in enumerate(tensors)], home
        )
        if set(layout.tensors) != set(index_by_ref):
            raise refusal
        return tuple(tensors[index_by_ref[place]] for place in layout.tensors)

    def _of_model_at(
        self, path: str, model: JsonObject, name: str, tensors: Sequence[Tensor]
    ) -> tuple[Tensor, ...]:
        """Return the weights of the model at `path`, which `name` contains, each with the layers that own it.

        Raises Refused where a layer is not where it should be, or one of Keras's own does not say what of it is
        trained.
        """
        ordered: list[Tensor] = []
        for layer, place in layers_with_paths(model, path, self.attribute):
            inner = [t for t in tensors if t.ref.startswith(place + "/")]
            if layer.is_model:
                inner_sorted = self._of_model_at(place, layer.stored, name, inner)
            else:
                if not inner and promises_weights(layer):
                    why = f"the weights of {layer.name!r} in it are stored elsewhere, with a layer that shares them"
                    raise _refusal(name, why)
                inner_sorted = self.of_layer(
                    layer.stored, layer.name, _mark_trained(layer, inner, name), place
                )
            ordered += [t._replace(owner=(layer.name, *t.owner)) for t in inner_sorted]
        if {t.ref for t in ordered} != {t.ref for t in tensors}:
            raise _refusal(name, "weights are stored in it that are of no layer of its config")
        return trained_first(ordered)


def _refusal(name: str, why: str) -> Refused:
    return Refused("cannot-convert", f"{name!r}: {why}: {BY_CODE}")


def _mark_trained(layer: Layer, tensors: Sequence[Tensor], holder: str) -> list[Tensor]:
    """Mark which of a layer's weights are trained: all of them in a custom layer, if nothing says otherwise.

    Raises:
        Refused: it does not follow from the config of one of Keras's own layers.

    """
    count = trained_count(layer, len(tensors))
    if count is None and not _is_keras_own(layer.stored):
        count = len(tensors)
    if tensors and count is None:
        raise _refusal(
            holder,
            f"which weights of {layer.name!r} in it are trained does not follow from its config",
        )
    return [t._replace(trained=k < (count or 0)) for k, t in enumerate(tensors)]


def _time_distributed_model(entry: JsonObject) -> JsonObject | None:
    """Return the model that a TimeDistributed layer applies to every step, if it applies one."""
    config = entry.get("config")
    held = config.get("layer") if isinstance(config, Mapping) else None
    is_applied = (
        str(entry.get("class_name")) == "TimeDistributed"
        and isinstance(held, Mapping)
        and is_model(held)
    )
    return held if is_applied and isinstance(held, Mapping) else None


def _innermost(entry: JsonObject, path: str) -> str:
    """Return the path of the weights of the layer at `path`: those of a pure wrapper are its inner layer's."""
    inner = wrapped_layer(entry)
    return (
        path
        if inner is None
        else _innermost(inner, join_path(path, *layer_record(str(entry["class_name"])).holds))
    )


def _home(tensors: Sequence[Tensor], attribute: str) -> str:
    """Return the path of the layer that owns these tensors, up to the attribute of its last model."""
    for t in tensors:
        outer, under, inner = ("/" + t.ref).rpartition(f"/{attribute}/")
        return (outer + under + inner.split("/")[0])[1:]
    return ""


def _check_order_decided(layer: Layer, tensors: Sequence[Tensor]) -> None:
    """Check that the order of a model's list does not depend on which weights of a custom layer in it are trained.

    It does not if all weights before that layer's are trained, and none behind.

    Raises:
        Refused: it does depend on them.

    """
    parts = [*_leaves(layer, tensors)]
    for k, (leaf, own, is_known) in enumerate(parts):
        before = [t for _, ts, known in parts[:k] for t in ts if not (known and t.trained)]
        behind = [t for _, ts, known in parts[k + 1 :] for t in ts if t.trained or not known]
        if own and not is_known and (before or behind):
            raise _refusal(
                leaf.name,
                f".h5 lists the trained weights of {layer.name!r} first; which of this layer's are trained, only the "
                f"code of {leaf.class_name} knows",
            )


def _leaves(
    layer: Layer, tensors: Sequence[Tensor]
) -> Iterator[tuple[Layer, Sequence[Tensor], bool]]:
    """Yield each layer of the model that a layer is or holds, nested ones too; a layer without a model yields itself.

    Each comes with its weights, and True if it is known which of them are trained.
    """
    model = _model_within(layer)
    within = [((), layer)] if model is None else leaves(model, inner_model=_model_within)
    for path, leaf in within:
        own = [t for t in tensors if t.owner[: len(path)] == path]
        yield leaf, own, _is_keras_own(leaf.stored) or trained_count(leaf, len(own)) is not None


def _model_within(layer: Layer) -> JsonObject | None:
    """Return the model that a layer is, or applies to every step."""
    return nested_model(layer) or _time_distributed_model(layer.stored)


def _is_keras_own(entry: JsonObject) -> bool:
    """Return True for one of Keras's own layers, if the layer that it wraps is one as well."""
    inner = wrapped_layer(entry)
    return layer_record(str(entry.get("class_name"))).exported and (
        inner is None or _is_keras_own(inner)
    )
