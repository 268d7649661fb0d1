"""Names in an output folder: the suffix is that of the container which is written."""

from __future__ import annotations

import pytest

from unnest.formats.base import Target
from unnest.options import Dialect, FixOptions
from unnest.output_places import place_in
from unnest.walk import Task


@pytest.mark.parametrize(
    ("path", "to", "keras", "name"),
    [
        ("z/a.h5", None, "original", "a.h5"),
        ("z/a.h5", "h5", "original", "a.h5"),
        ("z/a.hdf5", "h5", "original", "a.hdf5"),
        ("z/a.h5", "keras", "original", "a.keras"),
        ("z/a.keras", "h5", "original", "a.h5"),
        ("z/a.h5", "weights", "original", "a.h5"),
        ("z/a.keras", "weights", "original", "a.weights.h5"),
        ("z/folder", "weights", "original", "folder.h5"),
        ("z/folder", "saved_model", "original", "folder"),
        ("z/a.h5", "json", "original", "a.json"),
        ("z/a.yaml", "json", "original", "a.json"),
        ("z/a.h5", None, "3", "a.keras"),
        ("z/a.json", None, "3", "a.json"),
        ("z/a.weights.h5", None, "3", "a.weights.h5"),
        ("z/a.h5", "weights", "3", "a.weights.h5"),
        ("z/a.h5", "json", "3", "a.json"),
    ],
)
def test_the_suffix_names_what_is_written(path: str, to: Target | None, keras: Dialect, name: str) -> None:
    options = FixOptions(to=to, keras=keras)
    assert place_in("out", Task(path), options) == f"out/{name}"
    assert place_in("out", Task(path.replace("z/", "z/deep/"), "z"), options) == f"out/deep/{name}"
