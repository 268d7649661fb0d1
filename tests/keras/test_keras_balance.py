"""`balance` measures what it says, and proposes what follows from it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from unnest.keras import balance, balancing, keras_api, multi_gpu_model
from unnest.keras.balance_search import Trial
from unnest.keras.balancing import Balance, Speed


def alone(*seconds: float | None) -> list[Speed]:
    """Device i's time for 100 rows."""
    return [Speed(f"CPU:{i}", 100, s, s, s) for i, s in enumerate(seconds)]


def trial(rows: tuple[int, ...], seconds: float, gain: float = 0.0, over_single: float | None = 0.1) -> Trial:
    return Trial(rows, tuple(seconds for _ in rows), seconds, seconds, seconds, gain, over_single)


@pytest.mark.parametrize(
    ("trials", "ratios", "line"),
    [
        ([trial((60, 40), 0.4, 0.2)], (3, 2), "multi_gpu_model(model, gpus=[0, 1], ratios=[3, 2])"),
        ([trial((60, 40), 0.49, 0.01)], None, "multi_gpu_model(model, gpus=[0, 1])"),  # not worth its numbers
        ([], None, "multi_gpu_model(model, gpus=[0, 1])"),
    ],
)
def test_what_follows(tf: Any, trials: list[Trial], ratios: tuple[int, ...] | None, line: str) -> None:
    measured = Balance(("CPU:0", "CPU:1"), 100, alone(0.6, 0.9), trial((50, 50), 0.5), trials)
    assert measured.ratios == ratios
    assert measured.pays
    assert measured.line == line


def test_where_one_device_is_faster_alone_nothing_is_proposed(tf: Any) -> None:
    slower = trial((50, 50), 0.5, over_single=-0.01)
    measured = Balance(("CPU:0", "CPU:1"), 100, alone(0.3, 0.9), slower)
    assert measured.best_single == Speed("CPU:0", 100, 0.3, 0.3, 0.3)
    assert (measured.pays, measured.line) == (False, None)


def test_out_of_memory_is_a_result(tf: Any) -> None:
    measured = Balance(("CPU:0", "CPU:1"), 100, alone(0.3, None))
    assert measured.best_single == Speed("CPU:0", 100, 0.3, 0.3, 0.3)
    assert (measured.best, measured.pays, measured.line) == (None, None, None)


def test_a_batch_that_only_a_smaller_one_replaces(tf: Any) -> None:
    """The page's 1024 + 710 rows ran out of memory where 1024 and 568 fit: as shared out by speed 1385 do."""
    speeds = [Speed("GPU:0", 1024, 1024 / 1260, 1.0, 1.0), Speed("GPU:1", 568, 568 / 875, 1.0, 1.0)]
    measured = Balance(("GPU:0", "GPU:1"), 1734, speeds, too_large=[(1024, 710)])
    assert measured.fitting_batch == 568 * (1260 + 875) // 875
    assert Balance(("GPU:0", "GPU:1"), 1734, speeds).fitting_batch is None


@pytest.mark.slow  # it measures, which wants free cores
@pytest.mark.parametrize(
    "error",
    [
        lambda tf: tf.errors.ResourceExhaustedError(None, None, "OOM when allocating tensor"),
        lambda tf: tf.errors.InternalError(None, None, "CUDNN_STATUS_ALLOC_FAILED"),
        lambda _: MemoryError(),
    ],
)
def test_memory_that_runs_out_late_is_a_result_too(
    tf: Any, zoo: Any, monkeypatch: pytest.MonkeyPatch, error: Any
) -> None:
    """The first size fits, the second does on its first steps only."""
    steps: list[int] = []
    turn = balancing._turn

    def failing(step: Any) -> Any:
        steps.append(1)
        if len(steps) > 2 * balancing.ROUNDS:
            raise error(tf)
        return turn(step)

    monkeypatch.setattr(balancing, "_turn", failing)
    measured = balance(zoo["dense"], 8, 2, sizes=[4, 8])
    assert [speed.seconds is None for speed in measured.alone] == [False, False, True, True]
    assert measured.finished
    assert measured.line is None
    assert [sum(split) for split in measured.too_large] == [8, 8], "equal shares, and those that the speeds suggest"


