"""The weights manifest of TensorFlow.js: which weights there are, and in which bytes of which files.

    [{"paths": ["group1-shard1of2.bin", "group1-shard2of2.bin"],
      "weights": [{"name": "dense/kernel", "shape": [4, 2], "dtype": "float32"}, ...]}, ...]

The files of a group hold its weights one behind the other, in this order, little-endian and without gaps; a weight may
begin in one file and end in the next. `quantization` in an entry says that its numbers are stored shorter.
(Source: write_weights.py and read_weights.py of tensorflowjs 0.8 to 4.22, io/types.ts of TensorFlow.js 4.22.)
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from unnest.budget import charge_memory
from unnest.core.model import Json, JsonObject
from unnest.errors import Unreadable
from unnest.files.write_errors import changed

#: dtype in the manifest -> NumPy's.
DTYPE_BY_MANIFEST_NAME = {"float32": "<f4", "int32": "<i4", "bool": "|b1", "float16": "<f2", "complex64": "<c8",
          "uint8": "|u1", "uint16": "<u2"}  # fmt: skip
#: dtypes that float32 weights are quantized to; those of whole numbers have `min` and `scale`.
AFFINE, HALF = ("uint8", "uint16"), "float16"
#: The group of an entry that is an optimizer's state. (Source: LayersModel.save of TensorFlow.js 4.22.)
OPTIMIZER_GROUP_NAME = "optimizer"
#: What a shape may be: HDF5 and NumPy take 32 axes.
MAX_AXES, MAX_LENGTH = 32, 1 << 48
#: The largest number of a float32.
MAX_FLOAT = 3.4028234e38
#: Bytes of Python's objects for an entry.
BYTES_AN_ENTRY = 1024

URL = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


class Quantization(NamedTuple):
    """Stored numbers stand for `number * scale + minimum`; float16 ones for themselves."""

    dtype: str
    scale: float = 1.0
    minimum: float = 0.0


class WeightEntry(NamedTuple):
    """A weight: shape, NumPy dtype as it is loaded, and its bytes in the files of its group, from `start` on."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    group: int
    start: int
    size: int
    quantization: Quantization | None = None
    is_optimizers: bool = False


class Shard(NamedTuple):
    """A file of a group, and what the system said of it when the manifest was read."""

    path: str
    status: os.stat_result


class Manifest(NamedTuple):
    """All weights, in the order of the manifest, and the files of each group."""

    entries: tuple[WeightEntry, ...]
    groups: tuple[tuple[Shard, ...], ...]

    def read(self, group: int, start: int, size: int) -> Iterator[bytes]:
        """Yield bytes of a group's files, from `start` on, in pieces. Raises Unreadable or Failed."""
        for shard in self.groups[group]:
            length = shard.status.st_size
            if start < length and size:
                count = min(size, length - start)
                yield _read(shard, start, count)
                start, size = 0, size - count
            else:
                start -= length


def _read(shard: Shard, start: int, count: int) -> bytes:
    """Return a piece of one file. Raises if it is not the file that was there before, Unreadable."""
    try:
        with open(shard.path, "rb", buffering=0) as file:
            status = os.fstat(file.fileno())
            if not os.path.samestat(status, shard.status) or status.st_size != shard.status.st_size:
                raise changed(shard.path)
            file.seek(start)
            data = file.read(count)
    except OSError as e:
        raise Unreadable(
            "cannot-read", f"{shard.path}: cannot be read ({e.strerror}); copy it again"
        ) from e
    if len(data) != count:
        raise changed(shard.path)
    return data


def read_manifest(path: str, value: Json) -> Manifest:
    """Return the manifest in the `model.json` at `path`. Raises Unreadable for a missing file, or another length."""
    if not isinstance(value, list):
        raise _damaged(path, "is no list of groups")
    entries: list[WeightEntry] = []
    groups: list[tuple[Shard, ...]] = []
    names: set[str] = set()
    paths: set[str] = set()
    for number, group in enumerate(value):
        if not isinstance(group, Mapping):
            raise _damaged(path, f"group {number + 1} is no object")
        weights, files = group.get("weights"), group.get("paths")
        if not isinstance(weights, list) or not isinstance(files, list):
            raise _damaged(path, f"group {number + 1} lists no paths or no weights")
        charge_memory(BYTES_AN_ENTRY * (len(weights) + len(files)))
        shards = tuple(_shard(path, file) for file in files)
        for shard in shards:
            if shard.path in paths:
                raise _damaged(path, f"names {os.path.basename(shard.path)} twice")
            paths.add(shard.path)
        start = 0
        for weight in weights:
            entry = _entry(path, weight, number, start)
            if entry.name in names:
                raise _damaged(path, f"lists the weight {entry.name[:80]!r} twice")
            names.add(entry.name)
            entries.append(entry)
            start += entry.size
        stored = sum(shard.status.st_size for shard in shards)
        if stored != start:
            raise Unreadable(
                "truncated" if stored < start else "damaged",
                _wrong_length(path, shards, start, stored),
            )
        groups.append(shards)
    return Manifest(tuple(entries), tuple(groups))


