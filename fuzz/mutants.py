"""Mutants of genuine files: a seed picks the file, the part, and what is changed in it.

One change in four knows nothing of the format; the others keep what a blind change would spoil first (a zip's
checksums, an index's checksums, the HDF5 structure), so that they get past it.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import tempfile
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import h5py
import numpy as np

from tests.corpus.unpacked import FIXTURES
from tests.makebundle import table
from unnest.formats.tensorflow import protobuf_messages, read_sstable

#: reader -> patterns of its fixtures.
READERS = {
    "h5": ("k*/*/parallel.h5", "k*/*/weights.h5", "k*/*/lookalike.h5", "tf*/*/parallel.h5"),
    "json": ("k*/*/*model.json", "k*/*/template.json"),
    "keras": ("keras_zip/**/*.keras",),
    "weights_h5": ("weights_h5/**/*.weights.h5",),
    "checkpoint": ("checkpoint/**/*.ckpt.index",),
    "saved_model": ("saved_model/**/saved_model.pb",),
}
#: Larger ones take the time of many.
LARGEST = 600_000
#: Numbers that are borders of something.
BORDERS = (
    0,
    1,
    2,
    7,
    8,
    127,
    128,
    255,
    256,
    32767,
    65535,
    1 << 31,
    (1 << 31) - 1,
    (1 << 32) - 1,
    (1 << 63) - 1,
)
#: What takes the place of a value in JSON.
VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 1 << 70, 0.5, "", "x" * 300, "\0\n\x1b[31m", [], {}, [[]], {"class_name": "Model"},
    [None], float("nan"),
)  # fmt: skip


def scratch_folder() -> tempfile.TemporaryDirectory[str]:
    """A folder of our own, in memory where there is such a place: a disk that others use costs more than a reader."""
    memory = Path("/dev/shm")  # noqa: S108 - a folder of our own is made in it
    return tempfile.TemporaryDirectory(
        prefix="unnest-fuzz-", dir=memory if os.access(memory, os.W_OK) else None
    )


@cache
def fixtures(reader: str) -> list[Path]:
    """The genuine files that a reader reads; a checkpoint by its index, a SavedModel by its graph."""
    found = {
        p
        for pattern in READERS[reader]
        for p in FIXTURES.glob(pattern)
        if p.stat().st_size < LARGEST
    }
    return sorted(found)


def mutant(reader: str, seed: int, folder: Path) -> Path:
    """Write one into an empty folder; what `unnest` is to be given."""
    random = Random(f"{reader} {seed}")
    genuine = random.choice(fixtures(reader))
    path, parts = _copied(reader, genuine, folder)
    spoiled: set[Path] = set()
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        part = random.choice(parts)
        knowing = KNOWING.get(part.suffix, _blind)
        change = random.choice((_blind, knowing, knowing, knowing))
        if change is not _blind and part in spoiled:
            change = (
                _blind  # HDF5's library, which makes these changes, may walk a broken heap for ever
            )
        try:
            change(random, part)
        except Exception:  # noqa: BLE001 - a genuine file may hold nothing of what this one wants to change
            change = _blind
            change(random, part)
        if change is _blind:
            spoiled.add(part)
    return path


def _copied(reader: str, genuine: Path, folder: Path) -> tuple[Path, list[Path]]:
    """(what is given to the command, the files that may be changed)."""
    if reader == "saved_model":
        shutil.copytree(genuine.parent, folder / "m")
        return folder / "m", [p for p in sorted((folder / "m").rglob("*")) if p.is_file()]
    if reader == "checkpoint":
        stem = genuine.name.removesuffix(".index")
        parts = [Path(shutil.copy(p, folder)) for p in sorted(genuine.parent.glob(stem + ".*"))]
        return folder / stem, parts
    copied = Path(shutil.copy(genuine, folder))
    return copied, [copied]


def _blind(random: Random, path: Path) -> None:
    """Bits, bytes, numbers, runs, the end."""
    data = bytearray(path.read_bytes())
    place = random.randrange(len(data) + 1)
    kind = random.randrange(7)
    if kind == 0:
        del data[place:]
    elif kind == 1:
        for _ in range(random.choice((1, 2, 8, 64))):
            if data:
                data[random.randrange(len(data))] ^= 1 << random.randrange(8)
    elif kind == 2:
        width = random.choice((1, 2, 4, 8))
        data[place : place + width] = (random.choice(BORDERS) & ((1 << 8 * width) - 1)).to_bytes(
            width, "little"
        )
    elif kind == 3:
        del data[place : place + random.choice((1, 2, 8, 500))]
    elif kind == 4:
        run = data[place : place + random.choice((1, 8, 100, 2000))]
        data[place:place] = run * random.choice((1, 1, 3, 50))
    elif kind == 5:
        data[place : place + 64] = bytes(
            random.randrange(256) for _ in range(random.choice((1, 4, 64)))
        )
    else:
        data[place : place + random.choice((4, 64, 512))] = bytes(random.choice((4, 64, 512)))
    path.write_bytes(data)


def _edited(random: Random, value: Any) -> Any:  # noqa: ANN401 - any JSON
    """The same JSON with one place changed."""
    places: list[tuple[Any, Any]] = []
    pending = [value]
    while pending:
        part = pending.pop()
        for key in part if isinstance(part, dict) else range(len(part)):
            places.append((part, key))
            if isinstance(part[key], dict | list):
                pending.append(part[key])
    if not places:
        return random.choice(VALUES)
    holder, key = random.choice(places)
    kind = random.randrange(4)
    if kind == 0:
        del holder[key]
    elif kind == 1:
        other, name = random.choice(places)
        if name in other if isinstance(other, dict) else name < len(other):
            holder[key] = json.loads(json.dumps(other[name]))
    elif kind == 2 and isinstance(holder, list):
        holder.insert(key, holder[key])
    else:
        holder[key] = random.choice(VALUES)
    return value


def _json(random: Random, path: Path) -> None:
    path.write_text(json.dumps(_edited(random, json.loads(path.read_text("utf-8")))), "utf-8")


def _hdf5(random: Random, path: Path) -> None:
    with h5py.File(path, "r+") as file:
        _edit_hdf5(random, file)


def _edit_hdf5(random: Random, file: h5py.File) -> None:
    """An attribute, a dataset or a group."""
    names: list[str] = [""]
    file.visit(names.append)
    objects = [file[n] if n else file for n in names]
    thing = random.choice([o for o in objects if len(o.attrs)] or objects)
    if len(thing.attrs) and random.random() < 0.7:
        key = random.choice(sorted(thing.attrs))
        value = thing.attrs[key]
        if isinstance(value, str | bytes) and key.endswith("config"):
            text = json.dumps(_edited(random, json.loads(value)))
            thing.attrs[key] = text.encode() if isinstance(value, bytes) else text
        elif isinstance(value, np.ndarray) and value.ndim == 1 and random.random() < 0.6:
            items = list(value)
            random.shuffle(items)
            thing.attrs[key] = np.array(items[: random.randrange(len(items) + 1)] or np.empty(0))
        else:
            thing.attrs[key] = random.choice(
                (3, 2.5, b"", "text", np.arange(4), np.array([b"a", b"b"]), h5py.Empty("f4"))
            )
        return
    name = random.choice(names[1:])
    old = file[name]
    del file[name]
    if random.random() < 0.5:
        file[name] = np.zeros(
            random.choice(((), (0,), (3,), (2, 2), (1, 1, 1, 1))),
            random.choice(("f4", "i8", "S3", "f2")),
        )
    elif random.random() < 0.5 and isinstance(old, h5py.Group):
        file.create_group(name)


def _zip(random: Random, path: Path) -> None:
    """A member changed, under a new checksum."""
    with zipfile.ZipFile(path) as archive:
        members = {i.filename: archive.read(i) for i in archive.infolist()}
    name = random.choice(sorted(members))
    if name.endswith(".json"):
        members[name] = json.dumps(_edited(random, json.loads(members[name]))).encode()
    elif name.endswith(".h5"):
        file = io.BytesIO(members[name])
        with h5py.File(file, "r+") as opened:
            _edit_hdf5(random, opened)
        members[name] = file.getvalue()
    if random.random() < 0.1:
        members[random.choice(("assets/x", "../x", "a/" * 300, "ü\n"))] = members.pop(name)
    method = random.choice((zipfile.ZIP_STORED, zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    with zipfile.ZipFile(path, "w", method) as archive:
        for member, data in members.items():
            archive.writestr(member, data)


def _index(random: Random, path: Path) -> None:
    """An entry changed, under new checksums."""
    pairs = read_sstable.entries(path.read_bytes(), str(path))
    key = random.choice(sorted(pairs))
    message = protobuf_messages.parse(
        "BundleEntry" if key else "BundleHeader", pairs[key], str(path)
    )
    _edit_message(random, message)
    pairs[key] = protobuf_messages.dump(message)
    if random.random() < 0.2:
        pairs[bytes(random.randrange(256) for _ in range(6))] = pairs.pop(key)
    path.write_bytes(table(pairs))


def _graph(random: Random, path: Path) -> None:
    """A field of a graph changed."""
    kinds = {"saved_model.pb": "SavedModel", "keras_metadata.pb": "KerasMetadata"}
    message = protobuf_messages.parse(
        kinds.get(path.name, "MetaGraph"), path.read_bytes(), str(path)
    )
    _edit_message(random, message)
    path.write_bytes(protobuf_messages.dump(message))


def _edit_message(random: Random, message: Any, depth: int = 0) -> None:  # noqa: ANN401 - built at run time
    """One field of it, or of a message below."""
    fields = message.ListFields()
    if not fields:
        return
    field, value = random.choice(fields)
    if hasattr(value, "keys"):
        key = random.choice(sorted(value))
        if random.random() < 0.2 or not hasattr(value[key], "ListFields"):
            del value[key]
        else:
            _edit_message(random, value[key], depth + 1)
    elif hasattr(value, "__len__") and not isinstance(value, str | bytes):
        at = random.randrange(len(value))
        if hasattr(value[at], "ListFields") and random.random() < 0.8:
            _edit_message(random, value[at], depth + 1)
        elif random.random() < 0.5:
            del value[at]
        else:
            value.append(value[at])
    elif hasattr(value, "ListFields"):
        _edit_message(random, value, depth + 1)
    else:
        _edit_scalar(random, message, field.name, value)


def _edit_scalar(random: Random, message: Any, name: str, value: Any) -> None:  # noqa: ANN401
    if isinstance(value, bool):
        setattr(message, name, not value)
    elif isinstance(value, int):
        setattr(message, name, random.choice((0, 1, -1, 2, 3, 7, value + 1, (1 << 31) - 1)))
    elif isinstance(value, str):
        setattr(message, name, random.choice(("", "x", value + ":1", value[:-1], value * 3)))
    elif isinstance(value, bytes):
        setattr(message, name, random.choice((b"", value[:-1], value + b"\0", value[::-1])))


KNOWING: dict[str, Callable[[Random, Path], None]] = {
    ".json": _json, ".h5": _hdf5, ".keras": _zip, ".index": _index, ".pb": _graph, ".meta": _graph,
}  # fmt: skip
