"""Keras 3's sharded weights, as the one tree that they are the parts of."""

from __future__ import annotations

import os

from h5py import h5d

from unnest.errors import Unreadable
from unnest.formats.hdf5.dataset_record_and_limits import DatasetNode
from unnest.formats.hdf5.guarded_file import GuardedFile
from unnest.formats.hdf5.read_attributes import Attributes
from unnest.formats.keras3.weights_json_map import read_map

MIXED = "files of two saves are mixed; restore them from a copy"


class JoinedShards:
    """The groups and datasets of all shards; a group may be in several, a dataset is in one.

    `path` is that of the map, `files` those of its shards by their names. Raises Unreadable where a shard is missing or
    damaged, or holds other weights than the map says: Keras reads what the map says.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._map = read_map(path)
        self.files: dict[str, GuardedFile] = {}
        try:
            for name in self._map.files:
                self.files[name] = _opened(path, name)
            self._places = self._datasets_by_path()
            self._check_map()
        except BaseException:
            self.close()
            raise
        self.groups = set[str]().union(*(file.groups for file in self.files.values()))
        self.is_of_windows = any(file.is_of_windows for file in self.files.values())
        self.datasets: dict[str, DatasetNode] = {
            p: self.files[name].datasets[p] for p, name in self._places.items()
        }

    def _datasets_by_path(self) -> dict[str, str]:
        """Path of a dataset -> the name of its shard. Raises Unreadable."""
        places: dict[str, str] = {}
        for name, file in self.files.items():
            for path in file.datasets:
                if places.setdefault(path, name) != name:
                    raise Unreadable(
                        "duplicate-name",
                        f"{self.path}: /{path} is in {places[path]} and in {name}; {MIXED}",
                    )
        return places

    def _check_map(self) -> None:
        """Raise Unreadable unless each group's weights are in just the files that the map names for it."""
        found: dict[str, set[str]] = {}
        for path, name in self._places.items():
            found.setdefault(path.rpartition("/")[0], set()).add(name)
        said = self._map.files_by_group
        wrong = sorted(
            group for group in found.keys() | said.keys() if found.get(group) != said.get(group)
        )
        if wrong:
            what = f"the weights of /{wrong[0]} are not in the files that it names"
            raise Unreadable("missing-weight", f"{self.path}: {what}; {MIXED}")
        stored = sum(self.files[name].datasets[path].stored for path, name in self._places.items())
        if (told := self._map.total_size) > stored:
            what = f"announces {told:.0f} bytes of weights, and its files hold {stored}"
            raise Unreadable("missing-weight", f"{self.path}: {what}; {MIXED}")

    def attributes(self, path: str) -> Attributes:
        """Return the attributes of a group, which Keras writes into its first shard alone. Raises Unreadable."""
        of_shards = (file.attributes(path) for file in self.files.values() if path in file.groups)
        return next((attributes for attributes in of_shards if attributes), {})

    def holder(self, path: str) -> GuardedFile:
        """Return the shard that contains a dataset."""
        return self.files[self._places[path]]

    def dataset(self, path: str) -> h5d.DatasetID:
        """Open the dataset at a path."""
        return self.holder(path).dataset(path)

    def close(self) -> None:
        """Close all files."""
        for file in self.files.values():
            file.close()


def _opened(map_path: str, name: str) -> GuardedFile:
    path = os.path.join(os.path.dirname(map_path), name)
    if not os.path.isfile(path):
        raise Unreadable(
            "missing-file",
            f"{path}: missing; {os.path.basename(map_path)} is not complete without it: copy it, too",
        )
    return GuardedFile(path)
