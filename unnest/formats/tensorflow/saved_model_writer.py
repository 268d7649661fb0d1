"""The container `saved_model`: write what is cut out of a SavedModel, and compare what was written with the source."""

from __future__ import annotations

import os
from io import FileIO
from typing import ClassVar

from unnest.core.plan import Output
from unnest.errors import Failed, Unreadable
from unnest.files.copy_and_compare import copy_file
from unnest.files.portable_file_operations import write_all
from unnest.files.reflinks import are_clones
from unnest.files.write_errors import write_failed
from unnest.formats.container_interface import Container, OnBytes, Source
from unnest.formats.tensorflow.keras_metadata_json import METADATA
from unnest.formats.tensorflow.read_tensor_bundle import Bundle
from unnest.formats.tensorflow.saved_model_reader import (
    EXPORTED,
    GRAPH,
    VARIABLES_PREFIX,
    SavedModelSource,
)

#: True of the graph before it was cut, and of no other: these are not copied.
STALE = frozenset({GRAPH, METADATA, EXPORTED, "fingerprint.pb", "debug/saved_model_debug_info.pb"})


#: Bytes compared at a time.
CACHED = 1 << 18


class SavedModelContainer(Container):
    """Reads SavedModels; writes what is cut out of one."""

    name: ClassVar = "saved_model"
    suffix: ClassVar = ""
    folder: ClassVar = True

    def open(self, path: str) -> SavedModelSource:
        """Read everything but the tensors' bytes."""
        return SavedModelSource(path)

    def write(self, output: Output, source: Source, path: str, progress: OnBytes) -> None:
        """Write the source's serving graph with one tower; variables and assets are copied."""
        data = source.cut()
        try:
            for name in source.members:
                if name not in STALE:
                    _copy(os.path.join(source.path, name), os.path.join(path, name), progress)
            os.makedirs(path, exist_ok=True)
            with open(os.path.join(path, GRAPH), "xb", buffering=0) as file:
                write_all(file, data)
        except OSError as e:
            raise write_failed(path, e) from e

    def verify(
        self, output: Output, source: Source, path: str, progress: OnBytes
    ) -> tuple[str, ...]:
        """Read the graph back, and compare every other file with the source's. Return what was compared.

        Raises Failed.
        """
        assert isinstance(source, SavedModelSource)
        with self.open(path) as written:
            if written.graph_bytes != source.cut():
                raise Failed(
                    "read-back",
                    f"{path}: the graph reads back differently; the disk may be failing",
                )
            shards = set(_shards(written.bundle))
            if written.bundle is not None and source.bundle is not None:
                are_cloned = all(
                    are_clones(os.path.join(source.path, n), os.path.join(path, n)) for n in shards
                )
                # Of clones the source's are read: they may be in memory, and are the same blocks.
                _check_bundle(source.bundle if are_cloned else written.bundle, path, progress)
            for name in source.members:
                # The shards' tensors have been held against the index's checksums, as have the source's thereby.
                if name not in STALE | shards and not _same(
                    os.path.join(source.path, name), os.path.join(path, name), progress
                ):
                    raise Failed(
                        "read-back",
                        f"{path}: {name} reads back differently; the disk may be failing",
                    )
        return ("graph", "signatures", "weights")


def _shards(bundle: Bundle | None) -> list[str]:
    """Return the data files of a SavedModel, by their relative path."""
    if bundle is None:
        return []
    return [
        os.path.dirname(VARIABLES_PREFIX) + "/" + os.path.basename(f) for f in bundle.files()[1:]
    ]


def _check_bundle(bundle: Bundle, path: str, progress: OnBytes) -> None:
    """Read back every tensor and compare its checksum. Raises Failed."""
    for entry in bundle.entries.values():
        if entry.dtype == "string":
            bundle.strings(entry.key)
            continue
        try:
            for piece in entry.pieces:
                for block in bundle.piece_blocks(entry, piece):
                    progress(len(block))
        except Unreadable as e:
            raise Failed(
                "checksum",
                f"{path}: {entry.key!r} is not what its checksum says, in the source or in the copy; copy it again",
            ) from e


def _copy(source_path: str, target: str, progress: OnBytes) -> None:
    os.makedirs(os.path.dirname(target), exist_ok=True)
    progress(copy_file(source_path, target))


def _same(left: str, right: str, progress: OnBytes) -> bool:
    """Return True if two files are equal, compared through two buffers that stay in the processor's cache."""
    left_buffer, right_buffer = bytearray(CACHED), bytearray(CACHED)
    with open(left, "rb", buffering=0) as left_file, open(right, "rb", buffering=0) as right_file:
        size = os.fstat(left_file.fileno()).st_size
        if os.fstat(right_file.fileno()).st_size != size:
            return False
        while size:
            if size < len(left_buffer):
                left_buffer, right_buffer = bytearray(size), bytearray(size)
            if (
                not (_filled(left_file, left_buffer) and _filled(right_file, right_buffer))
                or left_buffer != right_buffer
            ):
                return False
            size -= len(left_buffer)
            progress(len(left_buffer))
    return True


def _filled(file: FileIO, buffer: bytearray) -> bool:
    view = memoryview(buffer)
    while view:
        count = file.readinto(view)
        if not count:
            return False
        view = view[count:]
    return True