def test_other_errors_of_devices_are_not_swallowed(tf: Any, zoo: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(step: Any) -> Any:
        raise tf.errors.InternalError(None, None, "the driver is too old")

    monkeypatch.setattr(balancing, "_turn", failing)
    with pytest.raises(tf.errors.InternalError, match="too old"):
        balance(zoo["dense"], 8, 2, sizes=[4])


def test_towers_do_not_wait_for_each_other(keras: Any, tf: Any) -> None:
    """TensorFlow runs clocks in the order of the program, unless told not to: no tower may depend on another's."""
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3)])
    api = keras_api.api_of(model)

    @tf.function  # type: ignore[untyped-decorator, unused-ignore]
    def step(x: Any) -> Any:
        return [balancing._tower(api, model, [x[i : i + 2]], f"/CPU:{i}") for i in (0, 2)]

    graph = step.get_concrete_function(tf.ones([4, 4])).graph
    clocks = [op for op in graph.get_operations() if op.type == "Timestamp"]
    assert len(clocks) == 4
    for op in clocks:
        reached, todo = set(), [op]
        while todo:
            one = todo.pop()
            reached.add(one.name)
            todo += [x.op for x in one.inputs if x.op.name not in reached]
            todo += [c for c in one.control_inputs if c.name not in reached]
        assert len(reached & {clock.name for clock in clocks}) <= 2, "its own tower's start, and itself"


def test_what_is_interrupted_keeps_what_was_measured(tf: Any, zoo: Any) -> None:
    def stop(so_far: Balance) -> None:
        if len(so_far.alone) == 3:
            raise KeyboardInterrupt

    measured = balance(zoo["dense"], 8, 2, sizes=[4, 8], progress=stop)
    assert [(speed.device, speed.rows) for speed in measured.alone] == [("CPU:0", 4), ("CPU:1", 4), ("CPU:0", 8)]
    assert (measured.finished, measured.line) == (False, None)


def test_texts_are_made_up_too(keras: Any, tf: Any) -> None:
    def build() -> Any:
        words = keras.layers.TextVectorization(max_tokens=10, output_mode="count", vocabulary=["a", "b"])
        text = keras.Input((1,), dtype="string")
        return keras.Model(text, keras.layers.Dense(2)(words(text)))

    batch = balancing._batch(build(), 3)
    assert batch[0].numpy().tolist() == [[b"a b c"]] * 3


@pytest.mark.slow  # it measures, which wants free cores
def test_a_device_with_six_times_the_work_gets_the_smaller_share(keras: Any, tf: Any) -> None:
    """Unequal by real work: one layer multiplies matrices as often as its device says."""

    class Work(keras.layers.Layer):
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
    with pytest.raises(ValueError, match=r"^gpus=\[0, 0\] names a device twice: "):
        balance(zoo["dense"], 8, [0, 0])


def test_the_template_of_a_parallel_model_is_measured(
    tf: Any, keras: Any, zoo: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    template, measured = zoo["dense"](), []
    monkeypatch.setattr(balancing, "_alone", lambda _result, _api, model, *_: measured.append(model))
    monkeypatch.setattr(balancing, "_together", lambda *_: None)
    with pytest.warns(UserWarning, match="^the model is parallel already: its template is measured$"):
        balance(lambda: multi_gpu_model(template, 2), 8, 2)
    assert measured == [template]


MODULE = """
import tensorflow as tf
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
import keras
def build_model():
    return keras.Sequential([keras.Input((8,)), keras.layers.Dense(3)])
def fails():
    return {}["layers"]
number = 3
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`unnest balance` in a folder with the module `train`."""
    (folder / "train.py").write_text(MODULE)
    (folder / "broken.py").write_text("1 / 0")
    command = [sys.executable, "-m", "unnest", "balance", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=dict(os.environ))


def test_on_the_command_line(tf: Any, tmp_path: Path) -> None:
    shown = run(tmp_path, "train:build_model", "--batch-size", "16", "--sizes", "4,16", "--json")
    assert shown.returncode == 0, shown.stderr
    measured = json.loads(shown.stdout)
    assert {s["rows"] for s in measured["alone"]} == {4, 16}
    assert measured["equal"]["rows"] == [8, 8]
    assert measured["finished"] is True


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("train", "train: give MODULE:FN"),
        ("trian:build_model", "No module named 'trian'"),
        ("train:build", "train has no function build"),
        ("train:number", "train has no function number"),
        ("train:fails", "train:fails raised KeyError: 'layers'"),
        ("broken:build_model", "broken raised ZeroDivisionError: division by zero"),
    ],
)
def test_the_callers_mistakes(tf: Any, tmp_path: Path, target: str, message: str) -> None:
    refused = run(tmp_path, target, "--batch-size", "16")
    assert refused.returncode == 2
    assert message in refused.stderr.splitlines()[-1]
    assert "Traceback" not in refused.stderr
