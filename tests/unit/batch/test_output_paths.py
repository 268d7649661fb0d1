"""Outputs of many files: each under its input's name, and never two in one place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests import makeh5
from unnest.batch.output_paths import OUTPUT_TWICE, OutputPaths, path_in_folder
from unnest.batch.walk import Task
from unnest.options import FixOptions


@pytest.mark.parametrize(
    ("task", "place"),
    [
        (Task("z/a.h5"), "out/a.h5"),
        (Task("z/deep/a.h5", "z"), "out/deep/a.h5"),
        (Task("z/folder/"), "out/folder"),
        (Task("s3://u:p@bucket/z/a.h5", "s3://bucket/z/"), "out/a.h5"),
    ],
)
def test_a_place_in_the_folder(task: Task, place: str) -> None:
    assert path_in_folder("out", task) == place


def errors(places: OutputPaths, *paths: str) -> list[str | None]:
    """Return the refusal of each path; None if it is accepted."""
    tasks = [places.with_output_path(Task(path)) for path in paths]
    return [task.error and task.error.code for task in tasks]


def test_beside_their_inputs_no_two_go_to_one_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """--force would let one take the other's place."""
    monkeypatch.chdir(tmp_path)
    Path("y").mkdir()
    for path in ("a.h5", "a.hdf5", "y/a.hdf5"):
        makeh5.parallel_file(Path(path))
    places = OutputPaths(FixOptions(keras="3", force=True))
    first, second, third = (
        places.with_output_path(Task(path)) for path in ("a.h5", "a.hdf5", "y/a.hdf5")
    )
    assert first == Task("a.h5")
    assert second.error is not None
    assert (second.error.code, third.error) == (OUTPUT_TWICE, None)
    assert "a.unnested.keras" in second.error.message


def test_each_keeps_its_own_suffix_where_its_container_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names of one stem differ by the container that is written."""
    monkeypatch.chdir(tmp_path)
    for path in ("a.h5", "a.hdf5"):
        makeh5.parallel_file(Path(path))
    text = json.dumps(makeh5.parallel(makeh5.template()))
    Path("a.json").write_text(text, encoding="utf-8")
    assert errors(OutputPaths(FixOptions(force=True)), "a.h5", "a.hdf5", "a.json") == [None] * 3
    assert errors(OutputPaths(FixOptions(force=True, to="json")), "a.h5", "a.hdf5", "a.json") == [
        None,
        OUTPUT_TWICE,
        OUTPUT_TWICE,
    ]


def test_in_a_store_the_names_decide() -> None:
    """In a store the names decide: no object is opened to learn what it holds."""
    assert errors(OutputPaths(FixOptions("out")), "s3://b/a.h5", "s3://b/a.keras") == [None, None]
    assert errors(OutputPaths(FixOptions("out", keras="3")), "s3://b/a.h5", "s3://b/a.hdf5") == [
        None,
        OUTPUT_TWICE,
    ]
