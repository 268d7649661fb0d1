"""Where the weights of a model go in a path-keyed file: the inverse of reading one (`pathkeyed.py`).

Other containers have a flat list per layer; here every weight is under the attributes that lead to it. For Keras's own
layers these are known, for a nested model its flat list is shared out, and a layer of somebody's own is placed where
its weights' names say that it holds them itself; whatever else is refused.
(Source: `_save_state` of Keras 3.15 and tf_keras 2.21, and files of both.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from unnest.core.architecture import is_model, model_name, read, snake_case
from unnest.core.assign.flat_list import split
from unnest.core.assign.shares import Ambiguous
from unnest.core.keras_facts.layer_classes import ATTENTION, CELLED, OWN, PLAIN
from unnest.core.keras_facts.weight_specs import expected
from unnest.core.model import Group, JsonObject, Stored, Tensor
from unnest.errors import Refused
from unnest.formats.keras3.path_tree import DEPENDENCIES, LAYERS, OPTIMIZER, below, places


@dataclass
class Layout:
    """The groups of the file, each with the name that Keras 3 notes, and its tensors, by path."""

    modern: bool
    #: How the file gets to a model's layers; a file that is written anew is never one of Keras 2.12 or 2.13.
    attribute: str = LAYERS
    groups: dict[str, str | None] = field(default_factory=dict)
    tensors: dict[str, Tensor] = field(default_factory=dict)

    def own(self, path: str, name: str, tensors: Sequence[Tensor] = ()) -> None:
        """An object with variables of its own."""
        if path:
            self.groups[path] = None
        self.groups[below(path, "vars")] = name if self.modern else None
        for k, tensor in enumerate(tensors):
            self.tensors[below(path, "vars", str(k))] = tensor

    def model(self, entry: JsonObject, shares: Mapping[str, Sequence[Tensor]], path: str) -> None:
        """A model whose layers' weights are known."""
        self.own(path, model_name(entry))
        for layer, place in places(entry, path, self.attribute, lambda layer, _: bool(shares.get(layer.name))):
            self.layer(layer.stored, layer.name, shares.get(layer.name, ()), place)

    def layer(self, entry: JsonObject, name: str, tensors: Sequence[Tensor], path: str, holder: str = "") -> None:
        """A layer with its flat list. Raises Refused where that does not tell the places.

        `holder`: the layer that holds it, after which Keras 2 may call its weights.
        """
        if is_model(entry):
            try:
                inner = split(tensors, read(entry))
            except Ambiguous as doubt:
                raise Refused("weights-ambiguous", f"{doubt}; write .h5, whose weights stay in that list") from doubt
            self.model(entry, {n: s.tensors for n, s in inner.items()}, path)
            return
        config = entry.get("config")
        settings = config if isinstance(config, Mapping) else {}
        kind = str(entry.get("class_name"))
        if kind in CELLED:
            self.own(path, name)
            self.own(below(path, "cell"), f"{snake_case(kind)}_cell", tensors)
        elif kind in ("TimeDistributed", "Bidirectional", "RNN") and tensors:
            self.own(path, name)
            self._held(kind, settings, name, tensors, path)
        elif kind == "SpectralNormalization" and self.modern and len(tensors) > 1:
            # Keras 3 notes the inner layer's kernel once more as the wrapper's own, before its vector.
            self.own(path, name, (tensors[0], tensors[-1]))
            wrapped = settings.get("layer")
            if not isinstance(wrapped, Mapping):
                raise _unplaced(name, kind)
            self.layer(wrapped, _name(wrapped), tensors[:-1], below(path, "layer"))
        elif kind == "MultiHeadAttention" and len(tensors) == (8 if settings.get("use_bias", True) else 4):
            self.own(path, name)
            each = len(tensors) // len(ATTENTION)
            for k, part in enumerate(ATTENTION):
                called = part.removesuffix("_dense") if k < len(ATTENTION) - 1 else "attention_output"
                place = below(path, part if self.modern else "_" + part)
                self.own(place, called, tensors[k * each : (k + 1) * each])
        elif not tensors or kind in PLAIN or all(_holds(name, t) or _holds(holder, t) for t in tensors):
            self.own(path, name, tensors)
        else:
            raise _unplaced(name, kind)

    def _held(self, kind: str, settings: JsonObject, name: str, tensors: Sequence[Tensor], path: str) -> None:
        """What a wrapping layer holds."""
        inner = settings.get("cell" if kind == "RNN" else "layer")
        if not isinstance(inner, Mapping):
            raise _unplaced(name, kind)
        if kind == "RNN":
            self._cell(inner, tensors, below(path, "cell"))
        elif kind == "TimeDistributed":
            self.layer(inner, _name(inner), tensors, below(path, "layer"), name)
        else:
            told, half = expected(inner.get("config")), len(tensors) // 2
            if len(tensors) % 2 or told is None or told.statistics:
                raise _unplaced(name, kind)
            called = _name(inner).removeprefix("forward_")  # Keras's JSON has the name with and without
            self.layer(inner, f"forward_{called}", tensors[:half], below(path, "forward_layer"))
            self.layer(inner, f"backward_{called}", tensors[half:], below(path, "backward_layer"))

    def _cell(self, cell: JsonObject, tensors: Sequence[Tensor], path: str) -> None:
        config, kind = cell.get("config"), str(cell.get("class_name"))
        cells = config.get("cells") if isinstance(config, Mapping) else None
        if kind != "StackedRNNCells" or not isinstance(cells, Sequence):
            self.layer(cell, _name(cell), tensors, path)
            return
        self.own(path, _name(cell))
        count: dict[str, int] = {}
        for part in (c for c in cells if isinstance(c, Mapping)):
            told = expected(part.get("config"))
            if told is None or told.total > len(tensors):
                raise _unplaced(_name(cell), kind)
            stem = snake_case(str(part.get("class_name")))
            n = count[stem] = count.get(stem, -1) + 1
            place = below(path, "cells", f"{stem}_{n}" if n else stem)
            self.layer(part, _name(part), tensors[: told.total], place)
            tensors = tensors[told.total :]
        if tensors:
            raise _unplaced(_name(cell), kind)


