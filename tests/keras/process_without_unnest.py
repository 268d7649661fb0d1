"""A Python process that has Keras 3 and never sees unnest: one of the scripts `*_today.py` beside this module."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

SECONDS = 900

#: What TensorFlow says of channels_first where it has no convolution of that order for the processor.
NO_KERNEL = ("only supports NHWC", "NHWC tensor format on the CPU")


def is_computed_here(answer: float | str) -> bool:
    """Return False for an answer that says that TensorFlow cannot compute the layer on this processor."""
    return not (isinstance(answer, str) and any(words in answer for words in NO_KERNEL))


def answers_of(
    script: str, jobs: Sequence[Mapping[str, str | None]], folder: Path, backend: str = "tensorflow"
) -> list[Any]:
    """Return the script's answer to each job, on that backend of Keras 3 and without a GPU."""
    asked, answered = folder / "jobs.json", folder / f"{backend}.json"
    asked.write_text(json.dumps(jobs))
    env = {
        "PATH": os.defpath,
        "HOME": str(folder),
        "KERAS_BACKEND": backend,
        "CUDA_VISIBLE_DEVICES": "",
    }
    path = Path(__file__).with_name(script)
    subprocess.run(
        [sys.executable, str(path), str(asked), str(answered)], env=env, check=True, timeout=SECONDS
    )
    answers: list[Any] = json.loads(answered.read_text())
    return answers
