"""Several workers under MultiWorkerMirroredStrategy (tf_keras): one file, the chief's; a killed worker is made good."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

HERE = Path(__file__).parent
LIMIT = 90
"""Seconds that workers have to end, a failure of their peer included."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("tf_keras") is None, reason="tf_keras is not installed"),
]


def addresses() -> list[str]:
    """Two free ports of this machine."""
    with socket.socket() as a, socket.socket() as b:
        for s in (a, b):
            s.bind(("127.0.0.1", 0))
        return [f"127.0.0.1:{s.getsockname()[1]}" for s in (a, b)]


def train(folder: Path, dies: int = 0) -> list[int]:
    """Two workers train in `folder`; worker 1 dies in epoch `dies`. Their exit statuses."""
    folder.mkdir(exist_ok=True)
    at = addresses()
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "GRPC_FAIL_FAST": "use_caller"}
    command = [sys.executable, str(HERE / "worker.py"), str(folder)]
    workers = []
    try:
        for i in (0, 1):
            with (folder / f"worker-{i}.log").open("w") as log:
                job = [*command, str(i), str(dies if i == 1 else 0), *at]
                workers.append(
                    subprocess.Popen(job, env=environment, stdout=subprocess.DEVNULL, stderr=log)
                )
        return [worker.wait(LIMIT) for worker in workers]
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()


def models(folder: Path) -> set[str]:
    """Return the models in `folder`, and files that a worker forgot, without logs and backups."""
    return {
        p.name
        for p in folder.iterdir()
        if p.suffix not in {".log", ".json", ".checkpoints"} and p.name != "backup"
    }


def weights(path: Path) -> list[Any]:
    """The weights and optimizer state of a file of the base model, loaded without any strategy."""
    loaded = import_module("tf_keras").models.load_model(str(path))
    assert loaded.name == "template"
    assert loaded.optimizer is not None
    return [*loaded.get_weights(), *(v.numpy() for v in loaded.optimizer.variables)]


def test_one_file_and_a_killed_worker(tf: Any, tmp_path: Path) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    assert train(whole) == [0, 0], (whole / "worker-0.log").read_text()[-2000:]
    losses = json.loads((whole / "losses-0.json").read_text())
    assert json.loads((whole / "losses-1.json").read_text()) == pytest.approx(losses)
    assert losses == sorted(losses, reverse=True)
    best = {f"best-{loss:.3f}.keras" for loss in losses}
    every = [f"m-{epoch}-{loss:.3f}.keras" for epoch, loss in enumerate(losses, 1)]
    assert models(whole) == {*every[2:], *best}

    chief, killed = train(broken, dies=2)
    assert killed < 0
    assert chief != 0
    assert train(broken) == [0, 0], (broken / "worker-0.log").read_text()[-2000:]
    assert json.loads((broken / "losses-0.json").read_text()) == pytest.approx(losses[2:])
    # The second run knows which files the first one kept.
    assert models(broken) == {
        *every[2:],
        *best,
    }
    for a, b in zip(weights(whole / every[3]), weights(broken / every[3]), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-7)
