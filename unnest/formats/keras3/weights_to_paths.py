"""Assign the weights of a model to paths of a path-keyed file: the inverse of reading one (`weights_from_paths.py`).

Other containers have a flat list per layer; here every weight is under the attributes that lead to it. For Keras's own
layers these are known, the flat list of a nested model is divided among its layers, and the weights of a custom layer
are placed in it if their names say that it holds them itself. Everything else is refused. (Source: `_save_state` of
Keras 3.15 and tf_keras 2.21, and files of both.)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from unnest.core.architecture import is_model, model_name, read, snake_case
from unnest.core.keras_facts.weight_counts_by_config import (
    cell_weight_counts,
    initialized_weight_counts,
    is_quantized,
)
from unnest.core.keras_facts.weights_of_wrapped_layers import (
    divide_spectral_normalization,
    held_layers,
)
from unnest.core.layers.catalog import layer_record
from unnest.core.layers.record import ATTENTION_PARTS, Parts
from unnest.core.model import JsonObject, Stored, Tensor
from unnest.core.weight_assignment.flat_list.divide_flat_list import divide_flat_list
from unnest.core.weight_assignment.layer_weights_record import Ambiguous
from unnest.errors import Refused
from unnest.formats.keras3.layer_paths import LAYERS, OPTIMIZER_GROUP, join_path, layers_with_paths

#: How the name of a weight begins that a path-keyed file had among its layer's own
#: (`path_keyed_weights_in_keras_order.py`).
OWN_VARS = "vars/"
#: The attribute of a TextVectorization that is the lookup layer in it, and the name of the weights of its words.
LOOKUP, IDF_WEIGHTS = "_lookup_layer", "idf_weights"
#: Why the weights of a lookup layer's words have no place, and what to do.
WEIGHED_WORDS = (
    "only --keras 3 writes what it keeps beside its words (TF-IDF), if that is one weight a word: else make the layer "
    "by code, and call its set_vocabulary with the words and their idf_weights"
)
#: The advice if only the code of a class knows the places.
BY_CODE = (
    "fix without --to and --keras, load the output with its code, and hand the weights on by get_weights and "
    "set_weights"
)


@dataclass(eq=False, repr=False)
class Layout:
    """A path-keyed file: by path, its groups, each with the name that Keras 3 stores there, and its tensors."""

    #: Whether it is written as Keras 3 does; else as Keras 2 from 2.12 on.
    modern: bool
    #: How the file gets to a model's layers; a file that is written anew is never one of Keras 2.12 to 2.14.
    attribute: str = LAYERS
    groups: dict[str, str | None] = field(default_factory=dict)
    tensors: dict[str, Tensor] = field(default_factory=dict)

    def add_object(self, path: str, name: str, tensors: Sequence[Tensor] = ()) -> None:
        """Add an object with variables of its own."""
        if path:
            self.groups[path] = None
        self.groups[join_path(path, "vars")] = name if self.modern else None
        for k, tensor in enumerate(tensors):
            self.tensors[join_path(path, "vars", str(k))] = tensor

    def add_model(
        self, entry: JsonObject, shares: Mapping[str, Sequence[Tensor]], path: str
    ) -> None:
        """Add a model, given the weights of each of its layers."""
        self.add_object(path, model_name(entry))
        for layer, place in layers_with_paths(entry, path, self.attribute):
            self.add_layer(layer.stored, layer.name, shares.get(layer.name, ()), place)

    def add_layer(
        self, entry: JsonObject, name: str, tensors: Sequence[Tensor], path: str, holder: str = ""
    ) -> None:
        """Add a layer, given the flat list of its weights.

        `holder`: the layer that holds it, after which Keras 2 may name its weights.

        Raises:
            Refused: the list does not show the places.

        """
        config = entry.get("config")
        settings = config if isinstance(config, Mapping) else {}
        kind = str(entry.get("class_name"))
        if tensors:
            check_not_quantized(entry, name)
        if is_model(entry):
            self._add_nested(entry, tensors, path)
        elif layer_record(kind).parts is Parts.CELL:
            self.add_object(path, name)
            self.add_object(join_path(path, "cell"), f"{snake_case(kind)}_cell", tensors)
        elif kind in ("TimeDistributed", "Bidirectional", "RNN") and tensors:
            self.add_object(path, name)
            self._add_held(kind, settings, name, tensors, path)
        elif kind == "SpectralNormalization" and self.modern and len(tensors) > 1:
            self._add_spectral_normalization(settings, name, tensors, path)
        elif layer_record(kind).adapted_argument == "vocabulary" and tensors:
            self._add_lookup(settings, kind, name, tensors, path)
        elif kind == "MultiHeadAttention" and len(tensors) == (
            8 if settings.get("use_bias", True) else 4
        ):
            self._add_attention(name, tensors, path)
        elif (
            not tensors
            or layer_record(kind).is_plain
            or (_has_all(name, holder, tensors) and not held_layers(entry))
        ):
            self.add_object(path, name, tensors)
        else:
            raise unplaced(name, kind)

    def _add_nested(self, model: JsonObject, tensors: Sequence[Tensor], path: str) -> None:
        """Add a nested model, dividing its flat list among its layers.

        Raises:
            Refused: there is more than one way to divide it.

        """
        try:
            shares = divide_flat_list(tensors, read(model))
        except Ambiguous as doubt:
            raise Refused(
                "weights-ambiguous", f"{doubt}; write .h5, which keeps that list as it is"
            ) from doubt
        self.add_model(model, {name: share.tensors for name, share in shares.items()}, path)

    def _add_spectral_normalization(
        self, settings: JsonObject, name: str, tensors: Sequence[Tensor], path: str
    ) -> None:
        """Add a SpectralNormalization: the inner layer's kernel is stored again as its own, before its vector."""
        wrapped, parts = settings.get("layer"), divide_spectral_normalization(tensors)
        if not isinstance(wrapped, Mapping) or parts is None:
            raise unplaced(name, "SpectralNormalization")
        held, vector = parts
        self.add_object(path, name, (held[0], vector))
        self.add_layer(wrapped, _name(wrapped), held, join_path(path, "layer"))

    def _add_lookup(
        self, settings: JsonObject, kind: str, name: str, tensors: Sequence[Tensor], path: str
    ) -> None:
        """Add the weights of a lookup layer's words; those of a text stand at the layer in it, too."""
        if not self.modern or len(tensors) > 1 or settings.get("idf_weights") is None:
            raise unplaced(name, kind)
        held = (LOOKUP,) if kind == "TextVectorization" else ()
        for place in (path, *(join_path(path, attribute) for attribute in held)):
            self.add_object(place, name if place == path else "string_lookup")
            self.tensors[join_path(place, "vars", IDF_WEIGHTS)] = tensors[0]

    def _add_attention(self, name: str, tensors: Sequence[Tensor], path: str) -> None:
        """Add the four dense layers of a MultiHeadAttention, with as many weights each."""
        self.add_object(path, name)
        count = len(tensors) // len(ATTENTION_PARTS)
        for k, (stored_name, attribute) in enumerate(ATTENTION_PARTS.items()):
            place = join_path(path, attribute if self.modern else "_" + attribute)
            self.add_object(place, stored_name, tensors[k * count : (k + 1) * count])

    def _add_held(
        self, kind: str, settings: JsonObject, name: str, tensors: Sequence[Tensor], path: str
    ) -> None:
        """Add the layer that a wrapping layer holds."""
        inner = settings.get("cell" if kind == "RNN" else "layer")
        if not isinstance(inner, Mapping):
            raise unplaced(name, kind)
        if kind == "RNN":
            self._add_cell(inner, tensors, join_path(path, "cell"), name)
        elif kind == "TimeDistributed":
            self.add_layer(inner, _name(inner), tensors, join_path(path, "layer"), name)
        else:
            expected_weights, half = (
                initialized_weight_counts(inner.get("config")),
                len(tensors) // 2,
            )
            if len(tensors) % 2 or expected_weights is None or expected_weights.statistics:
                raise unplaced(name, kind)
            forward, backward = tensors[:half], tensors[half:]
            if all(_is_of("backward", t) for t in forward) and all(
                _is_of("forward", t) for t in backward
            ):
                # That way was frozen: its weights are listed behind the trained.
                forward, backward = backward, forward
            # Keras's JSON has the name with and without.
            inner_name = _name(inner).removeprefix("forward_")
            self.add_layer(
                inner, f"forward_{inner_name}", forward, join_path(path, "forward_layer")
            )
            self.add_layer(
                inner, f"backward_{inner_name}", backward, join_path(path, "backward_layer")
            )

    def _add_cell(
        self, cell: JsonObject, tensors: Sequence[Tensor], path: str, holder: str
    ) -> None:
        """Add a recurrent cell; the cells of a StackedRNNCells get the next of its weights each."""
        config, kind = cell.get("config"), str(cell.get("class_name"))
        cells = config.get("cells") if isinstance(config, Mapping) else None
        if kind != "StackedRNNCells" or not isinstance(cells, Sequence):
            self.add_layer(cell, _name(cell), tensors, path, holder)
            return
        self.add_object(path, _name(cell))
        count: dict[str, int] = {}
        inner_cells = [c for c in cells if isinstance(c, Mapping)]
        sizes = cell_weight_counts(inner_cells, len(tensors))
        if sizes is None:
            raise unplaced(_name(cell), kind)
        for inner_cell, size in zip(inner_cells, sizes, strict=True):
            stem = snake_case(str(inner_cell.get("class_name")))
            number = count[stem] = count.get(stem, -1) + 1
            place = join_path(path, "cells", f"{stem}_{number}" if number else stem)
            self.add_layer(inner_cell, _name(inner_cell), tensors[:size], place, holder)
            tensors = tensors[size:]


