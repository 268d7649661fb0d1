"""`balance` measures what it says, and proposes what follows from it."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from unnest.cli import balance as command
from unnest.cli.balance import measure
from unnest.errors import UsageError
from unnest.keras import balance, balance_devices, device_names, keras_api, multi_gpu_model
from unnest.keras.balance_result import Balance, Speed
from unnest.keras.parallel_model import towers_of
from unnest.keras.ratio_search import Trial

ROOT = str(Path(__file__).parents[2])


def alone(*seconds: float | None) -> list[Speed]:
    """Device i's time for 100 rows."""
    return [Speed(f"CPU:{i}", 100, s, s, s) for i, s in enumerate(seconds)]


def trial(
    rows: tuple[int, ...], seconds: float, gain: float = 0.0, over_single: float | None = 0.1
) -> Trial:
    return Trial(rows, tuple(seconds for _ in rows), seconds, seconds, seconds, gain, over_single)


@pytest.mark.parametrize(
    ("trials", "ratios", "line"),
    [
        ([trial((60, 40), 0.4, 0.2)], (3, 2), "multi_gpu_model(model, gpus=[0, 1], ratios=[3, 2])"),
        (
            [trial((60, 40), 0.49, 0.01)],
            None,
            "multi_gpu_model(model, gpus=[0, 1])",
        ),  # not worth its numbers
        ([], None, "multi_gpu_model(model, gpus=[0, 1])"),
    ],
)
def test_what_follows(
    tf: Any, trials: list[Trial], ratios: tuple[int, ...] | None, line: str
) -> None:
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


@pytest.fixture
def machine(tf: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[[list[int], list[float]], None]:
    """`machine(memory, costs)`: CPU:i holds memory[i] rows and takes costs[i] seconds for each, without a clock."""

    def set_up(memory: list[int], costs: list[float]) -> None:
        def step(
            _api: Any, _model: Any, devices: Sequence[str], rows: Sequence[int]
        ) -> Callable[[], list[float]]:
            def towers() -> list[float]:
                numbers = [int(device.removeprefix("CPU:")) for device in devices]
                if any(n > memory[i] for i, n in zip(numbers, rows, strict=True)):
                    raise tf.errors.ResourceExhaustedError(None, None, "OOM when allocating tensor")
                return [costs[i] * n for i, n in zip(numbers, rows, strict=True)]

            return towers

        monkeypatch.setattr(balance_devices, "_training_step", step)
        monkeypatch.setattr(
            balance_devices,
            "_run_turn",
            lambda step: balance_devices._Turn(max(step()), tuple(step())),
        )

    return set_up


def test_a_device_too_small_for_its_equal_share_gets_what_it_holds(zoo: Any, machine: Any) -> None:
    """Equal shares do not fit; the split that was measured is proposed, and what did not fit is tried once."""
    machine([1000, 20], [1.0, 4.0])
    measured = balance(zoo["dense"], 128, 2)
    assert [(s.rows, s.seconds is None) for s in measured.alone if s.device == "CPU:1"] == [
        *[(16, False), (32, True), (64, True), (128, True)]
    ]
    assert measured.equal is None
    assert [t.rows for t in measured.trials] == [(112, 16)]
    assert measured.too_large == [(64, 64), (102, 26)]
    assert (measured.pays, measured.fitting_batch) == (True, None)
    assert measured.line == "multi_gpu_model(model, gpus=[0, 1], ratios=[7, 1])"


def test_what_is_proposed_fits(zoo: Any, machine: Any) -> None:
    """The fast device would take 58 of 96 rows, and holds 48 of the sizes that were tried."""
    machine([50, 1000, 1000], [0.5, 1.5, 1.5])
    measured = balance(zoo["dense"], 96, 3)
    assert [t.rows for t in measured.trials] == [(48, 24, 24)]
    assert measured.too_large == [(58, 19, 19)]
    assert measured.line == "multi_gpu_model(model, gpus=[0, 1, 2], ratios=[2, 1, 1])"


def test_equal_devices_that_hold_half_the_batch_each(zoo: Any, machine: Any) -> None:
    machine([64, 64], [1.0, 1.0])
    measured = balance(zoo["dense"], 128, 2)
    assert measured.too_large == []
    assert measured.line == "multi_gpu_model(model, gpus=[0, 1])"
    machine([40, 40], [1.0, 1.0])
    full = balance(zoo["dense"], 128, 2)
    assert (full.too_large, full.fitting_batch, full.line) == ([(64, 64)], 64, None)


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
    turn = balance_devices._run_turn

    def failing(step: Any) -> Any:
        steps.append(1)
        if len(steps) > 2 * balance_devices.ROUNDS:
            raise error(tf)
        return turn(step)

    monkeypatch.setattr(balance_devices, "_run_turn", failing)
    measured = balance(zoo["dense"], 8, 2, sizes=[4, 8])
    assert [speed.seconds is None for speed in measured.alone] == [False, False, True, True]
    assert measured.finished
    assert measured.line is None
    assert [sum(split) for split in measured.too_large] == [8], (
        "equal shares, which are those that each device holds"
    )


def test_other_errors_of_devices_are_not_swallowed(
    tf: Any, zoo: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(step: Any) -> Any:
        raise tf.errors.InternalError(None, None, "the driver is too old")

    monkeypatch.setattr(balance_devices, "_run_turn", failing)
    with pytest.raises(tf.errors.InternalError, match="too old"):
        balance(zoo["dense"], 8, 2, sizes=[4])


def test_towers_do_not_wait_for_each_other(keras: Any, tf: Any) -> None:
    """TensorFlow runs clocks in the order of the program, unless told not to: no tower may depend on another's."""
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3)])
    api = keras_api.api_of(model)

    @tf.function  # type: ignore[untyped-decorator, unused-ignore]
    def step(x: Any) -> Any:
        return [
            balance_devices._timed_tower(api, model, [x[i : i + 2]], f"/CPU:{i}") for i in (0, 2)
        ]

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
        assert len(reached & {clock.name for clock in clocks}) <= 2, (
            "its own tower's start, and itself"
        )