def _wrong_length(path: str, shards: Sequence[Shard], promised: int, stored: int) -> str:
    files = os.path.basename(shards[0].path) if shards else "no file"
    more = f" and {len(shards) - 1} more" if len(shards) > 1 else ""
    return (
        f"{path}: promises {promised} bytes of weights in {files}{more}, which have {stored}; "
        "copy all files of the model again"
    )


def _shard(path: str, name: Json) -> Shard:
    """Return a file that the manifest names, in or below the folder of `model.json`. Raises Unreadable."""
    if not isinstance(name, str) or not name or "\0" in name or "\\" in name:
        raise _damaged(path, "names what is no file's path")
    parts = [part for part in name.split("/") if part != "."]
    if name.startswith("/") or URL.match(name) or ".." in parts or "" in parts:
        raise Unreadable(
            "link",
            f"{path}: the manifest names {name[:80]!r}, out of its folder; do not trust this file",
        )
    shard_path = os.path.join(os.path.dirname(path), *parts)
    if not os.path.isfile(shard_path):
        raise Unreadable(
            "missing-file",
            f"{shard_path}: missing; {os.path.basename(path)} is not complete without it: copy it, too",
        )
    try:
        return Shard(shard_path, os.stat(shard_path))
    except OSError as e:
        raise Unreadable(
            "cannot-open", f"{shard_path}: cannot be opened ({e.strerror}); check its permissions"
        ) from e


def _entry(path: str, weight: Json, group: int, start: int) -> WeightEntry:
    """Parse one weight.

    Raises:
        Unreadable: its name, shape or type is missing or impossible.

    """
    if not isinstance(weight, Mapping) or not isinstance(weight.get("name"), str):
        raise _damaged(path, "lists a weight without a name")
    name, shape, dtype = str(weight["name"]), weight.get("shape"), weight.get("dtype")
    if not isinstance(shape, list) or len(shape) > MAX_AXES or not all(map(_is_length, shape)):
        raise _damaged(path, f"gives {name[:80]!r} no shape")
    if not isinstance(dtype, str) or dtype not in DTYPE_BY_MANIFEST_NAME:
        raise Unreadable(
            "dtype",
            f"{path}: the weight {name[:80]!r} is {_type_name(dtype)}, which is no type of a Keras weight",
        )
    quantization = _quantization(path, name, dtype, weight)
    stored_dtype = dtype if quantization is None else quantization.dtype
    size = math.prod(shape) * int(DTYPE_BY_MANIFEST_NAME[stored_dtype][2:])
    is_optimizers = weight.get("group") == OPTIMIZER_GROUP_NAME
    sizes = tuple(n for n in shape if isinstance(n, int))
    return WeightEntry(
        name, sizes, DTYPE_BY_MANIFEST_NAME[dtype], group, start, size, quantization, is_optimizers
    )


def _quantization(path: str, name: str, dtype: str, weight: JsonObject) -> Quantization | None:
    """Return how a weight's numbers are stored, if that differs from its dtype.

    A quantized int32 is refused: the two readers round its halves differently, and no converter writes it.

    Raises:
        Unreadable: the quantization is unknown.

    """
    stored = weight.get("quantization")
    if stored is None:
        return None
    kind = stored.get("dtype") if isinstance(stored, Mapping) else None
    if not isinstance(stored, Mapping) or kind not in (*AFFINE, HALF) or dtype != "float32":
        types = f"{dtype}, quantized to {_type_name(kind)}"
        what = f"the weight {name[:80]!r} is {types}; convert the model again without it"
        raise Unreadable("dtype", f"{path}: {what}")
    if kind == HALF:
        return Quantization(HALF)
    scale, minimum = _number(stored.get("scale")), _number(stored.get("min"))
    if scale is None or minimum is None:
        raise _damaged(path, f"gives the quantized {name[:80]!r} no scale and min")
    return Quantization(str(kind), scale, minimum)


def _is_length(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_LENGTH


def _number(value: Json) -> float | None:
    """Return a number that float32 can hold; None for anything else."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    return float(value) if -MAX_FLOAT <= value <= MAX_FLOAT else None


def _type_name(value: Json) -> str:
    return value[:40] if isinstance(value, str) else "of no known type"


def _damaged(path: str, what: str) -> Unreadable:
    return Unreadable(
        "damaged-index", f"{path}: the weights manifest {what}; convert or save the model again"
    )
