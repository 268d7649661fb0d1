"""Paths that people have and type: a checkpoint by any of its files, text in place of a model."""

from __future__ import annotations

import gzip
import io
import json
import shutil
import zipfile
from pathlib import Path

import h5py
import pytest

import unnest
from tests import makeh5
from tests.conftest import Cli
from tests.corpus.unpacked import FIXTURES
from tests.h5compare import names_of
from tests.judged import check_verdict

CHECKPOINT = FIXTURES / "checkpoint/tf23/checkpoint-official-named-adam"


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """A checkpoint and its architecture, in a folder of their own."""
    for file in CHECKPOINT.iterdir():
        if file.name.startswith("parallel.ckpt") or file.suffix == ".json":
            shutil.copy(file, tmp_path)
    return tmp_path / "parallel.ckpt"


@pytest.mark.parametrize("part", ["", ".index", ".data-00000-of-00001"])
def test_a_checkpoint_by_any_of_its_files(checkpoint: Path, part: str) -> None:
    """The same report and the same output, which is called after the prefix."""
    named = str(checkpoint) + part
    seen = unnest.inspect(named)
    assert (seen.error, seen.container, seen.path) == (None, "checkpoint", named)
    done = unnest.fix(named, architecture=checkpoint.with_name("model.json"))
    assert (done.error, done.action) == (None, "fixed")
    assert done.output == str(checkpoint) + ".unnested.weights.h5"


def test_a_part_is_not_replaced(checkpoint: Path) -> None:
    """A single file cannot take the place of several."""
    before = {p.name: p.read_bytes() for p in checkpoint.parent.iterdir()}
    index = str(checkpoint) + ".index"
    done = unnest.fix(index, in_place=True, architecture=checkpoint.with_name("model.json"))
    assert done.error is not None
    assert (done.action, done.error.code) == ("refused", "cannot-write")
    assert {p.name: p.read_bytes() for p in checkpoint.parent.iterdir()} == before


def test_a_walk_takes_a_checkpoint_once(checkpoint: Path, cli: Cli) -> None:
    """By its prefix, whatever its files could be called."""
    done = cli("inspect", checkpoint.parent)
    assert [
        line.split()[1].rpartition("/")[2]
        for line in done.stdout.splitlines()
        if "parallel.ckpt" in line
    ] == ["parallel.ckpt"]


def test_a_file_that_is_called_like_a_part(tmp_path: Path) -> None:
    """Content decides: an index of something else makes no checkpoint."""
    (tmp_path / "words.index").write_text("a b c")
    (tmp_path / "words.data-00000-of-00001").write_text("a b c")
    for name in ("words.index", "words.data-00000-of-00001"):
        seen = unnest.inspect(tmp_path / name)
        assert seen.error is not None
        assert seen.error.code == "not-keras"


POINTER = """version https://git-lfs.github.com/spec/v1
oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393
size 548462424
"""


@pytest.mark.parametrize(
    ("text", "code", "advice"),
    [
        (POINTER, "lfs-pointer", "git lfs pull"),
        (
            "\n<!DOCTYPE html>\n<html lang=en><title>404</title>",
            "web-page",
            "download the file itself",
        ),
        ("\ufeff<HTML><body>Sign in</body></HTML>", "web-page", "download the file itself"),
        (
            '<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>',
            "web-page",
            "download the file itself",
        ),
        ("version: 2\n<html>", "damaged", "restore it from a copy"),
        ("<htmlish>", "damaged", "restore it from a copy"),
        (
            "\0" * 70_000,
            "damaged",
            "restore it from a copy",
        ),  # what is left of a file where the power went
        ("\0" * 5, "damaged", "restore it from a copy"),
    ],
)
@pytest.mark.parametrize("name", ["model.h5", "model.keras", "weights.hdf5"])
def test_text_in_the_place_of_a_model(
    tmp_path: Path, cli: Cli, name: str, text: str, code: str, advice: str
) -> None:
    """It is called what it is, in one line that says what to do; a walk does not pass it by."""
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    seen = unnest.inspect(path)
    assert seen.error is not None
    assert (seen.error.code, seen.verdict) == (code, "unreadable")
    assert advice in seen.error.message
    assert "\n" not in seen.error.message
    walked = cli("inspect", tmp_path)
    assert walked.returncode == 2
    assert advice in walked.stderr


