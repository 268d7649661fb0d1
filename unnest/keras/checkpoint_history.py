"""History of a checkpoint's files, with the monitored value of each: a small hidden file beside the models.

.NAME.checkpoints JSON: [{"name", "value", "size", "checksum", "monitor"}, ..], oldest first

NAME is the last part of the callback's path, placeholders included. The models themselves stay as Keras writes them. An
entry is valid as long as the file of that name has its size and checksum. It is written before the model takes its
name, with the entries of the old files still there, so that a run killed at any point leaves a history that has the
existing file.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
import zlib
from dataclasses import asdict, dataclass, replace

from unnest.keras import checkpoint_storage

MAX_NAME_BYTES = 200
"""Bytes of the callback's path that the history's name has."""


@dataclass(frozen=True)
class HistoryEntry:
    """A file that was written: its path from the history's folder, and the monitored value, where it was known.

    `monitor` says of what: `min` or `max`, which is better, and the name, as in `min val_loss`.
    """

    name: str
    value: float | None
    size: int
    checksum: int
    monitor: str = ""


class History:
    """The history of one callback's files. `pattern` is the callback's path, with placeholders."""

    def __init__(self, pattern: str) -> None:
        pattern = _with_slashes(pattern)
        literal = pattern.partition("{")[0]
        self._folder = literal[: literal.rfind("/") + 1]
        self._name_pattern = pattern.removeprefix(self._folder)
        self._store = checkpoint_storage.store_of(pattern)
        self.path = f"{self._folder}.{_file_name(self._name_pattern)}.checkpoints"
        self.entries: list[HistoryEntry] = []
        self.monitor = ""

    def read(self) -> None:
        """Read the valid entries; a missing or foreign file has none."""
        try:
            with self._store.open(self.path) as file:
                lines = [HistoryEntry(**line) for line in json.loads(file.read())]
        except (OSError, ValueError, TypeError, checkpoint_storage.missing_file_error()):
            lines = []
        self.entries = [line for line in lines if self._holds(line)]

    def add(self, path: str, value: float | None, written: str) -> None:
        """Note that the local file `written` is about to become `path`."""
        mark = checkpoint_storage.fingerprint(checkpoint_storage.store_of(written), written)
        name = _with_slashes(path).removeprefix(self._folder)
        if mark is None or name.count("/") != self._name_pattern.count("/"):
            return  # another worker's, which goes to a temporary folder
        entry = HistoryEntry(name, value, *mark, self.monitor)
        self._write([*(e for e in self.entries if e != entry), entry])
        self.entries = [*(e for e in self.entries if e.name != name), entry]

    def values(self) -> list[float]:
        """Return the known values of the present monitor; other monitors' cannot be compared with them."""
        return [e.value for e in self.entries if e.value is not None and e.monitor == self.monitor]

    def surplus(
        self, last: int | None, best: int | None, *, lower_is_better: bool
    ) -> list[HistoryEntry]:
        """See `surplus`: the values that count are those of what is monitored now."""
        known = [e if e.monitor == self.monitor else replace(e, value=None) for e in self.entries]
        gone = surplus(known, last, best, lower_is_better=lower_is_better)
        return [entry for entry, each in zip(self.entries, known, strict=True) if each in gone]

    def drop(self, entry: HistoryEntry) -> None:
        """Delete what `entry` speaks of, unless another has taken its name since."""
        self.entries.remove(entry)
        path = self._folder + entry.name
        if self._holds(entry):
            for part in [path] if self._store.exists(path) else self._parts(path):
                self._store.remove(part)
        self._write(self.entries)

    def _parts(self, prefix: str) -> list[str]:
        """Return the files of the TF checkpoint with this prefix, the index first."""
        folder, name = prefix[: prefix.rfind("/") + 1], prefix[prefix.rfind("/") + 1 :]
        names = [
            n
            for n in self._store.names(folder)
            if n == f"{name}.index" or n.startswith(f"{name}.data-")
        ]
        return [folder + n for n in sorted(names, reverse=True)]

    def _holds(self, entry: HistoryEntry) -> bool:
        return checkpoint_storage.fingerprint(self._store, self._folder + entry.name) == (
            entry.size,
            entry.checksum,
        )

    def _write(self, entries: list[HistoryEntry]) -> None:
        with tempfile.TemporaryDirectory(prefix="unnest-") as folder:
            local = os.path.join(folder, "history")
            with open(local, "w", encoding="utf-8") as file:
                json.dump([asdict(entry) for entry in entries], file)
            self._store.upload(local, self.path)


def surplus(
    entries: list[HistoryEntry], last: int | None, best: int | None, *, lower_is_better: bool
) -> list[HistoryEntry]:
    """Return the entries that are neither among the `last` newest nor among the `best` best; None: no such rule.

    Without `last`, an entry without a known value stays.
    """
    if last is None and best is None:
        return []
    newest = entries[-last:] if last else [e for e in entries if e.value is None]
    with_value = [
        (e.value if lower_is_better else -e.value, e) for e in entries if e.value is not None
    ]
    ranked = [e for _, e in sorted(with_value, key=lambda pair: pair[0])]
    staying = [*newest, *ranked[: best or 0]]
    return [e for e in entries if e not in staying]


def _with_slashes(path: str) -> str:
    return path if checkpoint_storage.is_remote(path) else path.replace(os.sep, "/")


def _file_name(pattern: str) -> str:
    """Return the pattern as a file name for any system; long ones end in a checksum."""
    name = re.sub(r"[^\w.-]", "_", pattern)
    if len(name.encode()) <= MAX_NAME_BYTES:
        return name
    return f"{name.encode()[:MAX_NAME_BYTES].decode(errors='ignore')}.{zlib.crc32(pattern.encode()):08x}"
