"""`.keras`: a zip of `config.json` (architecture and compile settings), `metadata.json` and `model.weights.h5`.

Keras stores the members as they are, uncompressed, so that the weights are read where they lie. The guards: the
directory is looked through before anything is read (`guarded_zip`); members pass through memory in blocks, and are held
against their checksums, the weights (which are not read from front to back) before anything is written of them.
"""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from typing import IO, ClassVar

from unnest.budget import charge_bytes, charge_memory, refund_on
from unnest.core.model import JsonObject, Stored
from unnest.core.plan import Move, Output, Rearranged
from unnest.errors import Failed, Unreadable
from unnest.files.file_reading import FileWindow
from unnest.files.portable_file_operations import write_all
from unnest.files.temporary_files import no_room_error, unnamed_file
from unnest.formats.container_interface import (
    MARK,
    MODEL_SUFFIXES,
    TRANSFER_BLOCK,
    Container,
    OnBytes,
    Source,
)
from unnest.formats.foreign_formats import foreign_zip
from unnest.formats.hdf5.fast_reader import PlainFile
from unnest.formats.hdf5.guarded_file import GuardedFile
from unnest.formats.hdf5.plain_layouts import NotPlain
from unnest.formats.keras3.guarded_zip import broken_member, checked_archive, data_start, open_file
from unnest.formats.keras3.keras_folder_source import KerasFolderSource
from unnest.formats.keras3.keras_model_source import (
    ASSETS,
    COMPILE,
    CONFIG,
    MAX_JSON,
    METADATA,
    WEIGHTS,
    KerasModelSource,
    stored_model,
)
from unnest.formats.keras3.layer_paths import join_path
from unnest.formats.keras3.path_keyed_tree import PathKeyedTree
from unnest.formats.keras3.path_keyed_writer import compare, write_weights
from unnest.formats.keras3.write_zip_member_in_place import ZipTarget, crc32_of
from unnest.formats.parse_json import dump, is_architecture, parse_object
from unnest.formats.translate_errors import writing_file

#: The time stamp of all members: the same model gives the same bytes.
EPOCH = (1980, 1, 1, 0, 0, 0)


def _other_zip(path: str, members: Sequence[str], missing: str) -> tuple[str, str]:
    """Return code and message for a zip that is not a Keras model."""
    if missing not in members and any(
        name.endswith((*MODEL_SUFFIXES, "/saved_model.pb")) for name in members
    ):
        return (
            "compression",
            f"{path}: is a zip file with a model in it; unpack it first, and pass the model",
        )
    foreign = foreign_zip(members)
    if foreign is not None:
        return foreign.code, foreign.error(path).message
    return (
        "not-keras",
        f"{path}: is a zip file, but no .keras: it must hold one {missing}; save the model again",
    )


