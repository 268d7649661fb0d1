"""Models of the Hugging Face Hub by URL, in and out in one command, against the Hub on loopback of `hub_server`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.hub_server import Files, served
from unnest.remote.urls import is_repository, with_repository_slash

pytest.importorskip("huggingface_hub")

BASE = "fixtures/k224/official-cnn-adam/base.h5"
PARALLEL = "fixtures/k224/official-cnn-adam/parallel.h5"
ROOT = Path(__file__).parents[1]

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def repositories() -> dict[str, Files]:
    """One to read, which has a model in a folder, too, and an empty one to write."""
    data = (ROOT / PARALLEL).read_bytes()
    zoo = {
        "README.md": b"# Models\n",
        "model.h5": data,
        "deep/other.h5": data,
        "notes.txt": b"none",
    }
    return {"me/zoo": zoo, "me/out": {"README.md": b"# Clean models\n"}}


@pytest.fixture
def run(repositories: dict[str, Files], tmp_path: Path) -> Iterator[Run]:
    """The program with no Hub but that one."""
    with served(repositories) as endpoint:
        environment = {
            **os.environ, "HF_ENDPOINT": endpoint, "HF_HOME": str(tmp_path / "cache"), "HF_TOKEN": "hf_secret",
            "HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        }  # fmt: skip

        def program(*args: str) -> subprocess.CompletedProcess[str]:
            command = [sys.executable, "-m", "unnest", *args]
            return subprocess.run(
                command, env=environment, capture_output=True, text=True, timeout=120, check=False
            )

        yield program


def test_in_and_out_in_one_command(
    run: Run, repositories: dict[str, Files], tmp_path: Path
) -> None:
    """The bytes that arrive are those of a local run; the source is unchanged."""
    before = dict(repositories["me/zoo"])
    done = run("fix", "hf://me/zoo/model.h5", "-o", "hf://me/out/clean.h5")
    assert done.returncode == 0, done.stderr
    assert run("fix", str(ROOT / PARALLEL), "-o", str(tmp_path / "here.h5")).returncode == 0
    assert repositories["me/out"]["clean.h5"] == (tmp_path / "here.h5").read_bytes()
    assert repositories["me/zoo"] == before
    assert "hf_secret" not in done.stdout + done.stderr
    again = run("inspect", "hf://me/out/clean.h5")
    assert (again.returncode, "clean" in again.stdout) == (0, True)


def test_a_whole_repository(run: Run, repositories: dict[str, Files]) -> None:
    """With a slash at its end or without one it is a folder."""
    for url in ("hf://me/zoo", "hf://me/zoo/"):
        done = run("inspect", url)
        assert done.returncode == 1
        assert "2 files: 2 parallel" in done.stdout + done.stderr
    assert run("fix", "hf://me/zoo", "-o", "hf://me/out/fixed").returncode == 0
    assert {"fixed/model.h5", "fixed/deep/other.h5"} <= repositories["me/out"].keys()


def test_a_repository_that_keras_wrote(run: Run, repositories: dict[str, Files]) -> None:
    """`model.save("hf://me/model")` sends the files of a `.keras` without a zip: that is one model."""
    folder = ROOT / "fixtures/keras_folder/parallel"
    repositories["me/model"] = {p.name: p.read_bytes() for p in folder.iterdir()} | {
        "README.md": b"# A model\n"
    }
    found = run("inspect", "hf://me/model")
    assert (found.returncode, "called on 2 GPUs" in found.stdout) == (1, True)
    done = run("fix", "hf://me/model", "-o", "hf://me/out/clean.keras")
    assert done.returncode == 0, done.stderr
    assert repositories["me/out"]["clean.keras"].startswith(b"PK")


def test_what_is_not_there_or_is_no_file(run: Run, repositories: dict[str, Files]) -> None:
    """One line, and nothing is written."""
    before = dict(repositories["me/out"])
    missing = run("inspect", "hf://me/zoo/none.h5")
    assert (missing.returncode, missing.stderr.strip()) == (
        2,
        "unnest: hf://me/zoo/none.h5: no such object; check the URL",
    )
    named = run("fix", "hf://me/zoo/model.h5", "-o", "hf://me/out")
    assert named.returncode == 2
    assert (
        "is a repository, and the output is a file; name the file, as hf://me/out/model.h5"
        in named.stderr
    )
    into_input = run("fix", "hf://me/zoo/model.h5", "-o", "hf://me/zoo/model.h5", "--force")
    assert into_input.returncode == 2
    assert repositories["me/out"] == before


@pytest.mark.parametrize(
    ("url", "is_one"),
    [
        ("hf://user/repo", True), ("hf://user/repo@main", True), ("hf://datasets/user/repo", True),
        ("hf://user/repo/", False), ("hf://user/repo/m.h5", False), ("hf://datasets/user", False), ("hf://user", False),
        ("s3://bucket/folder", False), ("user/repo", False),
    ],
)  # fmt: skip
def test_what_is_a_repository(url: str, *, is_one: bool) -> None:
    """Its URL is that of a folder."""
    assert is_repository(url) is is_one
    assert with_repository_slash(url) == (url + "/" if is_one else url)
