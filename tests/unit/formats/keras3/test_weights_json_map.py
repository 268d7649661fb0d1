"""Sharded weights: a map and its shards are one model, or refused in one line that says which file is wrong."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import pytest

import unnest
from tests.conftest import Cli
from tests.corpus.unpacked import FIXTURES
from tests.judged import check_verdict
from unnest.errors import Unreadable
from unnest.formats.keras3 import weights_json_map

SAVED = FIXTURES / "weights_h5/keras3/sharded-carried-named-adam"
MAP = "parallel.weights.json"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The files of one save."""
    return Path(shutil.copytree(SAVED, tmp_path / "saved"))


def test_what_a_map_says(folder: Path) -> None:
    """Groups without the leading slash; a group whose weights are in several files has them all."""
    stored = weights_json_map.read_map(str(folder / MAP))
    by_group = stored.files_by_group
    assert by_group["optimizer/vars"] > {"parallel_00002.weights.h5"}
    assert by_group["layers/functional/layers/dense/vars"] == {"parallel_00000.weights.h5"}
    assert all(not group.startswith("/") for group in by_group)
    shards = sorted(path.name for path in folder.glob("parallel_*.weights.h5"))
    assert stored.files == tuple(shards)
    assert weights_json_map.files_of(str(folder / MAP)) == [
        str(folder / name) for name in (MAP, *shards)
    ]


@pytest.mark.parametrize(("name", "is_part"), [(MAP, True), ("parallel_00000.weights.h5", True),
                                               ("base.weights.h5", False), ("model.json", False)])  # fmt: skip
def test_whose_map_it_is(folder: Path, name: str, *, is_part: bool) -> None:
    """A shard's, if the map beside it names it."""
    assert weights_json_map.map_of(str(folder / name)) == (str(folder / MAP) if is_part else None)


def test_a_file_that_is_called_like_a_shard(folder: Path) -> None:
    """A file that the map does not name stands for itself: an older save had more shards."""
    stray = Path(shutil.copy(folder / "base.weights.h5", folder / "parallel_00099.weights.h5"))
    assert weights_json_map.map_of(str(stray)) is None
    seen = unnest.inspect(stray)
    assert (seen.error, seen.verdict) == (None, "clean")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_a_pipe_in_the_place_of_the_map(folder: Path) -> None:
    """No map follows: the shard stands for itself."""
    (folder / MAP).unlink()
    os.mkfifo(folder / MAP)
    assert weights_json_map.map_of(str(folder / "parallel_00000.weights.h5")) is None


def test_the_index_of_another_format(tmp_path: Path) -> None:
    """Others have a map of weights, too, in files of their own."""
    path = tmp_path / "model.weights.json"
    path.write_text(
        '{"metadata": {"total_size": 1}, "weight_map": {"a": "model-00001-of-00002.safetensors"}}'
    )
    assert weights_json_map.map_of(str(path)) is None
    seen = unnest.inspect(path)
    assert seen.error is not None
    assert seen.error.code == "not-keras"


Change = Callable[[dict[str, Any]], object]


@pytest.mark.parametrize(
    ("change", "code", "says"),
    [
        (lambda names: names.clear(), "not-keras", "not of a model"),
        (lambda names: names.update({"/vars": []}), "damaged-index", "names no file for /vars"),
        (lambda names: names.update({"/vars": [1]}), "damaged-index", "beside it for /vars"),
        (
            lambda names: names.update({"/vars": "../x_00000.weights.h5"}),
            "damaged-index",
            "beside it for /vars",
        ),
        (
            lambda names: names.update({"/vars": "/etc/x_00000.weights.h5"}),
            "damaged-index",
            "beside it for /vars",
        ),
        (
            lambda names: names.update({"/vars": "..\\x_00000.weights.h5"}),
            "damaged-index",
            "beside it for /vars",
        ),
        (
            lambda names: names.update({"/vars": "base.weights.h5"}),
            "damaged-index",
            "beside it for /vars",
        ),
        (
            lambda names: names.update({"/vars": "x_00000.weights.h5"}),
            "missing-file",
            "x_00000.weights.h5: missing",
        ),
        (
            lambda names: names.update({"/vars": "parallel_00000.weights.h5"}),
            "missing-weight",
            "weights of /vars",
        ),
        (lambda names: names.popitem(), "missing-weight", "weights of /optimizer/vars"),
    ],
    ids=[
        "empty",
        "no-file",
        "number",
        "above",
        "elsewhere",
        "windows",
        "other",
        "absent",
        "too-many",
        "too-few",
    ],
)
def test_maps_that_lie(folder: Path, change: Change, code: str, says: str) -> None:
    """A map leads to files beside it, and names for each group just those that its weights are in."""
    stored = json.loads((folder / MAP).read_text())
    change(stored["weight_map"])
    (folder / MAP).write_text(json.dumps(stored))
    seen = unnest.inspect(folder / MAP)
    assert seen.error is not None
    assert (seen.verdict, seen.error.code) == ("unreadable", code)
    assert says in seen.error.message
    assert "\n" not in seen.error.message