def lay_out(model: Stored) -> Layout:
    """Return every group and tensor of the file to be written, by path. Raises Refused."""
    assert model.architecture is not None
    layout = Layout((model.keras_version or "").startswith("3."))
    layout.add_model(model.architecture, {g.name: g.tensors for g in model.groups}, "")
    if model.optimizer is not None:
        layout.groups[OPTIMIZER_GROUP.split("/")[0]] = None
        layout.groups[OPTIMIZER_GROUP] = _optimizer_name(model) if layout.modern else None
        layout.tensors |= {
            join_path(OPTIMIZER_GROUP, str(k)): t for k, t in enumerate(model.optimizer)
        }
    placed_refs = {t.ref for t in layout.tensors.values()}
    unplaced = [t.name for g in model.groups for t in g.tensors if t.ref not in placed_refs]
    if unplaced:
        raise Refused(
            "weights-unplaced",
            f"{unplaced[0]!r} is of no layer of the architecture; write .h5 instead",
        )
    return layout


def _optimizer_name(model: Stored) -> str:
    optimizer = (model.training or {}).get("optimizer")
    config = optimizer.get("config") if isinstance(optimizer, Mapping) else None
    return str(config.get("name", "")) if isinstance(config, Mapping) else ""


def _name(entry: JsonObject) -> str:
    config = entry.get("config")
    name = config.get("name") if isinstance(config, Mapping) else None
    return str(name or snake_case(str(entry.get("class_name"))))


