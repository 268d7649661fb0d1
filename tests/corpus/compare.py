"""A result held against the base that its own software wrote: one list of what differs, for every container.

What is not compared stands in `IGNORED` and in `tests/h5compare.py`, each with its reason.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import h5py
import numpy as np

from tests.h5compare import differences
from unnest.formats.open_container import open_container
from unnest.formats.tensorflow.saved_model_reader import SavedModelSource


def unlike(output: Path, base: Path, *, flat: bool = False) -> list[str]:
    """Return the differences between a result and its base, in words; [] if there are none.

    `flat`: weights without an architecture, read from names: layers come in the order of first appearance.
    """
    if base.suffix == ".npz":
        return tensors_missing(output, base)
    if flat:
        return layers_unlike(output, base)
    return differences(output, base) if base.suffixes == [".h5"] else archive_unlike(output, base)


def tensors_missing(output: Path, base: Path) -> list[str]:
    """Tensors of the base, dtype and shape aside, whose bytes are not in the result as often as there."""
    with np.load(base) as arrays:
        wanted = Counter(arrays[name].tobytes() for name in arrays.files)
        missing = wanted - tensor_bytes(output)
        return sorted(name for name in arrays.files if arrays[name].tobytes() in missing)


def tensor_bytes(path: Path) -> Counter[bytes]:
    """The bytes of every tensor of a model, its optimizer's state aside."""
    with open_container(str(path)).open(str(path)) as source:
        if isinstance(source, SavedModelSource) and source.bundle is not None:
            entries = (entry for entry in source.bundle.entries.values() if entry.dtype != "string")
            return Counter(b"".join(source.bundle.blocks(entry)) for entry in entries)
        state = {tensor.ref for tensor in source.stored.optimizer or ()}
        return Counter(
            b"".join(source.blocks(tensor)) for tensor in source.tensors if tensor.ref not in state
        )


def layers_unlike(output: Path, base: Path) -> list[str]:
    """Names of layers whose weights differ in name, order or bytes; layers without weights aside."""
    x, y = (_layers_with_weights(path) for path in (output, base))
    return sorted(name for name in {*x, *y} if x.get(name) != y.get(name))


def _layers_with_weights(path: Path) -> dict[str, list[tuple[str, bytes]]]:
    with open_container(str(path)).open(str(path)) as source:
        groups = [group for group in source.stored.groups if group.tensors]
        return {g.name: [(t.name, b"".join(source.blocks(t))) for t in g.tensors] for g in groups}


class Archive(NamedTuple):
    """The compared content of a `.keras` or a path-keyed `.weights.h5`; `config` is None for weights."""

    tensors: dict[str, tuple[str, tuple[int, ...], bytes]]
    config: Any
    members: dict[str, bytes]


def archive_unlike(output: Path, base: Path) -> list[str]:
    """Tensors, members, and the config where both are archives."""
    return [*members_unlike(output, base), *json_unlike(opened(output).config, opened(base).config)]


def members_unlike(output: Path, base: Path) -> list[str]:
    """Tensors by path, and the other members of the archives; not the config."""
    a, b = opened(output), opened(base)
    tensors = [
        f"tensor {n}"
        for n in sorted({*a.tensors, *b.tensors})
        if a.tensors.get(n) != b.tensors.get(n)
    ]
    return tensors + [
        f"member {n}"
        for n in sorted({*a.members, *b.members})
        if a.members.get(n) != b.members.get(n)
    ]


def opened(path: Path) -> Archive:
    """An archive, or weights alone."""
    if path.suffix != ".keras":
        return Archive(tensors_by_path(path), None, {})
    with zipfile.ZipFile(path) as archive:
        members = {
            n: archive.read(n)
            for n in archive.namelist()
            if n not in {"model.weights.h5", "config.json"}
        }
        version = json.loads(members["metadata.json"])["keras_version"]
        members["metadata.json"] = str(version).encode()  # the rest is the date
        weights = tensors_by_path(io.BytesIO(archive.read("model.weights.h5")))
        return Archive(weights, json.loads(archive.read("config.json")), members)


