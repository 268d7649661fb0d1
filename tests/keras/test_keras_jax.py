"""Past one machine with Keras 3: the example of docs/strategies.md, DataParallel on JAX, by two processes on one."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

PROCESS = Path(__file__).parent / "keras3_process.py"
LIMIT = 300

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("jax") is None, reason="jax is not installed"),
]


def train(folder: Path, count: int) -> list[list[float]]:
    """The losses that each of `count` processes saw."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    processes = []
    try:
        for index in range(count):
            command = [sys.executable, str(PROCESS), str(folder), str(index), str(count), address]
            environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "-1"}
            processes.append(subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL))
        assert [process.wait(LIMIT) for process in processes] == [0] * count
    finally:
        for process in processes:
            process.kill()
            process.wait()
    return [
        json.loads((folder / f"losses-{count}-{index}.json").read_text()) for index in range(count)
    ]


def test_two_processes_train_as_one(tmp_path: Path) -> None:
    (alone,) = train(tmp_path, 1)
    assert alone == sorted(alone, reverse=True)
    for losses in train(tmp_path, 2):
        assert losses == pytest.approx(alone, rel=1e-5)
    assert len(list(tmp_path.glob("process-2-*.keras"))) == 6