def test_what_is_interrupted_keeps_what_was_measured(tf: Any, zoo: Any) -> None:
    def stop(so_far: Balance) -> None:
        if len(so_far.alone) == 3:
            raise KeyboardInterrupt

    measured = balance(zoo["dense"], 8, 2, sizes=[4, 8], progress=stop)
    assert [(speed.device, speed.rows) for speed in measured.alone] == [
        ("CPU:0", 4),
        ("CPU:1", 4),
        ("CPU:0", 8),
    ]
    assert (measured.finished, measured.line) == (False, None)


def test_texts_are_made_up_too(keras: Any, tf: Any) -> None:
    def build() -> Any:
        words = keras.layers.TextVectorization(
            max_tokens=10, output_mode="count", vocabulary=["a", "b"]
        )
        text = keras.Input((1,), dtype="string")
        return keras.Model(text, keras.layers.Dense(2)(words(text)))

    batch = balance_devices._random_batch(build(), 3)
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
        return keras.Sequential(
            [keras.Input((400,)), keras.layers.Dense(400), Work(), keras.layers.Dense(2)]
        )

    seen: list[int] = []
    measured = balance(
        build, 512, 2, sizes=[256], progress=lambda so_far: seen.append(len(so_far.alone))
    )
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
    with pytest.raises(ValueError, match="2 devices are needed"):
        balance(zoo["dense"], 8, 1)
    with pytest.raises(ValueError, match=r"^gpus=\[0, 0\] names a device twice: "):
        balance(zoo["dense"], 8, [0, 0])
    with pytest.raises(ValueError, match=r"^sizes=\[4, 0\]: a batch has at least a row$"):
        balance(zoo["dense"], 8, 2, sizes=[4, 0])


def test_a_model_that_random_input_does_not_suit(keras: Any) -> None:
    """Open sizes are 32, which may be too small; the line says so, not where the error was noticed."""

    def build() -> Any:
        conv = keras.layers.Conv2D(3, 50)
        conv.build((None, None, None, 3))
        image = keras.Input((None, None, 3))
        return keras.Model(image, conv(image), name="wide")

    with pytest.raises(
        ValueError, match=r"^'wide' cannot be run on random input of shape \(4, 32, 32, 3\), where"
    ) as e:
        balance(build, 8, 2, sizes=[4])
    assert re.search(r"[Nn]egative", str(e.value))
    assert "\n" not in str(e.value)
    assert "File" not in str(e.value)


