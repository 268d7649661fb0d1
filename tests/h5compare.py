"""Two Keras .h5 files side by side: equal in all that a reader of them can see, or told where not."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import h5py
import numpy as np

#: Differences that are left out of the comparison: where, between which values, and why.
IGNORED = (
    (
        r"model_config\.config\.layers\[0\]\.config\.name",
        r"input_layer(_\d+)?",
        "a Keras 3 Sequential makes its own input layer and numbers it by a count that runs through the process",
    ),
)

#: Attributes that must be equal as they are, where either file has them.
PLAIN_ATTRIBUTES = ("keras_version", "backend")


def differences(found: Path, wanted: Path) -> list[str]:
    """Return the differences between two files; [] if there are none."""
    with h5py.File(found) as a, h5py.File(wanted) as b:
        told = _texts(a, b)
        told += [f"root groups {sorted(a)} != {sorted(b)}"] if sorted(a) != sorted(b) else []
        if "model_weights" in a and "model_weights" in b:
            told += _texts(a["model_weights"], b["model_weights"], "model_weights")
            told += _layers(a["model_weights"], b["model_weights"])
        else:
            told += _layers(a, b)
        if "optimizer_weights" in a and "optimizer_weights" in b:
            told += _group(
                a["optimizer_weights"], b["optimizer_weights"], "optimizer_weights", names=False
            )
    return told


def names_of(group: h5py.Group, name: str) -> list[str]:
    """A list of names, whichever way it is stored."""
    keys = (
        [name]
        if name in group.attrs
        else sorted(
            (k for k in group.attrs if k.startswith(name)), key=lambda k: int(k[len(name) :])
        )
    )
    return [text(n) for k in keys for n in group.attrs[k]]


def text(value: str | bytes) -> str:
    """As h5py of any age stored it."""
    return value.decode() if isinstance(value, bytes) else str(value)


def weights_by_layer(path: Path) -> dict[str, list[tuple[str, str, bytes]]]:
    """Name, type and bytes of each weight of an .h5, in the order of every layer that has some."""
    with h5py.File(path) as file:
        layers = file["model_weights"]
        listed = {
            name: names_of(layers[name], "weight_names") for name in names_of(layers, "layer_names")
        }
        nodes = {
            name: [(w, layers[name][w]) for w in names] for name, names in listed.items() if names
        }
        return {
            name: [(w, node.dtype.str, node[()].tobytes()) for w, node in each]
            for name, each in nodes.items()
        }


def _texts(a: h5py.Group, b: h5py.Group, place: str = "/") -> list[str]:
    told = [
        f"{place}@{name}: {a.attrs.get(name)!r} != {b.attrs.get(name)!r}"
        for name in PLAIN_ATTRIBUTES
        if a.attrs.get(name) != b.attrs.get(name)
    ]
    for name in ("model_config", "training_config"):
        x, y = (json.loads(f.attrs[name]) if name in f.attrs else None for f in (a, b))
        told += _json(x, y, name)
    return told


def _json(a: Any, b: Any, place: str) -> list[str]:  # noqa: ANN401 - JSON is any
    """Return the paths of the first few differences between two documents."""
    if isinstance(a, dict) and isinstance(b, dict):
        keys = sorted({*a, *b})
        missing = object()
        return [
            t for k in keys for t in _json(a.get(k, missing), b.get(k, missing), f"{place}.{k}")
        ][:5]
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return [
            t
            for i, (x, y) in enumerate(zip(a, b, strict=True))
            for t in _json(x, y, f"{place}[{i}]")
        ][:5]
    same = (a == b and type(a) is type(b)) or any(
        re.fullmatch(where, place) and re.fullmatch(values, str(a)) and re.fullmatch(values, str(b))
        for where, values, _ in IGNORED
    )
    return [] if same else [f"{place}: {str(a)[:60]} != {str(b)[:60]}"]


def _layers(a: h5py.Group, b: h5py.Group) -> list[str]:
    x, y = names_of(a, "layer_names"), names_of(b, "layer_names")
    if x != y:
        return [f"layer_names {x} != {y}"]
    return [t for layer in x for t in _group(a[layer], b[layer], layer)]


def _group(a: h5py.Group, b: h5py.Group, place: str, *, names: bool = True) -> list[str]:
    x, y = names_of(a, "weight_names"), names_of(b, "weight_names")
    if (x != y) if names else (len(x) != len(y)):
        return [f"{place}: weight_names {x} != {y}"]
    return [f"{place}: {n} differs" for n, m in zip(x, y, strict=True) if not _same(a[n], b[m])]


def _same(a: h5py.Dataset, b: h5py.Dataset) -> bool:
    x, y = np.asarray(a[()]), np.asarray(b[()])
    return x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()


def stored_architecture(path: Path) -> str:
    """Return the JSON in an .h5."""
    with h5py.File(path) as file:
        text: str | bytes = file.attrs["model_config"]
    return text if isinstance(text, str) else text.decode()