class KerasSource(KerasModelSource):
    """Source that reads a `.keras` file."""

    hdf5: GuardedFile

    def __init__(self, path: str, *, fast: bool = False) -> None:
        """Open a file; `fast`: by the fast reader, if it can read it, as none of it is copied."""
        self.path = path
        self._file = open_file(path)
        self._unpacked: IO[bytes] | None = None
        try:
            self.archive = checked_archive(self._file, path)
            config, metadata = self._configs(path)
            self._weights = self._weights_window(path)
            hdf5 = (self._open_fast() if fast else None) or self.open_by_library()
            try:
                version = metadata.get("keras_version")
                tree = PathKeyedTree(hdf5, version if isinstance(version, str) else None)
                super().__init__(path, hdf5, tree, stored_model(config, metadata, tree))
            except BaseException:
                hdf5.close()
                raise
        except BaseException:
            self._close_files()
            raise

    def _configs(self, path: str) -> tuple[JsonObject, JsonObject]:
        """Return config and metadata. Raises Unreadable if a member is missing or occurs twice."""
        for member in (CONFIG, WEIGHTS):
            count = self.members.count(member)
            is_of_keras = not {CONFIG, WEIGHTS, METADATA}.isdisjoint(self.members)
            if not count and is_of_keras:
                raise Unreadable(
                    "incomplete", f"{path}: has lost its {member}; restore the file from a copy"
                )
            if count != 1:
                raise Unreadable(*_other_zip(path, self.members, member))
        config = parse_object(self._text(path, CONFIG), f"{path}: {CONFIG}")
        text = self._text(path, METADATA) if METADATA in self.members else "{}"
        metadata = parse_object(text, f"{path}: {METADATA}")
        if not is_architecture(config):
            raise Unreadable("not-keras", f"{path}: {CONFIG} is not what Keras writes")
        return config, metadata

    @property
    def members(self) -> Sequence[str]:
        """The names of the zip's members."""
        return self.archive.namelist()

    def _text(self, path: str, member: str) -> str:
        info = self.archive.getinfo(member)
        if info.file_size > MAX_JSON:
            raise Unreadable(
                "too-large", f"{path}: {member} claims {info.file_size} bytes, which no model's has"
            )
        charge_memory(info.file_size)
        try:
            return b"".join(self.member(member)).decode("utf-8")
        except UnicodeDecodeError as e:
            raise broken_member(path, member, e) from e

    def member(self, name: str) -> Iterator[bytes]:
        """Yield a member's content in blocks, checked against its checksum at the end. Raises Unreadable."""
        bytes_left = self.archive.getinfo(name).file_size
        try:
            with self.archive.open(name) as content:
                while block := content.read(TRANSFER_BLOCK):
                    bytes_left -= len(block)
                    if bytes_left < 0:
                        raise Unreadable(
                            "absurd-size", f"{self.path}: {name} is longer than it claims"
                        )
                    charge_bytes(len(block))
                    yield block
        except (
            zipfile.BadZipFile,
            zlib.error,
            EOFError,
            RuntimeError,
            ValueError,
            NotImplementedError,
        ) as e:
            raise broken_member(self.path, name, e) from e
        if bytes_left:
            raise Unreadable(
                "damaged-zip", f"{self.path}: {name} is shorter than it claims; copy it again"
            )

    def member_size(self, name: str) -> int:
        """Return the unpacked size of a member, in bytes."""
        return self.archive.getinfo(name).file_size

    def check_sums(self) -> None:
        """Read every member against its checksum: damaged content must not get a new, valid one."""
        for name in self.members:
            if name == WEIGHTS and self._unpacked is None:
                self._check_weights()
            elif not name.endswith("/"):
                for _ in self.member(name):
                    pass

    def _check_weights(self) -> None:
        info = self.archive.getinfo(WEIGHTS)
        start = data_start(self._file, info, self.path)
        if crc32_of(self._file, start, info.file_size) != info.CRC:
            raise Unreadable(
                "checksum", f"{self.path}: the checksum of {WEIGHTS} does not match; copy it again"
            )

    def _open_fast(self) -> PlainFile | None:
        """Open the weights with the fast reader; None if only HDF5's library can read them."""
        try:
            with refund_on(NotPlain):
                plain = PlainFile(self._weights_path, self._weights)
                plain.check_path_keyed()
                return plain
        except NotPlain:
            return None

    def open_by_library(self) -> GuardedFile:
        """Open the weights by HDF5's library. Raises Unreadable."""
        return GuardedFile(self._weights_path, self._weights, self._weights.size)

    @property
    def _weights_path(self) -> str:
        """The path of the weights, for messages."""
        return f"{self.path}: {WEIGHTS}"

    def _weights_window(self, path: str) -> FileWindow:
        """Return the weights where they lie in the zip; compressed ones are unpacked to an unnamed file."""
        info = self.archive.getinfo(WEIGHTS)
        if info.compress_type == zipfile.ZIP_STORED:
            start = data_start(self._file, info, path)
            return FileWindow(self._file, start, info.file_size)
        # Zipped again by someone: unpacked into a nameless file, within limits.
        self._unpacked = unnamed_file()
        for block in self.member(WEIGHTS):
            _write_unpacked(self._unpacked, block)
        self._unpacked.flush()
        return FileWindow(self._unpacked, 0, info.file_size)

    def _close_files(self) -> None:
        for file in (self._unpacked, self._file):
            if file is not None:
                file.close()

    def close(self) -> None:
        """Close the file."""
        super().close()
        self._close_files()


