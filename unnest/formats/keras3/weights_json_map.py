"""The map of Keras 3's sharded weights: `save_weights("x.weights.json", max_shard_size=...)`.

The JSON says of each group with weights in which files of its folder they are; the files are `x_00000.weights.h5` and
so on, path-keyed as one file would be. A group's weights may lie in several. (Source: files of Keras 3.15.)
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import NamedTuple

from unnest.errors import Unreadable
from unnest.formats.parse_json import parse_object, read_bytes

SUFFIX = ".weights.json"
SHARD = re.compile(r"_\d{5}\.weights\.h5$")

#: Bytes of a map. It has a line for each layer.
MAX_MAP = 64 << 20
#: How the JSON begins, which other formats' indices share, ...
BEGINNING, KEY = 512, b'"weight_map"'
#: ... and what its first file is called, behind the first group's path.
FIRST_FILE, HDF5_NAME = 1 << 16, b'.weights.h5"'


class WeightMap(NamedTuple):
    """A map of sharded weights.

    `files_by_group`: group with weights, without the leading slash -> the names of the files that hold them.
    `total_size`: bytes of all weights; 0 if the map does not say. (Source: Keras 3.15 counts the bits of each type, a
    bool's as one; files hold a byte for these.)
    """

    files_by_group: Mapping[str, frozenset[str]]
    total_size: float

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the shards, each once, sorted."""
        return tuple(sorted(frozenset[str]().union(*self.files_by_group.values())))


def read_map(path: str) -> WeightMap:
    """Return the map at that path. Raises Unreadable."""
    stored = parse_object(
        read_bytes(path, MAX_MAP, "map of weights").decode("utf-8", "replace"), path
    )
    files, metadata = stored.get("weight_map"), stored.get("metadata")
    if not isinstance(files, Mapping) or not files:
        raise _damaged(path, "names no file")
    size = metadata.get("total_size") if isinstance(metadata, Mapping) else None
    return WeightMap(
        {group.lstrip("/"): _names(path, group, names) for group, names in files.items()},
        size if isinstance(size, (int, float)) else 0,
    )


def is_map(path: str) -> bool:
    """Return True if a file is such a map, by its suffix, which Keras requires, and its beginning.

    Raises:
        OSError: the file cannot be read.

    """
    # A pipe beside a shard would keep us waiting.
    if not path.endswith(SUFFIX) or not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        beginning = file.read(FIRST_FILE)
    return KEY in beginning[:BEGINNING] and HDF5_NAME in beginning


def map_of(path: str) -> str | None:
    """Return the path of the map that a file is, or that names it as a shard; None for any other file."""
    shard = SHARD.search(path)
    map_path = path if shard is None else path[: shard.start()] + SUFFIX
    try:
        is_part = is_map(map_path) and (
            shard is None or os.path.basename(path) in read_map(map_path).files
        )
    except (OSError, Unreadable):
        return None
    return map_path if is_part else None


def files_of(map_path: str) -> list[str]:
    """Return the paths of a map and its shards, as far as these exist. Raises Unreadable."""
    folder = os.path.dirname(map_path)
    return [
        map_path,
        *filter(os.path.isfile, (os.path.join(folder, name) for name in read_map(map_path).files)),
    ]


def _names(path: str, group: str, names: object) -> frozenset[str]:
    """Return the files of a group (a list, or one name), all in the map's own folder. Raises Unreadable."""
    listed = [names] if isinstance(names, str) else names
    if not isinstance(listed, list) or not listed:
        raise _damaged(path, f"names no file for {group}")
    for name in listed:
        if (
            not isinstance(name, str)
            or not SHARD.search(name)
            or os.path.basename(name) != name
            or "\\" in name
        ):
            raise _damaged(path, f"names what is no file of weights beside it for {group}")
    return frozenset(listed)


def _damaged(path: str, what: str) -> Unreadable:
    return Unreadable(
        "damaged-index", f"{path}: {what}; save the weights again, or restore the file from a copy"
    )