SAVED_MODEL = FIXTURES / "saved_model/tfkeras/saved_model-carried-named-adam/parallel"


@pytest.mark.parametrize("part", ["saved_model.pb", "keras_metadata.pb"])
@pytest.mark.parametrize("is_relative", [True, False])
def test_a_part_of_a_saved_model(
    part: str, is_relative: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """People pass the file that they see: the folder is what is to be passed."""
    shutil.copytree(SAVED_MODEL, tmp_path / "sm")
    monkeypatch.chdir(tmp_path)
    folder = "sm" if is_relative else str(tmp_path / "sm")
    seen = unnest.inspect(f"{folder}/{part}")
    assert seen.error is not None
    assert seen.error.code == "part-of-model"
    assert seen.error.message.endswith(
        f"is one of the files of a SavedModel; pass its folder, {folder}"
    )


@pytest.mark.parametrize("part", ["variables", "variables.index", "variables.data-00000-of-00001"])
def test_variables_of_a_saved_model(part: str, tmp_path: Path) -> None:
    """They are a checkpoint, whose folder shows which model it is."""
    shutil.copytree(SAVED_MODEL, tmp_path / "sm")
    seen = unnest.inspect(tmp_path / "sm/variables" / part)
    assert [finding.code for finding in seen.findings] == ["needs-architecture", "variables-alone"]
    assert seen.findings[1].hint == f"pass the folder: {tmp_path / 'sm'}"


def test_data_of_a_checkpoint_without_its_index(checkpoint: Path) -> None:
    Path(f"{checkpoint}.index").unlink()
    seen = unnest.inspect(f"{checkpoint}.data-00000-of-00001")
    assert seen.error is not None
    assert seen.error.code == "missing-file"
    assert seen.error.message.endswith("parallel.ckpt.index is missing; copy it, too")


@pytest.mark.parametrize(
    ("members", "code", "advice"),
    [
        (["sm/saved_model.pb", "sm/variables/variables.index"], "compression", "unpack it first"),
        (["model.h5"], "compression", "unpack it first"),
        (["arr_0.npy", "arr_1.npy"], "other-format", "arrays of NumPy"),
        (["notes.txt"], "not-keras", "save the model again"),
        ([], "not-keras", "is no model file"),
    ],
)
def test_zip_files_of_another_kind(
    members: list[str], code: str, advice: str, tmp_path: Path
) -> None:
    with zipfile.ZipFile(tmp_path / "m.zip", "w") as archive:
        for name in members:
            archive.writestr(name, b"abc")
    seen = unnest.inspect(tmp_path / "m.zip")
    assert seen.error is not None
    assert seen.error.code == code
    assert advice in seen.error.message


def test_a_model_that_was_packed(tmp_path: Path) -> None:
    path = tmp_path / "model.h5.gz"
    path.write_bytes(gzip.compress(b"\x89HDF\r\n\x1a\n"))
    assert str(unnest.inspect(path).error).startswith("Problem(code='compression'")


def test_two_models_in_one_file(tmp_path: Path) -> None:
    """HDF5 ahead of a zip, of which Keras would take the latter; one called otherwise it would take for HDF5."""
    model = makeh5.parallel_file(tmp_path / "m.h5").read_bytes()
    other = FIXTURES / "keras_zip/tfkeras/keras_zip-carried-named-adam/base.keras"
    for name, code in (("m.keras", "damaged"), ("other.h5", None)):
        (tmp_path / name).write_bytes(model + other.read_bytes())
        seen = unnest.inspect(tmp_path / name)
        assert (seen.error and seen.error.code) == code
    (tmp_path / "plain.keras").write_bytes(model)
    check_verdict(unnest.inspect(tmp_path / "plain.keras"), "parallel")


def test_others_data_is_passed_by(cli: Cli, tmp_path: Path) -> None:
    """HDF5 that Keras never wrote is no damaged model."""
    with h5py.File(tmp_path / "data.h5", "w") as file:
        file["x"] = [1, 2]
    (tmp_path / "notes.txt").write_text("a b c")
    walked = cli("inspect", tmp_path)
    assert "data.h5" not in walked.stdout + walked.stderr
    assert "notes.txt" not in walked.stdout + walked.stderr


APART = [
    pytest.param(p.with_name("weights.h5"), p, id=str(p.parent.relative_to(FIXTURES)))
    for name in ("model.json", "template.json")
    for p in sorted(FIXTURES.glob(f"*/*/{name}"))
    if p.with_name("weights.h5").exists()
]


@pytest.mark.parametrize(("weights", "architecture"), APART)
def test_weights_and_their_architecture_make_a_model(
    weights: Path, architecture: Path, tmp_path: Path
) -> None:
    """A whole `.keras` of the template, in the original dialect; Keras 1's fits none."""
    done = unnest.fix(weights, tmp_path / "m.keras", architecture=architecture, keras="original")
    if "k122" in str(weights):
        assert done.error is not None
        assert (done.action, done.error.code) == ("refused", "cannot-convert")
        return
    assert (done.error, done.action) == (None, "fixed")
    assert unnest.inspect(tmp_path / "m.keras").contents == "model"
    assert unnest.fix(tmp_path / "m.keras", tmp_path / "m.h5").error is None
    with (
        h5py.File(tmp_path / "m.h5") as found,
        h5py.File(weights.with_name("base_weights.h5")) as base,
    ):
        assert lists(found["model_weights"]) == lists(base)


def lists(group: h5py.Group) -> dict[str, list[bytes]]:
    """The arrays of every layer that has some, in order."""
    held = {n: [group[n][w][()].tobytes() for w in names_of(group[n], "weight_names")]
            for n in names_of(group, "layer_names")}  # fmt: skip
    return {name: arrays for name, arrays in held.items() if arrays}


@pytest.mark.parametrize("which", ["model.json", "base.json"])
def test_a_checkpoint_and_its_architecture_make_a_model(checkpoint: Path, which: str) -> None:
    """By the parallel model's JSON or the template's; the state that it has no settings for is named."""
    done = unnest.fix(
        checkpoint, to="keras", keras="original", architecture=checkpoint.with_name(which)
    )
    assert (done.error, done.action) == (None, "fixed")
    assert done.output == str(checkpoint) + ".unnested.keras"
    assert "optimizer-dropped" in {f.code for f in done.findings}


@pytest.mark.parametrize("stack", ["tf212", "tf215", "keras3"])
def test_weights_by_path_and_their_architecture_make_a_model(stack: str, tmp_path: Path) -> None:
    """The sub-trees move as they lie."""
    folder = next(
        (FIXTURES / "weights_h5" / stack).glob(
            "*-x3" if stack == "tf215" else "weights*-named-adam"
        )
    )
    for name in ("m.keras", "m.weights.h5"):
        done = unnest.fix(
            folder / "parallel.weights.h5",
            tmp_path / name,
            architecture=folder / "model.json",
            keras="original",
        )
        assert done.error is None
    with zipfile.ZipFile(tmp_path / "m.keras") as archive:
        config = json.loads(archive.read("config.json"))
        with (
            h5py.File(io.BytesIO(archive.read("model.weights.h5"))) as a,
            h5py.File(tmp_path / "m.weights.h5") as b,
        ):
            assert tree(a) == tree(b)
    assert (
        config["config"]["name"]
        == json.loads((folder / "case.json").read_text())["wrappers"][-1]["template"]
    )


def tree(file: h5py.File) -> dict[str, bytes | None]:
    """Every group and array of the layers, by path; an optimizer without settings is left out."""
    found: dict[str, bytes | None] = {}
    file.visititems(
        lambda n, o: found.__setitem__(n, o[()].tobytes() if hasattr(o, "shape") else None)
    )
    return {
        path: data for path, data in found.items() if not path.startswith(("optimizer", "metrics"))
    }
