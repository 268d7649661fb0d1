"""The same stored model under other names: what is recognised by structure does not notice."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unnest.core.model import Group, Json, Stored, Tensor
from unnest.core.weight_assignment.layer_groups.match_layer_groups import NUMBERED_BYTES_NAME

#: Classes whose meaning is Keras's own: models and inputs are what a graph is made of.
GRAMMAR = frozenset({"Model", "Functional", "Sequential", "InputLayer"})


#: Words that the code knows, and that layers and classes are called by in wrappers and in what merely looks like one.
WORDS = (
    "lambda", "concatenate", "merge", "concat", "slice", "split", "add", "average", "model", "sequential", "replica",
    "tower", "input", "get_slice", "strided_slice", "batch", "gpu", "multi_gpu", "parallel", "dense", "embedding",
)  # fmt: skip


@dataclass(frozen=True)
class Renaming:
    """A bijection on names that keeps nothing of them, the same for equal seeds.

    `worded`: the new names are made of WORDS, alone, in CamelCase, and inside of other words.
    """

    seed: str
    classes: bool = True
    worded: bool = False
    #: Classes that keep their name: merges say what they do by name, so a renamed one says nothing.
    kept: frozenset[str] = GRAMMAR | {
        "Concatenate",
        "Merge",
        "Lambda",
        "TimeDistributed",
        "Bidirectional",
    }

    def name(self, name: str) -> str:
        """A layer's new name; numbers and words of the old one are gone, `/` stays a path.

        So do the words that a Bidirectional of Keras 1 puts before the names of its two layers.
        """
        side = next((side for side in ("forward_", "backward_") if name.startswith(side)), "")
        if side:
            return side + self.name(name.removeprefix(side))
        return "/".join(self._new("n", f"{self.seed}:{p}") for p in name.split("/"))

    def class_name(self, name: str) -> str:
        """A class's new name."""
        if not self.classes or name in self.kept:
            return name
        return self._new("C", f"{self.seed}#{name}")

    def _new(self, kind: str, old: str) -> str:
        digest = hashlib.sha256(old.encode()).hexdigest()
        if not self.worded:
            return kind + digest[:10]
        one, other = (WORDS[int(digest[k : k + 4], 16) % len(WORDS)] for k in (0, 4))
        # No number, which may be a count.
        mark = "".join(chr(ord("a") + int(letter, 16)) for letter in digest[8:14])
        if kind == "C":
            return f"{one.title().replace('_', '')}{other.title().replace('_', '')}{mark.title()}"
        return (f"{one}_{mark}", f"{one}{mark}", f"{mark}{one}_{other}")[int(digest[14], 16) % 3]


def architecture(model: Any, renaming: Renaming) -> Any:  # noqa: ANN401 - JSON is any
    """A stored model's JSON with every layer, model and class renamed."""
    names = set(layer_names(model))
    return _renamed(model, renaming, names)


def layer_names(value: Any) -> list[str]:  # noqa: ANN401 - JSON is any
    """Every name that a layer or model goes by, at any depth."""
    found: list[str] = []
    if isinstance(value, Mapping):
        if isinstance(value.get("class_name"), str):
            config = value.get("config")
            named = [
                value.get("name"),
                config.get("name") if isinstance(config, Mapping) and _is_layer(value) else None,
            ]
            found += [n for n in named if isinstance(n, str)]
        found += [n for v in value.values() for n in layer_names(v)]
    elif isinstance(value, Sequence) and not isinstance(value, str):
        found += [n for v in value for n in layer_names(v)]
    return found


def _is_layer(value: Mapping[str, Any]) -> bool:
    """An entry with a layer's config: an initializer's or a tensor's has no name of a layer."""
    config = value["config"]
    return "trainable" in config or "layers" in config or value["class_name"] == "InputLayer"


def _renamed(value: Any, renaming: Renaming, names: set[str], key: str = "") -> Any:  # noqa: ANN401
    if isinstance(value, Mapping):
        layer = isinstance(value.get("class_name"), str) and isinstance(
            value.get("config"), Mapping | list
        )
        out = {
            k: _renamed(v, renaming, names, key if key in PLACES else k) for k, v in value.items()
        }
        if layer and (isinstance(value["config"], list) or _is_layer(value)):
            out["class_name"] = renaming.class_name(value["class_name"])
        return out
    if isinstance(value, list | tuple):
        if key in ("function", "arguments"):
            return list(value)
        return [_renamed(v, renaming, names, key if key in PLACES else "") for v in value]
    if isinstance(value, str) and key in (*PLACES, "name") and value in names:
        return renaming.name(value)
    return value


#: Where JSON speaks of layers by name.
PLACES = ("inbound_nodes", "input_layers", "output_layers", "keras_history", "args", "kwargs")


