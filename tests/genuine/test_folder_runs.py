"""`fix FOLDER` and `fix FOLDER -o ALL` do with each file what `fix FILE` does with it, whatever it is called."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import unnest
from tests.corpus.unpacked import FIXTURES
from unnest.batch.fix_many import fix_all
from unnest.files import staging_folder
from unnest.options import FixOptions

#: Name in the folder -> the fixture that is put there; some under a name of another container.
FILES = {
    "model.h5": "k224/official-cnn-adam/parallel.h5",
    "clean.h5": "k224/official-cnn-adam/base.h5",
    "model.bin": "k224/official-cnn-adam/parallel.h5",
    "renamed.hdf5": "keras_zip/keras3/keras_zip-carried-named-adam/parallel.keras",
    "by-path.h5": "weights_h5/keras3/weights_h5-carried-named-adam/parallel.weights.h5",
    "by-path.keras": "weights_h5/tf213/weights_h5-carried-named-adam/parallel.weights.h5",
    "one.weights.h5": "weights_h5/keras3/weights_h5-carried-named-adam/parallel.weights.h5",
    "lists.h5": "k209/official-cnn-weights/weights.h5",
    "lists.weights.h5": "k209/official-cnn-weights/weights.h5",
    "zipped.keras": "keras_zip/keras3/keras_zip-carried-named-adam/parallel.keras",
    "hdf5.keras": "k224/official-cnn-adam/parallel.h5",
    "text.yaml": "k209/kuza-multiio-yaml/model.yaml",
    "base.yml": "k209/kuza-multiio-yaml/base.yaml",
    "exported.v2": "saved_model/tf23/plain-official-named/parallel",
    "parallel.weights.json": "weights_h5/keras3/sharded-carried-named-adam/parallel*",
    "parallel.ckpt": "checkpoint/tf23/bundle-sharded/parallel.ckpt.*",
}
OPTIONS: list[dict[str, Any]] = [
    {},
    {"keras": "3"},
    {"to": "h5"},
    {"to": "weights"},
    {"to": "keras"},
    {"to": "json"},
]


def put(source: str, place: Path) -> None:
    """Copy a file, a folder, or several files beside each other."""
    if "*" in source:
        for part in FIXTURES.glob(source):
            shutil.copy(part, place.parent)
    elif (FIXTURES / source).is_dir():
        shutil.copytree(FIXTURES / source, place)
    else:
        shutil.copy(FIXTURES / source, place)


def content(path: Path) -> dict[str, bytes]:
    """The bytes of a file, or of all files in a folder."""
    return {
        str(p.relative_to(path)): p.read_bytes() for p in [path, *path.rglob("*")] if p.is_file()
    }


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("into", [False, True], ids=["beside", "all"])
def test_the_same_answer(
    options: dict[str, Any], into: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Action, error and bytes are the same, and nothing else is written."""
    monkeypatch.chdir(tmp_path)
    for name, source in FILES.items():
        for folder in ("zoo", "one"):
            place = Path(folder, Path(name).name.replace(".", "-"), name)
            place.parent.mkdir(parents=True)
            put(source, place)
    batch = {
        r.path: r for r in fix_all(["zoo"], FixOptions(output="all" if into else None, **options))
    }
    assert len(batch) == len(FILES)
    for path, result in batch.items():
        alone = unnest.fix(path.replace("zoo", "one", 1), **options)
        assert (result.action, result.error and result.error.code) == (
            alone.action,
            alone.error and alone.error.code,
        ), path
        if result.error is None and alone.output is not None:
            assert result.output is not None
            assert content(Path(result.output)) == content(Path(alone.output)), path
            assert Path(result.output).name.replace(".unnested", "") == Path(
                alone.output
            ).name.replace(".unnested", "")
        elif result.error is None and into:
            assert result.output is not None
            assert content(Path(result.output)) == content(Path(path)), path


def test_two_inputs_of_one_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Contents decide, not names: --force lets neither of two inputs take the other's place."""
    monkeypatch.chdir(tmp_path)
    Path("zoo").mkdir()
    weights = FIXTURES / FILES["one.weights.h5"]
    shutil.copy(weights, "zoo/a.h5")
    shutil.copy(weights, "zoo/a.weights.h5")
    shutil.copy(FIXTURES / FILES["model.h5"], "zoo/a.keras")
    told = [
        (r.path, r.action, r.error and r.error.code)
        for r in fix_all(["zoo"], FixOptions("all", force=True))
    ]
    assert told == [
        (f"zoo/a{suffix}", "fixed", None) for suffix in (".h5", ".keras", ".weights.h5")
    ]
    Path("two").mkdir()
    for name in ("a.h5", "a.hdf5"):
        shutil.copy(FIXTURES / FILES["model.h5"], Path("two", name))
    first, second = fix_all(["two"], FixOptions("new", force=True, keras="3"))
    assert (first.action, second.action) == ("fixed", "refused")
    assert second.error is not None
    assert second.error.code == "output-twice"
    assert not [path for path in Path().rglob("*") if staging_folder.STAGING_NAME.search(path.name)]