def tensors_by_path(file: Path | io.BytesIO) -> dict[str, tuple[str, tuple[int, ...], bytes]]:
    """Dtype, shape and bytes by path; not the states of metrics, which in a base are those of its own evaluation."""
    found = {}

    def keep(name: str, item: object) -> None:
        if isinstance(item, h5py.Dataset) and not name.startswith("metrics/"):
            data = np.asarray(item[()])
            text = item.dtype.kind == "O"
            found[name] = (
                str(item.dtype),
                item.shape,
                repr(data.tolist()).encode() if text else data.tobytes(),
            )

    with h5py.File(file) as f:
        f.visititems(keep)
    return found


def layers_of(config: Any) -> list[Any]:
    """Class and name of every layer, nested models included."""
    inner = config["config"]
    below = inner.get("layers", []) if isinstance(inner, dict) else []
    return [config["class_name"], inner.get("name"), [layers_of(entry) for entry in below]]


class Missing:
    """No value under this key."""

    def __repr__(self) -> str:
        return "missing"


def by_name(_: str, found: Any, wanted: Any) -> bool:
    """`adam`, and an Adam."""
    return (
        isinstance(found, str)
        and isinstance(wanted, dict)
        and wanted["class_name"].lower() == found.lower()
    )


def scaled(_: str, found: Any, wanted: Any) -> bool:
    """An optimizer, and the same inside a LossScaleOptimizer."""
    return isinstance(wanted, dict) and bool(wanted["config"].get("inner_optimizer") == found)


def listed(_: str, found: Any, wanted: Any) -> bool:
    """`[x, 0, 0]`, and a list of that."""
    return bool([found] == wanted)


def named_twice(place: str, found: Any, wanted: Any) -> bool:
    """`mae`, and `depth_mae` for the output `depth`."""
    output = place.removeprefix(".compile_config.metrics.").split("[", maxsplit=1)[0]
    return bool(wanted == f"{output}_{found}")


def numbers(_: str, found: Any, wanted: Any) -> bool:
    """Any two, or none."""
    return all(isinstance(v, int | Missing) for v in (found, wanted))


#: Differences between the config.json of a result and of its base that are the base's: where, which, and why.
IGNORED: tuple[tuple[str, Callable[[str, Any, Any], bool], str], ...] = (
    (r".*\.shared_object_id", numbers, "addresses in the writer's memory"),
    (
        r"\.compile_config\.optimizer",
        by_name,
        "the wrapper was compiled by name, the base with the optimizer of that",
    ),
    (
        r"\.compile_config\.optimizer",
        scaled,
        "the same: mixed precision had put a LossScaleOptimizer around it",
    ),
    (
        r"\.config\.input_layers",
        listed,
        "whether a person called Model with an input or with a list of one",
    ),
    (
        r"\.compile_config\.metrics\..*\.config\.name",
        named_twice,
        "compile renames the metric; the base used it again",
    ),
)


def json_unlike(a: Any, b: Any, place: str = "") -> list[str]:
    """Return the paths at which two documents differ."""
    if type(a) is type(b) and json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True):
        return []
    if any(re.fullmatch(where, place) and same(place, a, b) for where, same, _ in IGNORED):
        return []
    if isinstance(a, dict) and isinstance(b, dict):
        keys = sorted({*a, *b})
        return [
            t
            for k in keys
            for t in json_unlike(a.get(k, Missing()), b.get(k, Missing()), f"{place}.{k}")
        ]
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return [
            t
            for k, (x, y) in enumerate(zip(a, b, strict=True))
            for t in json_unlike(x, y, f"{place}[{k}]")
        ]
    return [f"{place}: {str(a)[:60]} != {str(b)[:60]}"]
