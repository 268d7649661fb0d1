"""TensorFlow.js models with one thing wrong each: one line, nothing read outside their folder, nothing left behind."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import unnest
from tests.corpus.unpacked import FIXTURES
from tests.judged import check_verdict

FIXTURES = FIXTURES / "tfjs"
Change = Callable[[dict[str, Any]], None]


def group(stored: dict[str, Any]) -> dict[str, Any]:
    """The first group of the manifest."""
    first: dict[str, Any] = stored["weightsManifest"][0]
    return first


def path(*names: object) -> Change:
    """Other files for the first group."""
    return lambda stored: group(stored).update(paths=[*names])


def weight(**changes: object) -> Change:
    """Another first weight."""
    return lambda stored: group(stored)["weights"][0].update(changes)


def twice(stored: dict[str, Any]) -> None:
    """Two groups over the same bytes."""
    stored["weightsManifest"].append(stored["weightsManifest"][0])


def overlap(stored: dict[str, Any]) -> None:
    """Two groups of other weights over the same bytes."""
    renamed = [{**w, "name": w["name"] + "_again"} for w in group(stored)["weights"]]
    stored["weightsManifest"].append(
        {"paths": ["./" + group(stored)["paths"][0]], "weights": renamed}
    )


def a_name_twice(stored: dict[str, Any]) -> None:
    """One name for two weights."""
    group(stored)["weights"][1]["name"] = group(stored)["weights"][0]["name"]


def one_less(stored: dict[str, Any]) -> None:
    """Bytes that no weight accounts for."""
    group(stored)["weights"].pop()


CHANGES: dict[str, tuple[Change, str]] = {
    "a missing file": (path("group1-shard9of9.bin"), "missing-file"),
    "out of the folder": (path("../secret.bin"), "link"),
    "out of the folder by a way in": (path("./a/../../secret.bin"), "link"),
    "an absolute path": (path("/etc/passwd"), "link"),
    "a URL": (path("https://example.org/group1.bin"), "link"),
    "a file URL": (path("file:///etc/passwd"), "link"),
    "a drive": (path("C:/secret.bin"), "link"),
    "a path of Windows": (path("..\\secret.bin"), "damaged-index"),
    "a null byte": (path("a\0b"), "damaged-index"),
    "no path": (path(""), "damaged-index"),
    "a number for a path": (path(7), "damaged-index"),
    "a folder": (path("."), "missing-file"),
    "no files": (path(), "truncated"),
    "terabytes": (weight(shape=[1 << 40, 1 << 40]), "truncated"),
    "more than there is": (weight(shape=[3, 3, 1, 5]), "truncated"),
    "less than there is": (weight(shape=[3]), "damaged"),
    "a weight that is gone": (one_less, "damaged"),
    "a number without end": (weight(shape=[1 << 400]), "damaged-index"),
    "a shape below zero": (weight(shape=[-3, 3, 1, 4]), "damaged-index"),
    "a shape of text": (weight(shape=["3", 3, 1, 4]), "damaged-index"),
    "a shape of truth": (weight(shape=[True, 3, 3, 4]), "damaged-index"),
    "no shape": (weight(shape=None), "damaged-index"),
    "100 axes": (weight(shape=[1] * 100), "damaged-index"),
    "text for a weight": (weight(dtype="string"), "dtype"),
    "an unknown type": (weight(dtype="float8"), "dtype"),
    "a list for a type": (weight(dtype=[]), "dtype"),
    "a longer type": (weight(dtype="complex64"), "truncated"),
    "quantized to nothing": (weight(quantization={}), "dtype"),
    "quantized to something else": (weight(quantization={"dtype": "int4"}), "dtype"),
    "quantized whole numbers": (
        weight(dtype="int32", quantization={"dtype": "uint8", "scale": 0.5, "min": 0}),
        "dtype",
    ),
    "no scale": (weight(quantization={"dtype": "uint8", "min": 0}), "damaged-index"),
    "a scale without end": (
        weight(quantization={"dtype": "uint8", "min": 0, "scale": 10**400}),
        "damaged-index",
    ),
    "no number for a scale": (
        weight(quantization={"dtype": "uint8", "min": 0, "scale": float("nan")}),
        "damaged-index",
    ),
    "no name": (weight(name=None), "damaged-index"),
    "a name twice": (a_name_twice, "damaged-index"),
    "a group twice": (twice, "damaged-index"),
    "overlapping groups": (overlap, "damaged-index"),
    "no manifest": (lambda stored: stored.update(weightsManifest={"paths": []}), "damaged-index"),
    "a number for a group": (lambda stored: stored.update(weightsManifest=[3]), "damaged-index"),
    "no lists in a group": (
        lambda stored: stored.update(weightsManifest=[{"paths": "a"}]),
        "damaged-index",
    ),
    "no model": (lambda stored: stored.update(modelTopology=3), "damaged"),
    "text for a model": (lambda stored: stored.update(modelTopology="{"), "bad-json"),
    "nothing at all": (
        lambda stored: stored.update(modelTopology=None, weightsManifest=[]),
        "not-keras",
    ),
    "a graph model": (lambda stored: stored.update(format="graph-model"), "not-keras"),
    "a graph": (
        lambda stored: stored.update(modelTopology={"node": [], "versions": {}}),
        "not-keras",
    ),
}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model to spoil, and a file that does not belong to it."""
    shutil.copytree(FIXTURES / "cnn-base", tmp_path / "m")
    size = (tmp_path / "m/group1-shard1of1.bin").stat().st_size
    (tmp_path / "secret.bin").write_bytes(b"s" * size)
    return tmp_path / "m/model.json"


