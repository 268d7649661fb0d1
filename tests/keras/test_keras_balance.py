"""`balance` measures what it says, and proposes what follows from it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from unnest.keras import balance, multi_gpu_model
from unnest.keras.balance_search import Trial
from unnest.keras.balancing import Balance, Speed


def alone(*seconds: float | None) -> list[Speed]:
    """Device i's time for 100 rows."""
    return [Speed(f"CPU:{i}", 100, s, s, s) for i, s in enumerate(seconds)]


def trial(rows: tuple[int, ...], seconds: float, gain: float = 0.0) -> Trial:
    return Trial(rows, (seconds, seconds), seconds, seconds, seconds, gain)


@pytest.mark.parametrize(
    ("trials", "ratios", "line"),
    [
        ([trial((60, 40), 0.4, 0.2)], (3, 2), "multi_gpu_model(model, gpus=[0, 1], ratios=[3, 2])"),
        ([trial((60, 40), 0.49, 0.01)], None, "multi_gpu_model(model, gpus=[0, 1])"),  # not worth its numbers
        ([trial((60, 40), 0.4, 0.2), trial((70, 30), 0.45, 0.1)], (3, 2), None),
        ([], None, "multi_gpu_model(model, gpus=[0, 1])"),
    ],
)
def test_what_follows(tf: Any, trials: list[Trial], ratios: tuple[int, ...] | None, line: str | None) -> None:
    measured = Balance(("CPU:0", "CPU:1"), 100, alone(0.6, 0.9), trial((50, 50), 0.5), trials)
    assert measured.ratios == ratios
    assert measured.pays
    assert line is None or measured.line == line


def test_where_one_device_is_faster_alone_nothing_is_proposed(tf: Any) -> None:
    measured = Balance(("CPU:0", "CPU:1"), 100, alone(0.3, 0.9), trial((50, 50), 0.5))
    assert measured.best_single == Speed("CPU:0", 100, 0.3, 0.3, 0.3)
    assert (measured.pays, measured.line) == (False, None)


def test_out_of_memory_is_a_result(tf: Any) -> None:
    measured = Balance(("CPU:0", "CPU:1"), 100, alone(0.3, None))
    assert measured.best_single == Speed("CPU:0", 100, 0.3, 0.3, 0.3)
    assert (measured.best, measured.pays, measured.line) == (None, None, None)


def test_a_device_with_six_times_the_work_gets_the_smaller_share(keras: Any, tf: Any) -> None:
    """Unequal by real work: one layer multiplies matrices as often as its device says."""

    class Work(keras.layers.Layer):  # type: ignore[misc]
        def call(self, x: Any) -> Any:
            w = tf.linalg.diag(tf.ones([400]))
            for _ in range(12 if "CPU:1" in tf.identity(x).device else 2):
                x = tf.linalg.matmul(x, w)
            return x

    def build() -> Any:
        return keras.Sequential([keras.Input((400,)), keras.layers.Dense(400), Work(), keras.layers.Dense(2)])

    seen: list[int] = []
    measured = balance(build, 512, 2, sizes=[256], progress=lambda so_far: seen.append(len(so_far.alone)))
    fast, slow = measured.alone
    assert seen[:2] == [1, 2]
    assert fast.seconds is not None
    assert slow.seconds is not None
    assert fast.seconds < slow.seconds
    assert measured.finished
    assert measured.equal is not None
    assert measured.equal.rows == (256, 256)
    first = measured.trials[0].rows
    assert first[0] > first[1]
    assert sum(first) == 512
    assert json.loads(json.dumps(measured.to_json()))["devices"] == ["CPU:0", "CPU:1"]
    multi_gpu_model(build(), 2, ratios=list(first))


def test_mistakes_are_one_line(keras: Any, zoo: Any) -> None:
    with pytest.raises(ValueError, match="batch_size=1: 2 devices need at least a row each"):
        balance(zoo["dense"], 1, 2)
    with pytest.raises(ValueError, match="at least 2 are needed"):
        balance(zoo["dense"], 8, 1)


MODULE = """
import tensorflow as tf
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
import keras
def build_model():
    return keras.Sequential([keras.Input((8,)), keras.layers.Dense(3)])
number = 3
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`unnest balance` in a folder with the module `train`."""
    (folder / "train.py").write_text(MODULE)
    command = [sys.executable, "-m", "unnest", "balance", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=dict(os.environ))


def test_on_the_command_line(tf: Any, tmp_path: Path) -> None:
    shown = run(tmp_path, "train:build_model", "--batch-size", "16", "--json")
    assert shown.returncode == 0, shown.stderr
    measured = json.loads(shown.stdout)
    assert {s["rows"] for s in measured["alone"]} == {2, 4, 8, 16}
    assert measured["equal"]["rows"] == [8, 8]
    assert measured["finished"] is True


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("train", "train: give MODULE:FN"),
        ("trian:build_model", "No module named 'trian'"),
        ("train:build", "train has no function build"),
        ("train:number", "train has no function number"),
    ],
)
def test_the_callers_mistakes(tf: Any, tmp_path: Path, target: str, message: str) -> None:
    refused = run(tmp_path, target, "--batch-size", "16")
    assert refused.returncode == 2
    assert message in refused.stderr.splitlines()[-1]
    assert "Traceback" not in refused.stderr
