"""A `.keras` that was never zipped: the folder that Keras 3 writes with `zipped=False`, and to the Hugging Face Hub.

KerasHub's presets have the same three files, and others beside them. What is written is a `.keras`. (Source:
saving_lib.py of Keras 3.15, files of it; preset_utils.py of KerasHub.)
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from unnest.budget import charge_memory
from unnest.errors import Unreadable
from unnest.formats.container_interface import TRANSFER_BLOCK
from unnest.formats.hdf5.guarded_file import GuardedFile
from unnest.formats.keras3.keras_model_source import (
    ASSETS,
    CONFIG,
    MAX_JSON,
    METADATA,
    WEIGHTS,
    KerasModelSource,
    stored_model,
)
from unnest.formats.keras3.path_keyed_tree import PathKeyedTree
from unnest.formats.parse_json import is_architecture, parse_object, read_bytes

#: Files below `assets` that count.
MOST_FILES, BYTES_A_FILE = 10_000, 600


class KerasFolderSource(KerasModelSource):
    """The folder of a model of Keras 3."""

    not_in_place = "is a folder, and what is written is a file"
    reformed = ".keras"
    written_as = "keras"

    def __init__(self, path: str) -> None:
        self.path = path
        config, metadata = (
            parse_object(self._text(name), f"{os.path.join(path, name)}")
            for name in (CONFIG, METADATA)
        )
        if not is_architecture(config):
            raise Unreadable("not-keras", f"{path}: {CONFIG} is not what Keras writes")
        version = metadata.get("keras_version")
        hdf5 = GuardedFile(os.path.join(path, WEIGHTS))
        try:
            tree = PathKeyedTree(hdf5, version if isinstance(version, str) else None)
            super().__init__(path, hdf5, tree, stored_model(config, metadata, tree))
            self._members = tuple(self._files())
        except BaseException:
            hdf5.close()
            raise

    def _text(self, name: str) -> str:
        path = os.path.join(self.path, name)
        try:
            return read_bytes(path, MAX_JSON, "config").decode("utf-8")
        except UnicodeDecodeError as e:
            raise Unreadable("bad-json", f"{path}: is not UTF-8 text, so no JSON of Keras") from e

    def _files(self) -> Iterator[str]:
        """Yield the three files, and those that layers keep beside their weights; no link leads out of the folder.

        Raises Unreadable.
        """
        yield from (METADATA, CONFIG, WEIGHTS)
        count = 0
        for parent, folders, names in os.walk(os.path.join(self.path, ASSETS)):
            folders.sort()
            for name in sorted(names):
                count += 1
                charge_memory(BYTES_A_FILE)
                path = os.path.join(parent, name)
                if count > MOST_FILES or not os.path.isfile(path):
                    raise Unreadable(
                        "not-a-file", f"{path}: is no regular file, or one of too many; remove it"
                    )
                yield os.path.relpath(path, self.path).replace(os.sep, "/")

    @property
    def members(self) -> Sequence[str]:
        """Names of the files as a zip would have them."""
        return self._members

    def member(self, name: str) -> Iterator[bytes]:
        """Yield the content of a file, in blocks. Raises Unreadable."""
        path = os.path.join(self.path, *name.split("/"))
        try:
            with open(path, "rb") as file:
                while block := file.read(TRANSFER_BLOCK):
                    yield block
        except OSError as e:
            raise Unreadable(
                "cannot-read", f"{path}: cannot be read ({e.strerror}); copy it again"
            ) from e

    def member_size(self, name: str) -> int:
        """Return the size of a member, in bytes."""
        return os.path.getsize(os.path.join(self.path, *name.split("/")))

    def parts(self) -> tuple[str, ...]:
        """The path of every file that is read."""
        return tuple(os.path.join(self.path, *name.split("/")) for name in self._members)