@pytest.mark.parametrize("name", CHANGES)
def test_refused_in_one_line(name: str, model: Path) -> None:
    """Whoever asks, and whatever for."""
    change, code = CHANGES[name]
    stored = json.loads(model.read_text(encoding="utf-8"))
    change(stored)
    model.write_text(json.dumps(stored), encoding="utf-8")
    report = unnest.inspect(model)
    assert report.error is not None
    assert (report.container, report.verdict, report.error.code) == ("tfjs", "unreadable", code)
    assert "\n" not in report.error.message
    assert len(report.error.message) < 600
    done = unnest.fix(model, model.with_name("out.h5"))
    assert done.action == "failed"
    assert not model.with_name("out.h5").exists()


def beta_for_gamma(stored: dict[str, Any]) -> None:
    """One name for the other, of weights of one shape."""
    other = {"gamma": "beta", "beta": "gamma"}
    for each in group(stored)["weights"]:
        layer, _, name = each["name"].rpartition("/")
        each["name"] = f"{layer}/{other.get(name, name)}"


def reordered(names: list[str]) -> Change:
    """The weights of the manifest in another order, whose bytes stay where they are."""
    return lambda stored: group(stored)["weights"].sort(
        key=lambda w: names.index(w["name"].rpartition("/")[2])
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda stored: group(stored)["weights"].reverse(),
        reordered(["kernel", "bias", "beta", "gamma", "moving_mean", "moving_variance"]),
        beta_for_gamma,
    ],
    ids=["backwards", "by kind", "beta for gamma"],
)
def test_an_order_that_no_writer_has_is_refused(change: Change, model: Path) -> None:
    """TensorFlow.js goes by names, Keras by places: where these say two things nothing is written."""
    stored = json.loads(model.read_text(encoding="utf-8"))
    change(stored)
    model.write_text(json.dumps(stored), encoding="utf-8")
    check_verdict(unnest.inspect(model), "clean")
    done = unnest.fix(model, model.with_name("out.h5"))
    assert done.error is not None
    assert (done.action, done.error.code) == ("refused", "weights-ambiguous")
    assert not model.with_name("out.h5").exists()


def test_a_file_that_changes_meanwhile(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that changes after it was checked is not copied."""
    from unnest.formats.tfjs import manifest

    read = manifest._read  # noqa: SLF001 - there is no other moment

    def late(shard: manifest.Shard, start: int, count: int) -> bytes:
        with open(shard.path, "ab") as file:
            file.write(b"x")
        return read(shard, start, count)

    monkeypatch.setattr(manifest, "_read", late)
    done = unnest.fix(model, model.with_name("out.h5"))
    assert done.error is not None
    assert (done.action, done.error.code) == ("refused", "changed")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_keeps_nobody_waiting(model: Path) -> None:
    """It is no file."""
    os.unlink(model.with_name("group1-shard1of1.bin"))
    os.mkfifo(model.with_name("group1-shard1of1.bin"))
    report = unnest.inspect(model)
    assert report.error is not None
    assert report.error.code == "missing-file"
