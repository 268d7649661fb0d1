"""The pre-commit hook: which files it looks at, what it says, and its exit code."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
import yaml

from tests import makeh5
from tests.corpus.unpacked import FIXTURES
from unnest import pre_commit

ROOT = Path(__file__).parents[1]
SAVED = FIXTURES / "saved_model/tf23/saved_model-official-named-adam/parallel"
NAMED = FIXTURES / "checkpoint/k224/saver-official-named-adam"


@pytest.mark.parametrize(
    ("path", "is_looked_at"),
    [
        ("m.h5", True), ("a/m.hdf5", True), ("m.keras", True), ("a/saved_model.pb", True), ("saved_model.pb", True),
        ("a/saved_model.pbtxt", True), ("model.json", True), ("m.yaml", True), ("m.yml", True), ("c.ckpt.index", True),
        ("not_saved_model.pb", False), ("frozen.pb", False), ("m.py", False), ("m.json5", False), ("m.h5.txt", False),
    ],
)  # fmt: skip
def test_which_files_git_passes_on(path: str, *, is_looked_at: bool) -> None:
    """By the pattern of the hook."""
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert (re.search(hook["files"], path) is not None) is is_looked_at


def test_a_saved_model_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its folder is named, and fixed into another."""
    shutil.copytree(SAVED, tmp_path / "m")
    files = [str(p) for p in sorted((tmp_path / "m").rglob("*")) if p.is_file()]
    assert pre_commit.main(files) == 1
    said = capsys.readouterr().out
    assert said.count("a multi-GPU parallel model") == 1
    assert f"unnest fix {tmp_path / 'm'}\n" in said


def test_a_checkpoint_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By any of its files; the graph in `.meta` decides."""
    for path in NAMED.glob("parallel.ckpt*"):
        shutil.copy(path, tmp_path)
    assert pre_commit.main([str(p) for p in sorted(tmp_path.iterdir())]) == 1
    said = capsys.readouterr().out
    assert said.count("a multi-GPU parallel model") == 1
    assert f"unnest fix {tmp_path / 'parallel.ckpt'}\n" in said


def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Other JSON, and what is no JSON, passes silently."""
    wrapped, plain, broken = (
        tmp_path / name for name in ("wrapped.json", "package.json", "tsconfig.json")
    )
    wrapped.write_text(json.dumps(makeh5.parallel(makeh5.template())))
    plain.write_text('{"name": "x"}')
    broken.write_text('{ // a comment\n "class_name": "config" }')
    assert pre_commit.main([str(plain)]) == 0
    assert capsys.readouterr().out == ""
    assert pre_commit.main([str(wrapped), str(plain)]) == 1
    assert f"unnest fix --in-place {wrapped}\n" in capsys.readouterr().out


def test_tensorflow_js(capsys: pytest.CaptureFixture[str]) -> None:
    """It is never replaced."""
    path = FIXTURES / "tfjs/cnn-parallel/model.json"
    assert pre_commit.main([str(path), str(path.with_name("case.json"))]) == 1
    assert f"unnest fix {path}\n" in capsys.readouterr().out
