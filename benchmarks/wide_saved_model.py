"""A large SavedModel out of a small genuine one: its hidden layer is made wide, wherever its width is written."""

from __future__ import annotations

import json
import math
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.corpus.unpacked import FIXTURES
from tests.makebundle import altered
from unnest.formats.tensorflow import protobuf_messages, read_sstable
from unnest.formats.tensorflow.protobuf_messages import Message

#: A perceptron of 4, WIDTH and 3 units without optimizer, in three towers. Nothing else in it has that number, but for
#: the names of what is saved, which are a constant.
FIXTURE = FIXTURES / "saved_model/tf23/saved_model-official-mlp-x3/parallel"
WIDTH = 5
#: Float32 values of its variables for each unit of the hidden layer: a column of (4, w), one of (w,), a row of (w, 3).
VALUES_A_UNIT = 4 + 1 + 3
ITEM = 4
#: Bytes of variables that are written at a time.
PIECE = bytes(range(256)) * 4096


def wide_saved_model(folder: Path, size: int) -> None:
    """A SavedModel with about `size` bytes of variables in a new folder: graph, configs and variables agree."""
    shutil.copytree(FIXTURE, folder)
    width = size // (VALUES_A_UNIT * ITEM)
    graph = folder / "saved_model.pb"
    model = protobuf_messages.parse("SavedModel", graph.read_bytes(), str(graph))
    _widen(model, width)
    graph.write_bytes(protobuf_messages.dump(model))
    altered(folder / "variables/variables.index", lambda pairs: _grow(pairs, folder, width))


def _messages(message: Message) -> Iterator[Message]:
    """A message and all within it; constants left out."""
    if message.DESCRIPTOR.name == "Node" and message.op == "Const":
        return
    yield message
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        if field.message_type.GetOptions().map_entry:
            parts = (
                value.values() if field.message_type.fields_by_name["value"].message_type else ()
            )
        else:
            parts = [value] if hasattr(value, "DESCRIPTOR") else value
        for part in parts:
            yield from _messages(part)


def _widen(root: Message, width: int) -> None:
    """Every shape in a message; the configs of layers; the arguments of functions, which are kept as bytes."""
    for message in _messages(root):
        match message.DESCRIPTOR.name:
            case "Dim" if message.size == WIDTH:
                message.size = width
            case "User" if message.metadata:
                message.metadata = json.dumps(_widened(json.loads(message.metadata), width))
            case "Function":
                for n, stored in enumerate(message.arg_attr):
                    arguments = protobuf_messages.parse("ArgAttr", stored, "argument")
                    _widen(arguments, width)
                    message.arg_attr[n] = protobuf_messages.dump(arguments)


def _widened(config: Any, width: int) -> Any:  # noqa: ANN401 - any JSON
    """The `units` of the hidden layer, and the shapes that its output and the next layer's kernel have."""
    if isinstance(config, dict):
        return {key: _widened(value, width) for key, value in config.items()}
    if isinstance(config, list):
        return [_widened(value, width) for value in config]
    return width if config == WIDTH else config


def _grow(pairs: dict[bytes, bytes], folder: Path, width: int) -> None:
    """Every wide variable anew, behind what the shard holds."""
    shard = folder / "variables/variables.data-00000-of-00001"
    for key in sorted(k for k in pairs if k):
        entry = protobuf_messages.parse("BundleEntry", pairs[key], "entry")
        if WIDTH not in [dimension.size for dimension in entry.shape.dim]:
            continue
        _widen(entry, width)
        entry.offset, entry.size = (
            shard.stat().st_size,
            ITEM * math.prod(d.size for d in entry.shape.dim),
        )
        entry.crc32c = read_sstable.mask(_append(shard, entry.size))
        pairs[key] = protobuf_messages.dump(entry)


def _append(path: Path, count: int) -> int:
    """So many bytes at the end of a file, and their CRC-32C."""
    crc = 0
    with path.open("ab") as file:
        for written in range(0, count, len(PIECE)):
            piece = PIECE[: count - written]
            file.write(piece)
            crc = read_sstable.extend(crc, piece)
    return crc
