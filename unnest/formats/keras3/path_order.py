"""In which order Keras lists the weights of a path-keyed file's layers, which is not that of the paths."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from unnest.core.architecture import is_model, read
from unnest.core.architecture.graph import Layer
from unnest.core.assign.trainable import trained_count
from unnest.core.keras_facts.layer_classes import OWN
from unnest.core.model import Group, JsonObject, Stored, Tensor
from unnest.formats.keras3.layer_paths import DEPENDENCIES, LAYERS, join_path, places, promises_weights
from unnest.formats.keras3.path_layout import Layout, check_not_quantized, unplaced


def in_order(model: Stored, *, in_lists: bool) -> Stored:
    """A path-keyed file's model with each layer's weights in Keras's order, which is not that of the paths.

    Layers that hold other layers list them as their code does. `in_lists`: a nested model's weights become one list, in
    which what is trained comes first. Raises Refused where only the code tells.
    """
    assert model.architecture is not None
    layers = read(model.architecture).layers
    if in_lists:
        for group in model.groups:
            _check_order_decided(layers[group.name].stored, group.tensors)
    is_older = any(t.ref.startswith(DEPENDENCIES) for g in model.groups for t in g.tensors)
    lists = _Lists((model.keras_version or "").startswith("3."), DEPENDENCIES if is_older else LAYERS)
    groups = [Group(g.name, lists.of_layer(layers[g.name].stored, g.name, g.tensors)) for g in model.groups]
    return model._replace(groups=tuple(groups))


@dataclass(frozen=True)
class _Lists:
    """The flat lists of one file's layers, in Keras's order; `modern` and `attribute` as a Layout has them."""

    modern: bool
    attribute: str

    def of_layer(self, entry: JsonObject, name: str, tensors: Sequence[Tensor], path: str = "") -> tuple[Tensor, ...]:
        """A layer's weights; `path` is where the layer is, if that is known. Raises Refused."""
        tensors = [t for t in tensors if "seed_generator" not in t.ref.split("/")]  # no other container stores these
        if is_model(entry):
            return self._of_model(entry, tensors)
        check_not_quantized(entry, name)
        held = _held_model(entry)
        if held is None:
            return self._as_code_lists(entry, name, tensors)
        path = path or f"/{tensors[0].ref if tensors else ''}".partition(f"/layer/{self.attribute}/")[0][1:]
        return self._of_model_at(join_path(path, "layer"), held, name, tensors)

    def _of_model(self, model: JsonObject, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
        """The weights of a nested model, each with the layers of the model that own it."""
        ordered: list[Tensor] = []
        for inner in read(model).layers.values():
            inner_sorted = self.of_layer(inner.stored, inner.name, _of(inner, tensors))
            ordered += [t._replace(owner=(inner.name, *t.owner)) for t in inner_sorted]
        return _trained_first(ordered)

    def _as_code_lists(self, entry: JsonObject, name: str, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
        """The weights of a layer that holds no model: its own, and those of the layers that it holds."""
        index_by_ref = {t.ref: k for k, t in enumerate(tensors)}
        refusal = unplaced(name, str(entry.get("class_name")))
        if any(ref.split("/")[-2:-1] != ["vars"] for ref in index_by_ref):
            raise refusal
        home = _home(tensors, self.attribute)
        if all(ref.startswith(f"{home}/vars/") for ref in index_by_ref):
            if not all(ref.rpartition("/")[2].isdecimal() for ref in index_by_ref):  # names of the class's own
                raise refusal
            return tuple(tensors)
        layout = Layout(self.modern, self.attribute)
        layout.add_layer(entry, name, [t._replace(name=str(k)) for k, t in enumerate(tensors)], home)
        if set(layout.tensors) != set(index_by_ref):
            raise refusal
        return tuple(tensors[index_by_ref[place]] for place in layout.tensors)

    def _of_model_at(self, path: str, model: JsonObject, name: str, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
        """The weights of a model at `path`, which `name` holds, each with the layers of the model that own it.

        Raises Refused where a layer is not where it should be, or does not say what of it is trained.
        """
        ordered: list[Tensor] = []
        for layer, place in places(model, path, self.attribute):
            inner = [t for t in tensors if t.ref.startswith(place + "/")]
            if is_model(layer.stored):
                inner_sorted = self._of_model_at(place, layer.stored, name, inner)
            else:
                is_attention = layer.class_name == "MultiHeadAttention" and layer.settings.get("trainable") is not False
                count = len(inner) if is_attention else trained_count(layer, len(inner))
                if promises_weights(layer) if not inner else count is None:
                    raise unplaced(name, "TimeDistributed")
                trained = [t._replace(trained=k < (count or 0)) for k, t in enumerate(inner)]
                inner_sorted = self.of_layer(layer.stored, layer.name, trained, place)
            ordered += [t._replace(owner=(layer.name, *t.owner)) for t in inner_sorted]
        if {t.ref for t in ordered} != {t.ref for t in tensors}:
            raise unplaced(name, "TimeDistributed")
        return _trained_first(ordered)


def _trained_first(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """As every model lists its weights: what is trained, layer by layer, then the rest."""
    return tuple(sorted(tensors, key=lambda t: not t.trained))


def _held_model(entry: JsonObject) -> JsonObject | None:
    """The model that a TimeDistributed layer applies to every step."""
    config = entry.get("config")
    held = config.get("layer") if isinstance(config, Mapping) else None
    is_applied = str(entry.get("class_name")) == "TimeDistributed" and isinstance(held, Mapping) and is_model(held)
    return held if is_applied and isinstance(held, Mapping) else None


def _home(tensors: Sequence[Tensor], attribute: str) -> str:
    """The path of the layer that these are of: up to what its last model calls it."""
    for t in tensors:
        outer, under, inner = ("/" + t.ref).rpartition(f"/{attribute}/")
        return (outer + under + inner.split("/")[0])[1:]
    return ""


def _of(layer: Layer, tensors: Sequence[Tensor]) -> list[Tensor]:
    """Those of a model's weights that are one layer's, each with its owners below that."""
    return [t._replace(owner=t.owner[1:]) for t in tensors if t.owner[:1] == (layer.name,)]


def _check_order_decided(entry: JsonObject, tensors: Sequence[Tensor]) -> None:
    """Raises Refused where a nested model's list depends on which weights of a layer of somebody's own are trained.

    Whichever they are, it is the same where all that is trained comes before them, and all the rest behind.
    """
    leaves = [*_leaves(entry, tensors)] if is_model(entry) else []
    for k, (layer, own, is_told) in enumerate(leaves):
        before = [t for _, ts, told in leaves[:k] for t in ts if not (told and t.trained)]
        behind = [t for _, ts, told in leaves[k + 1 :] for t in ts if t.trained or not told]
        if own and not is_told and (before or behind):
            raise unplaced(layer.name, layer.class_name)


def _leaves(model: JsonObject, tensors: Sequence[Tensor]) -> Iterator[tuple[Layer, Sequence[Tensor], bool]]:
    """The layers of a model and of those in it, each with its weights, and whether it is told which are trained."""
    for layer in read(model).layers.values():
        own = _of(layer, tensors)
        if is_model(layer.stored):
            yield from _leaves(layer.stored, own)
        else:
            yield layer, own, layer.class_name in OWN or trained_count(layer, len(own)) is not None
