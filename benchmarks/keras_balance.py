"""`balance` on devices of known speed, and the journey from one device to the right shares of two.

    python benchmarks/keras_balance.py ratios [--keras keras|tf_keras] [--times 1 1.44 2 3]
    python benchmarks/keras_balance.py journey [--keras keras|tf_keras] [--rounds 15]

`ratios`: the second device does so many times the first one's work for a row; what `balance` finds, and by how much a
parallel model of these ratios is faster in training than one of equal shares.

`journey`: devices of 1260 and 875 samples a second that need a large batch to be at their best, as a page on two
graphics cards of different age has it: the first alone with 64 rows (684 samples a second there), with 1024 (1345),
both in equal shares (1810), both in the ratios that `balance` finds (2123). What counts is the proportion of the four.

The devices are logical CPUs, unequal by real work (`keras_unequal.py`); two free cores are needed.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from statistics import median, quantiles
from typing import Any

import keras_unequal
import numpy as np

from unnest.keras import balance, multi_gpu_model
from unnest.keras.build_parallel_model import make_parallel
from unnest.report import balance_text

FEATURES, WIDTH = 256, 1024
PAGE = {"one, 64 rows": 684, "one, 1024 rows": 1345, "equal shares": 1810, "found ratios": 2123}
CONSTANT = 71
"""What a step costs the page's first card beside its rows, in rows: 684 and 1345 samples a second give it."""


def template(keras: Any) -> Any:
    """Large enough that a row's work is what counts."""
    layers = [keras.layers.Dense(WIDTH, "relu") for _ in range(2)]
    return keras.Sequential([keras.Input((FEATURES,)), *layers, keras.layers.Dense(10)])


def compiled(keras: Any, model: Any) -> Any:
    """The model, ready for training."""
    model.compile(keras.optimizers.SGD(0.01), loss=keras.losses.MeanSquaredError())
    return model


def speeds(models: dict[str, tuple[Any, int]], rounds: int) -> dict[str, list[float]]:
    """Samples a second of each model in training with so many rows: a figure a round, in which all take their turn."""
    rng = np.random.default_rng(0)
    batches = {
        name: (rng.random((rows, FEATURES), "f4"), rng.random((rows, 10), "f4"))
        for name, (_, rows) in models.items()
    }
    measured: dict[str, list[float]] = {name: [] for name in models}
    for turn in range(rounds + 1):
        for name, (model, rows) in models.items():
            steps = max(2, 2048 // rows)
            start = time.perf_counter()
            for _ in range(steps):
                model.train_on_batch(*batches[name])
            if turn:  # the first compiles
                measured[name].append(steps * rows / (time.perf_counter() - start))
    return measured


def at_best(measured: Sequence[float]) -> float:
    """The upper quartile: in many a round all threads are left on one of two cores (see keras_towers.py)."""
    return quantiles(measured, n=4)[2]


def ratios(keras: Any, times: float, build: Callable[[], Any], rounds: int) -> None:
    """One line of the table."""
    found = balance(build, 1024, 2, sizes=[512, 1024])
    shares = found.ratios or (1, 1)
    error = shares[0] / shares[1] / times - 1
    models = {
        "equal": multi_gpu_model(build(), 2),
        "found": multi_gpu_model(build(), 2, list(shares)),
    }
    trained = speeds(
        {name: (compiled(keras, model), 1024) for name, model in models.items()}, rounds
    )
    gain = median(a / b for a, b in zip(trained["found"], trained["equal"], strict=True))
    possible = (1 + times) / 2
    print(
        f"true {times:5.2f}  found {shares[0]}:{shares[1]} = {shares[0] / shares[1]:5.3f} ({error:+.1%})   "
        f"in training {gain:.3f} of equal shares, {possible:.3f} possible   {'pays' if found.pays else 'does not pay'}"
    )


def constant(keras: Any, build: Callable[[], Any], rounds: int) -> float:
    """Return the constant cost of a device's step, in rows."""
    model = compiled(keras, make_parallel(build(), 1))
    measured = speeds({"few": (model, 64), "many": (model, 1024)}, rounds)
    few, many = 64 / at_best(measured["few"]), 1024 / at_best(measured["many"])
    return few / ((many - few) / (1024 - 64)) - 64


def journey(keras: Any, build: Callable[[], Any], rounds: int) -> None:
    """The four figures, as proportions of the first, beside the page's."""
    found = balance(build, 1388, 2, sizes=[64, 256, 512, 1024])
    print(balance_text.render(found.to_json()))
    one = compiled(keras, make_parallel(build(), 1))
    models = {
        "one, 64 rows": (one, 64),
        "one, 1024 rows": (one, 1024),
        "equal shares": (compiled(keras, multi_gpu_model(build(), 2)), 1024),
        "found ratios": (
            compiled(keras, multi_gpu_model(build(), 2, list(found.ratios or (1, 1)))),
            1388,
        ),
    }
    trained = speeds(models, rounds)
    first = at_best(trained["one, 64 rows"])
    print(f"\n{'':16}{'samples a second':>18}{'of the first':>14}{'the page':>10}")
    for name, measured in trained.items():
        best = at_best(measured)
        print(f"{name:16}{best:18.0f}{best / first:14.2f}{PAGE[name] / PAGE['one, 64 rows']:10.2f}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["ratios", "journey"])
    parser.add_argument("--keras", default="keras")
    parser.add_argument("--times", type=float, nargs="+", default=[1, 1.25, 1.44, 2, 3])
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args(arguments)
    keras = import_module(options.keras)
    work = {"CPU:0": keras_unequal.Work(), "CPU:1": keras_unequal.Work()}
    keras_unequal.emulate(work)
    if options.what == "journey":
        here = constant(keras, lambda: template(keras), options.rounds)
        extra = max(0, round(CONSTANT - here))
        print(
            f"a step costs {here:.0f} rows beside its rows: {extra} rows of work are added, to {CONSTANT}"
        )
        work.update(
            {"CPU:0": keras_unequal.Work(1, extra), "CPU:1": keras_unequal.Work(1260 / 875, extra)}
        )
        journey(keras, lambda: template(keras), options.rounds)
        return
    for times in options.times:
        work["CPU:1"] = keras_unequal.Work(times)
        ratios(keras, times, lambda: template(keras), options.rounds)


if __name__ == "__main__":
    main()