def _has_all(name: str, holder: str, tensors: Sequence[Tensor]) -> bool:
    """Return True if the names of the weights say that the layer, or its holder, has them all itself."""
    names = [name, holder] if holder else [name]
    return all(
        t.name.startswith(OWN_VARS) or any(_holds(each, t) for each in names) for t in tensors
    )


def _holds(name: str, tensor: Tensor) -> bool:
    """Return True if a weight's name says that the layer holds it itself, not a layer inside it.

    That is `layer/weight`, and `layer_weight` in Keras 1 and in code that was written for it.
    """
    parts = tensor.name.split("/")
    if len(parts) == 1:
        return tensor.name.startswith(f"{name}_")
    return parts[-2] == name or parts[-2].rpartition("_")[0] == name


def _is_of(way: str, tensor: Tensor) -> bool:
    """Return True if a weight's name puts it into the `forward` or `backward` layer of a Bidirectional."""
    return any(part.startswith(f"{way}_") for part in tensor.name.split("/"))


def check_not_quantized(entry: JsonObject, name: str) -> None:
    """Check that the order of a layer's weights is the same in both containers.

    Raises:
        Refused: the layer is quantized or has LoRA weights.

    """
    if layer_record(str(entry.get("class_name"))).exported and is_quantized(entry.get("config")):
        raise Refused(
            "cannot-convert",
            f"{name!r}: is quantized or has LoRA weights, which .h5 lists otherwise than .keras: keep the container "
            "(without --to)",
        )


def is_word_state(kind: str, paths: Iterable[str]) -> bool:
    """Return True if all paths are those of the weights of a lookup layer's words."""
    return layer_record(kind).adapted_argument == "vocabulary" and all(
        path.endswith(f"/vars/{IDF_WEIGHTS}") for path in paths
    )


def unplaced(name: str, kind: str) -> Refused:
    """Return the refusal of a layer for which the paths of the weights, or their order, are unknown."""
    if layer_record(kind).adapted_argument == "vocabulary":
        return Refused("cannot-convert", f"{name!r}: {WEIGHED_WORDS}")
    why = (
        f"for a {kind} like this not both are known"
        if layer_record(kind).exported
        else f"only the code of {kind} knows both"
    )
    return Refused(
        "cannot-convert",
        f"{name!r}: .keras calls weights by the attributes that lead to them, .h5 lists them, and {why}: {BY_CODE}",
    )