def _write_unpacked(unpacked: IO[bytes], block: bytes) -> None:
    try:
        write_all(unpacked, block)
    except OSError as e:
        raise no_room_error(e) from e


class KerasContainer(Container):
    """The container `.keras`: one zip."""

    name: ClassVar = "keras"
    suffix: ClassVar = ".keras"

    def open(self, path: str) -> KerasSource | KerasFolderSource:
        """Read the configs and the layout; the tensors stay in the file."""
        return KerasFolderSource(path) if os.path.isdir(path) else KerasSource(path)

    def write(self, output: Output, source: Source, path: str, progress: OnBytes) -> None:
        """Write the members in Keras's order, the weights last. Raises Failed."""
        model = output.model
        other_members = (
            _other_members(source.members, output.moves) if isinstance(output, Rearranged) else {}
        )
        metadata = _metadata(output, source)
        with writing_file(path), open(path, "x+b", buffering=0) as file:
            target = ZipTarget(file)
            with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
                _add(archive, METADATA, dump(metadata).encode())
                _add(archive, CONFIG, dump(_config(model)).encode())
                for new, old in sorted(other_members.items()):
                    _copy_member(archive, new, source, old)
                weights = zipfile.ZipInfo(WEIGHTS, EPOCH)
                target.add(
                    archive, weights, lambda rest: write_weights(rest, output, source, progress)
                )

    def verify(
        self, output: Output, source: Source, path: str, progress: OnBytes
    ) -> tuple[str, ...]:
        """Compare configs, tensors' bytes and members' checksums. Return what was compared. Raises Failed."""
        with self.open(path) as written:
            config = b"".join(written.member(CONFIG))
            if json.loads(config) != json.loads(dump(_config(output.model))):
                raise Failed(
                    "read-back", f"{path}: {CONFIG} reads back differently; the disk may be failing"
                )
            assert isinstance(written.hdf5, GuardedFile)
            compare(written.hdf5, output, source, path, progress)
        optimizer = ("optimizer",) if output.model.optimizer is not None else ()
        return ("architecture", "structure", "weights", *optimizer)


def _metadata(output: Output, source: Source) -> JsonObject:
    """Return `metadata.json`: the source's if its archive is rearranged, else the version of the writer."""
    if not isinstance(output, Rearranged) or not source.members:
        mark = {MARK: "a single-device model"} if output.model.is_ours else {}
        return {"keras_version": output.model.keras_version, **mark}
    if METADATA not in source.members:
        return {}
    return parse_object(
        b"".join(source.member(METADATA)).decode("utf-8"), f"{source.path}: {METADATA}"
    )


def _other_members(members: Sequence[str], moves: Sequence[Move]) -> dict[str, str]:
    """Return the other members (vocabularies, below their layers' paths): name in the output -> in the source."""
    deepest_first = sorted(moves, key=lambda m: len(m.source), reverse=True)
    new_names: dict[str, str] = {}
    for name in sorted(set(members) - {METADATA, CONFIG, WEIGHTS}):
        top, _, path = name.partition("/")
        move = next(
            (m for m in deepest_first if m.recursive and path.startswith(m.source + "/")), None
        )
        new = (
            name
            if move is None
            else f"{top}/{join_path(move.target, path[len(move.source) + 1 :])}"
        )
        if top != ASSETS or new in new_names:
            new = name
        new_names[new] = name
    return new_names


def _add(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    archive.writestr(zipfile.ZipInfo(name, EPOCH), data)


def _copy_member(archive: zipfile.ZipFile, name: str, source: Source, member: str) -> None:
    """Copy a member of the source under its new name."""
    info = zipfile.ZipInfo(name, EPOCH)
    info.file_size = source.member_size(member)
    with archive.open(info, "w") as target:
        for block in source.member(member):
            target.write(block)


def _config(model: Stored) -> JsonObject:
    assert model.architecture is not None
    if model.training is None:
        return model.architecture
    return {**model.architecture, COMPILE: model.training}


__all__ = ["KerasContainer", "KerasSource"]