def renamed(stored: Stored, renaming: Renaming) -> Stored:
    """The stored model with layers and classes renamed; weights keep their names, which lead nowhere now."""
    names = set(layer_names(stored.architecture))
    return stored._replace(
        architecture=architecture(stored.architecture, renaming),
        groups=tuple(g._replace(name=renaming.name(g.name)) for g in stored.groups),
        training=_training(stored.training, renaming, names),
    )


def told(stored: Stored, renaming: Renaming, known: Stored | None = None) -> Stored:
    """The same, weights' names going along: what of them is a layer's name is renamed.

    `known` is the model whose layers' names count, where some of them are gone from this one.
    """
    of_layers = set(layer_names((known or stored).architecture))
    twins = {
        f"backward_{name.removeprefix('forward_')}"
        for name in of_layers
        if name.startswith("forward_")
    }
    # Keras 1.2.0 names one of a Bidirectional's two layers.
    names = sorted(of_layers | twins, key=len, reverse=True)

    def weight(name: str) -> str:
        # A weight that stands in its group a second time.
        if again := NUMBERED_BYTES_NAME.fullmatch(name):
            return name.replace(again["name"], weight(again["name"]))
        head, _, tail = name.rpartition("/")
        parts = [_numbered(p, renaming, set(names)) or p for p in head.split("/")]
        if head:
            return "/".join([*parts, tail])
        layer = next((n for n in names if name.startswith(f"{n}_")), None)  # Keras 1
        return name if layer is None else renaming.name(layer) + name[len(layer) :]

    return _weights(renamed(stored, renaming), weight, renaming)


def _numbered(name: str, renaming: Renaming, names: set[str]) -> str | None:
    """A layer's new name, numbered as the old one is in its weights' names and where outputs share a layer."""
    stem, _, number = name.rpartition("_")
    if name in names:
        return renaming.name(name)
    return f"{renaming.name(stem)}_{number}" if stem in names and number.isdigit() else None


def _weights(stored: Stored, weight: Callable[[str], str], renaming: Renaming) -> Stored:
    def new(tensor: Tensor) -> Tensor:
        return tensor._replace(
            name=weight(tensor.name), owner=tuple(map(renaming.name, tensor.owner))
        )

    def of(group: Group) -> Group:
        return group._replace(tensors=tuple(map(new, group.tensors)))

    return stored._replace(groups=tuple(of(g) for g in stored.groups))


def _training(
    training: Mapping[str, Json] | None, renaming: Renaming, names: set[str]
) -> Mapping[str, Json] | None:
    """Losses and the like that are kept by output name."""
    if training is None:
        return None

    def of(value: Any, key: str = "") -> Any:  # noqa: ANN401 - JSON is any
        if isinstance(value, Mapping):
            outputs = {k: _numbered(k, renaming, names) for k in value}
            by_output = all(outputs.values())
            return {(outputs[k] if by_output else None) or k: of(v, k) for k, v in value.items()}
        if isinstance(value, list | tuple):
            return [of(v) for v in value]
        # A metric is called after its output: main_out_mae.
        longest = sorted(names, key=len, reverse=True)
        output = next(
            (n for n in longest if key == "name" and f"{value}".startswith(f"{n}_")), None
        )
        return value if output is None else renaming.name(output) + value[len(output) :]

    return {k: of(v, k) for k, v in training.items()}


def shuffled_slices(value: Any, seed: str, names: set[str]) -> Any:  # noqa: ANN401 - JSON is any
    """JSON with the code of the Lambdas called `names` made meaningless; their arguments stay."""
    if isinstance(value, Mapping):
        config = value.get("config")
        if (
            value.get("class_name") == "Lambda"
            and isinstance(config, Mapping)
            and config.get("name") in names
        ):
            digest = hashlib.sha256(f"{seed}{config['name']}".encode()).hexdigest()
            return {
                **value,
                "config": {**config, "function": _with_code(config.get("function"), digest)},
            }
        return {k: shuffled_slices(v, seed, names) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [shuffled_slices(v, seed, names) for v in value]
    return value


def _with_code(function: Any, code: str) -> Any:  # noqa: ANN401 - JSON is any
    if isinstance(function, Mapping):
        inner = function.get("config")
        return {
            **function,
            "config": {**inner, "code": code} if isinstance(inner, Mapping) else inner,
        }
    return [code, *function[1:]] if isinstance(function, list | tuple) else function


def lambdas(value: Any) -> set[str]:  # noqa: ANN401 - JSON is any
    """The names of all Lambda layers."""
    if isinstance(value, Mapping):
        config = value.get("config")
        own = (
            {config["name"]}
            if value.get("class_name") == "Lambda" and isinstance(config, Mapping)
            else set()
        )
        return own.union(*(lambdas(v) for v in value.values()))
    if isinstance(value, list | tuple):
        return set().union(*(lambdas(v) for v in value))
    return set()
