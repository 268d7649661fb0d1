"""Names in an output folder: the suffix is that of the container which is written."""

from __future__ import annotations

import pytest

from unnest.batch.output_places import OutputPlaces, place_in
from unnest.batch.walk import Task
from unnest.formats.base import Target
from unnest.options import Dialect, FixOptions


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


def test_beside_their_inputs_no_two_go_to_one_place() -> None:
    """--force would let one take the other's place."""
    places = OutputPlaces(FixOptions(keras="3", force=True))
    first, second, third = (places.of(Task(path)) for path in ("z/a.h5", "z/a.hdf5", "y/a.hdf5"))
    assert first == Task("z/a.h5")
    assert second.error is not None
    assert (second.error.code, third.error) == ("output-twice", None)
    assert "z/a.unnested.keras" in second.error.message


def test_each_keeps_its_own_suffix_where_its_container_stays() -> None:
    places = OutputPlaces(FixOptions(force=True))
    assert [places.of(Task(path)).error for path in ("a.h5", "a.hdf5", "a.keras", "a.json")] == [None] * 4
    assert places.of(Task("a.yaml")).error is not None