def lay_out(model: Stored) -> Layout:
    """Every group and tensor of the file. Raises Refused."""
    assert model.architecture is not None
    layout = Layout((model.keras_version or "").startswith("3."))
    layout.model(model.architecture, {g.name: g.tensors for g in model.groups}, "")
    if model.optimizer is not None:
        layout.groups[OPTIMIZER.split("/")[0]] = None
        layout.groups[OPTIMIZER] = _optimizer_name(model) if layout.modern else None
        layout.tensors |= {below(OPTIMIZER, str(k)): t for k, t in enumerate(model.optimizer)}
    placed = {t.ref for t in layout.tensors.values()}
    lost = [t.name for g in model.groups for t in g.tensors if t.ref not in placed]
    if lost:
        raise Refused("weights-unplaced", f"{lost[0]!r} is of no layer of the architecture; write .h5 instead")
    return layout


def in_order(model: Stored) -> Stored:
    """A path-keyed file's model with each layer's weights in Keras's order, which is not that of the paths.

    Layers that hold other layers list them as their code does. Raises Refused where only the code tells.
    """
    assert model.architecture is not None
    modern = (model.keras_version or "").startswith("3.")
    layers = read(model.architecture).layers
    groups = [Group(g.name, _sorted(layers[g.name].stored, g.name, g.tensors, modern=modern)) for g in model.groups]
    return model._replace(groups=tuple(groups))


def _sorted(entry: JsonObject, name: str, tensors: Sequence[Tensor], *, modern: bool) -> tuple[Tensor, ...]:
    tensors = [t for t in tensors if "seed_generator" not in t.ref.split("/")]  # no other container stores these
    if is_model(entry):
        rank: dict[str, int] = {}
        for inner in read(entry).layers.values():
            own = [t._replace(owner=t.owner[1:]) for t in tensors if t.owner[0] == inner.name]
            if (
                own
                and str(inner.class_name) not in OWN
                and not is_model(inner.stored)
                and expected(inner.config) is None
            ):
                raise _unplaced(inner.name, inner.class_name)
            rank |= {t.ref: len(rank) for t in _sorted(inner.stored, inner.name, own, modern=modern)}
        return tuple(sorted((t for t in tensors if t.ref in rank), key=lambda t: (not t.trained, rank[t.ref])))
    tails = {t.ref: k for k, t in enumerate(tensors)}
    layout = Layout(modern, DEPENDENCIES if tensors and tensors[0].ref.startswith(DEPENDENCIES) else LAYERS)
    if any(t.ref.split("/")[-2:-1] != ["vars"] for t in tensors):
        raise _unplaced(name, str(entry.get("class_name")))
    home = _home(tensors, layout.attribute)
    if all(ref.startswith(f"{home}/vars/") for ref in tails):
        return tuple(tensors)
    layout.layer(entry, name, [t._replace(name=str(k)) for k, t in enumerate(tensors)], home)
    if set(layout.tensors) != set(tails):
        raise _unplaced(name, str(entry.get("class_name")))
    return tuple(tensors[tails[place]] for place in layout.tensors)


def _home(tensors: Sequence[Tensor], attribute: str) -> str:
    """The path of the layer that these are of: up to what its last model calls it."""
    for t in tensors:
        before, under, after = ("/" + t.ref).rpartition(f"/{attribute}/")
        return (before + under + after.split("/")[0])[1:]
    return ""


def _optimizer_name(model: Stored) -> str:
    optimizer = (model.training or {}).get("optimizer")
    config = optimizer.get("config") if isinstance(optimizer, Mapping) else None
    return str(config.get("name", "")) if isinstance(config, Mapping) else ""


def _name(entry: JsonObject) -> str:
    config = entry.get("config")
    name = config.get("name") if isinstance(config, Mapping) else None
    return str(name or snake_case(str(entry.get("class_name"))))


def _holds(name: str, tensor: Tensor) -> bool:
    """Whether a weight's name says that the layer holds it itself, and no layer inside it: `layer/weight`."""
    parts = tensor.name.split("/")
    return len(parts) > 1 and (parts[-2] == name or parts[-2].rpartition("_")[0] == name)


def _unplaced(name: str, kind: str) -> Refused:
    return Refused(
        "cannot-convert",
        f"{name!r}: .keras calls weights by the attributes that lead to them, .h5 lists them, and only the code of "
        f"{kind} knows both: fix without --to, load the output and save it",
    )