def test_the_template_of_a_parallel_model_is_measured(
    tf: Any, keras: Any, zoo: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    template, measured = zoo["dense"](), []
    monkeypatch.setattr(
        balance_devices, "_measure_alone", lambda _result, _api, model, *_: measured.append(model)
    )
    monkeypatch.setattr(balance_devices, "_measure_together", lambda *_: None)
    with pytest.warns(
        UserWarning, match="^the model is parallel already: its template is measured$"
    ):
        balance(lambda: multi_gpu_model(template, 2), 8, 2)
    assert measured == [template]


MODULE = """
import sys
import tensorflow as tf
import keras
def build_model():
    return keras.Sequential([keras.Input((8,)), keras.layers.Dense(3)])
def chatty():
    print("building")
    return build_model()
def fails():
    return {}["layers"]
def two_lines():
    raise ValueError("one\\ntwo")
def leaves():
    sys.exit("usage: train DATA")
def nothing():
    pass
number = 3
print("imported")
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with modules of a user's."""
    (tmp_path / "train.py").write_text(MODULE)
    (tmp_path / "broken.py").write_text("1 / 0")
    (tmp_path / "leaving.py").write_text("raise SystemExit(3)")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    return tmp_path


def test_on_the_command_line(tf: Any, folder: Path) -> None:
    """The real thing, in a process of its own."""
    device_names = "cpu = tf.config.list_physical_devices('CPU')[0]\nlogical = tf.config.LogicalDeviceConfiguration()\n"
    split = f"import tensorflow as tf\n{device_names}tf.config.set_logical_device_configuration(cpu, [logical] * 2)\n"
    (folder / "train.py").write_text(split + MODULE)
    command = [
        sys.executable,
        "-m",
        "unnest",
        "balance",
        "train:chatty",
        "--batch-size",
        "16",
        "--sizes",
        "4,16",
    ]
    shown = subprocess.run(
        [*command, "--json"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": ROOT},
    )
    assert shown.returncode == 0, shown.stderr
    measured = json.loads(shown.stdout)
    assert {s["rows"] for s in measured["alone"]} == {4, 16}
    assert measured["equal"]["rows"] == [8, 8]
    assert measured["finished"] is True
    assert shown.stderr.splitlines().count("building") == 1


def test_the_line_runs_as_it_stands(keras: Any, zoo: Any, machine: Any) -> None:
    for costs in ([1.0, 1.5], [1.0, 1.0]):
        machine([1000, 1000], costs)
        measured = balance(zoo["dense"], 128, 2)
        assert measured.line
        model = eval(measured.line, {"multi_gpu_model": multi_gpu_model, "model": zoo["dense"]()})  # noqa: S307 - ours
        assert towers_of(model) == (("CPU:0", "CPU:1"), measured.ratios or (1, 1))


def test_with_a_plot(folder: Path, machine: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """One JSON document on stdout, whatever the module prints, and a file that is a picture."""
    pytest.importorskip("matplotlib")
    machine([1000, 1000], [1.0, 1.5])
    for name, begins in (("t.png", b"\x89PNG"), ("t.SVG", b"<?xml")):
        code = command.balance("train:chatty", 128, "CPU:0,CPU:1", plot=name, as_json=True)
        assert code == 0
        assert json.loads(capsys.readouterr().out)["split"] == [77, 51]
        assert (folder / name).read_bytes().startswith(begins)
    machine([0, 0], [1.0, 1.0])
    assert command.balance("train:build_model", 128, "CPU:0,CPU:1", plot="none.svg") == 2
    shown = capsys.readouterr()
    assert "No size fitted into the memory of any device" in shown.out
    assert (
        shown.err.splitlines()[-1]
        == "unnest: --plot none.svg: nothing was measured, so nothing is drawn"
    )
    assert not (folder / "none.svg").exists()


@pytest.mark.parametrize(
    ("plot", "message"),
    [
        ("t.gif", "--plot t.gif: the name must end in .svg or .png"),
        ("t", "--plot t: the name must end in .svg or .png"),
        ("there/t.png", "--plot there/t.png: there is no folder there"),
    ],
)
def test_a_plot_that_cannot_be_is_refused_before_anything_is_measured(
    folder: Path, plot: str, message: str
) -> None:
    with pytest.raises(UsageError) as refused:
        command.balance("nowhere:at_all", 16, plot=plot)
    assert refused.value.message == message


def test_the_live_table_begins_with_the_first_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever ends the run before, Ctrl-C while TensorFlow is imported, finds the terminal as it was."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    show = command._live(quiet=False)
    show("")
    assert terminal.getvalue() == ""
    show("a table [of mine]")
    show("")
    assert "a table [of mine]" in terminal.getvalue()


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("train", "train: give MODULE:FN, as in train:build_model"),
        (
            "trian:build_model",
            "trian:build_model: No module named 'trian'; run it where trian can be imported",
        ),
        ("train:build", "train:build: train has no function build"),
        ("train:number", "train:number: train has no function number"),
        ("train:fails", "train:fails raised KeyError: 'layers'"),
        ("train:two_lines", "train:two_lines raised ValueError: one two"),
        ("train:leaves", "train:leaves raised SystemExit: usage: train DATA"),
        ("train:nothing", "train:nothing returned NoneType: it must return a built Keras model"),
        ("broken:build_model", "broken raised ZeroDivisionError: division by zero"),
        ("leaving:build_model", "leaving raised SystemExit: 3"),
    ],
)
def test_the_callers_mistakes(tf: Any, folder: Path, target: str, message: str) -> None:
    with pytest.raises(UsageError) as refused:
        measure(target, 16, "CPU:0,CPU:1", None, lambda _: None)
    assert refused.value.message == message


def test_tracing_imports_nothing_that_autograph_warns_of(
    keras: Any, zoo: Any, tf: Any, caplog: pytest.LogCaptureFixture
) -> None:
    model = zoo["dense"]()
    api = keras_api.api_of(model)
    tf.get_logger().addHandler(caplog.handler)
    try:
        tf.function(lambda x: api.pack_inputs(model, [x]))(tf.ones((2, *model.inputs[0].shape[1:])))
    finally:
        tf.get_logger().removeHandler(caplog.handler)
    assert "AutoGraph could not" not in caplog.text


def test_a_machine_of_one_cpu_hears_how_to_try_towers(
    tf: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device_names, "available", lambda: ("CPU:0",))
    with pytest.raises(
        ValueError, match=r"^2 devices are needed; this machine has CPU:0; .*split the CPU"
    ):
        device_names.targets(None)
    with pytest.raises(
        ValueError, match=r"asks for CPU:1; this machine has CPU:0; to try towers, split the CPU"
    ):
        device_names.targets([0, 1])
