"""The lowest and the newest versions of TensorFlow and Keras that we say we serve.

All of tests/keras with the newest; with the lowest those of training, because what `--keras 3` writes is for today's.

    pytest -m slow tests/slow/test_versions.py

Each gets a fresh environment, which takes a package index and some minutes.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
LOWEST = ("tensorflow==2.18.*", "keras==3.12.*", "tf_keras==2.18.*")
#: What training needs: towers, checkpoints, resuming, and that no file's code runs.
TRAINING = [
    f"tests/keras/test_keras_{subject}.py"
    for subject in (
        *(
            "towers",
            "build",
            "checkpoint",
            "template",
            "resume",
            "statistics",
            "weaknesses",
            "messages",
            "keeping",
        ),
        *("usages", "recurrent"),
    )
]


def test_the_lowest_are_those_that_the_extra_asks_for() -> None:
    """In pyproject.toml."""
    extra = re.search(r"^tensorflow = (.*)$", (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert extra
    assert json.loads(extra[1]) == [pin.replace("==", ">=").removesuffix(".*") for pin in LOWEST]


@pytest.mark.parametrize(
    ("pins", "tests"), [(LOWEST, TRAINING), ((), ["tests/keras"])], ids=["lowest", "newest"]
)
def test_training_works_with(pins: tuple[str, ...], tests: list[str], tmp_path: Path) -> None:
    """No test fails; the failures, if any, are the message."""
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "env")], check=True)
    python = tmp_path / "env" / ("Scripts" if os.name == "nt" else "bin") / "python"
    install = [
        str(python),
        "-m",
        "pip",
        "install",
        "--quiet",
        "-e",
        f"{ROOT}[tensorflow,test]",
        *pins,
    ]
    subprocess.run(install, check=True)
    command = [str(python), "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", *tests]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:]