def test_a_shard_that_the_map_forgot(folder: Path) -> None:
    """Of a group that lies in several, which the map's own total shows."""
    stored = json.loads((folder / MAP).read_text())
    stored["weight_map"]["/optimizer/vars"].pop()
    (folder / MAP).write_text(json.dumps(stored))
    assert weights_json_map.read_map(str(folder / MAP)).total_size == 660
    seen = unnest.inspect(folder / MAP)
    assert seen.error is not None
    assert seen.error.code == "missing-weight"
    assert "announces 660 bytes of weights, and its files hold" in seen.error.message


def test_a_map_without_an_end(tmp_path: Path) -> None:
    """It is read as far as a map of a large model goes."""
    path = tmp_path / "x.weights.json"
    with path.open("wb") as file:
        file.write(b'{"weight_map": {"/vars": "x_00000.weights.h5"}')
        file.truncate(weights_json_map.MAX_MAP + 1)
    with pytest.raises(Unreadable, match="is no map of weights") as refused:
        weights_json_map.read_map(str(path))
    assert refused.value.code == "too-large"


def test_files_of_two_saves(folder: Path) -> None:
    """A weight that is in two files is in none for certain."""
    with h5py.File(folder / "parallel_00000.weights.h5", "r+") as first:
        first.create_dataset("optimizer/vars/7", data=1.0)
    seen = unnest.inspect(folder / MAP)
    assert seen.error is not None
    assert seen.error.code == "duplicate-name"
    assert "/optimizer/vars/7 is in parallel_00000.weights.h5 and in" in seen.error.message


def test_a_shard_is_guarded(folder: Path) -> None:
    """As every HDF5 file is: a link out of one is refused, and the shard named."""
    with h5py.File(folder / "parallel_00001.weights.h5", "r+") as shard:
        shard["layers/away"] = h5py.ExternalLink("/etc/passwd", "/")
    seen = unnest.inspect(folder / MAP)
    assert seen.error is not None
    assert seen.error.code == "link"
    assert "parallel_00001.weights.h5" in seen.error.message


def test_a_walk_takes_the_map_once(folder: Path, cli: Cli) -> None:
    """Its shards are passed by."""
    done = cli("inspect", folder)
    names = [line.split()[1].rpartition("/")[2] for line in done.stdout.splitlines()]
    assert names == ["base.weights.h5", "model.json", MAP]


def test_it_is_not_replaced(folder: Path) -> None:
    """One file cannot take the place of several."""
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    done = unnest.fix(folder / MAP, in_place=True, architecture=folder / "model.json")
    assert done.error is not None
    assert (done.action, done.error.code) == ("refused", "cannot-write")
    assert "is the map of several files" in done.error.message
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("shard", ["parallel_00000.weights.h5", "parallel_00001.weights.h5"])
def test_no_part_of_it_is_written_over(folder: Path, shard: str) -> None:
    """Not even with --force."""
    before = (folder / shard).read_bytes()
    done = unnest.fix(folder / MAP, folder / shard, architecture=folder / "model.json", force=True)
    assert done.error is not None
    assert done.error.code == "in-the-way"
    assert (folder / shard).read_bytes() == before


def test_the_output_is_beside_the_map(folder: Path) -> None:
    """Whichever of the files was named."""
    done = unnest.fix(folder / "parallel_00001.weights.h5", architecture=folder / "model.json")
    assert (done.error, done.action) == (None, "fixed")
    assert done.output == str(folder / "parallel.unnested.weights.h5")
    check_verdict(unnest.inspect(done.output), "clean")


def test_clean_weights_are_gathered(folder: Path) -> None:
    """Into the one file that is asked for, with all that Keras notes beside an array; else they stay as they are."""
    with h5py.File(folder / "base.weights.h5", "r+") as base:
        arrays = [path for path in paths_of(base) if isinstance(base[path], h5py.Dataset)]
        base[arrays[0]].attrs["dtype"] = "bfloat16"
    (folder / "base.weights.h5").rename(folder / "base_00000.weights.h5")
    groups = {"/" + path.rpartition("/")[0]: "base_00000.weights.h5" for path in arrays}
    (folder / "base.weights.json").write_text(json.dumps({"metadata": {}, "weight_map": groups}))
    before = sorted(path.name for path in folder.iterdir())
    assert unnest.fix(folder / "base.weights.json").action == "unchanged"
    assert sorted(path.name for path in folder.iterdir()) == before
    done = unnest.fix(folder / "base.weights.json", folder / "whole.weights.h5")
    assert (done.error, done.action) == (None, "converted")
    with (
        h5py.File(folder / "base_00000.weights.h5") as stored,
        h5py.File(folder / "whole.weights.h5") as written,
    ):
        assert paths_of(stored) == paths_of(written)
        assert [written[path][()].tobytes() for path in arrays] == [
            stored[path][()].tobytes() for path in arrays
        ]
        assert written[arrays[0]].attrs["dtype"] == "bfloat16"


def paths_of(file: h5py.File) -> list[str]:
    """Of all groups and datasets."""
    paths: list[str] = []
    file.visit(paths.append)
    return paths
