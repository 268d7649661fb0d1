"""Optimizers: today's classes and arguments."""

from __future__ import annotations

from typing import Any

import pytest

from unnest.core.keras3.conversion_context import Context
from unnest.core.keras3.training.convert_optimizer import (
    KnownOptimizer,
    NoCounterpart,
    convert_optimizer,
)

#: The mark of an optimizer of Keras 2.11 and later.
MODERN = {"jit_compile": False}
SCHEDULES = "keras.optimizers.schedules"


def of(kind: str, context: Context | None = None, **config: Any) -> KnownOptimizer:
    """The optimizer of that class and config, in a file of Keras 2.2.4 where no context is given."""
    return convert_optimizer(
        {"class_name": kind, "config": config}, context or Context.of("2.2.4", "tensorflow")
    )


def arguments(known: KnownOptimizer) -> dict[str, Any]:
    """The arguments of the new optimizer."""
    config: Any = known.entry["config"]
    return dict(config)


@pytest.mark.parametrize(
    ("kind", "config", "written"),
    [
        ("Adam", {"lr": 0.1, "epsilon": 1e-8}, {"learning_rate": 0.1, "epsilon": 1e-8}),
        ("adam", {"learning_rate": 0.1}, {"learning_rate": 0.1, "epsilon": 1e-7}),
        ("Custom>Adam", {"learning_rate": 0.1, "jit_compile": True}, {"learning_rate": 0.1, "epsilon": 1e-7}),
        ("SGD", {"lr": 0.1, "clipnorm": 1.0}, {"learning_rate": 0.1, "global_clipnorm": 1.0}),
        ("SGD", {"lr": 0.1, "weight_decay": None}, {"learning_rate": 0.1}),
        ("Nadam", {"lr": 0.1, "schedule_decay": 0.004, "decay": 0.5}, {"learning_rate": 0.1, "epsilon": 1e-7}),
        ("Adagrad", {"lr": 0.1, "epsilon": 1e-3}, {"learning_rate": 0.1, "epsilon": 1e-3**2}),
        ("Adagrad", {"learning_rate": 0.1, "epsilon": 1e-3, **MODERN}, {"learning_rate": 0.1, "epsilon": 1e-3}),
        ("RMSprop", {"lr": 0.1, "momentum": 0.5, "epsilon": 1e-3},
         {"learning_rate": 0.1, "momentum": 0.5, "epsilon": 1e-3}),
    ],
)  # fmt: skip
def test_arguments(kind: str, config: dict[str, Any], written: dict[str, Any]) -> None:
    known = of(kind, **config)
    assert arguments(known) == written
    assert (
        known.kind
        == known.entry["class_name"]
        == {"adam": "Adam", "Custom>Adam": "Adam"}.get(kind, kind)
    )
    assert known.rate == 0.1
    assert known.modern is ("jit_compile" in config)


@pytest.mark.parametrize(
    ("version", "key"),
    [("2.2.4", "global_clipnorm"), ("2.2.4-tf", "clipnorm"), ("2.4.0", "clipnorm")],
)
def test_a_norm_was_of_all_gradients_in_keras_of_its_own(version: str, key: str) -> None:
    assert arguments(of("SGD", Context.of(version, None), lr=0.1, clipnorm=2.0)) == {
        "learning_rate": 0.1,
        key: 2.0,
    }


@pytest.mark.parametrize(
    ("kind", "config", "why"),
    [
        ("Yogi", {}, "Keras 3 has no optimizer 'Yogi'"),
        ("Addons>Adam", {}, "Keras 3 has no optimizer 'Addons>Adam'"),
        ("Adam", {"lookahead": 5}, "Adam's argument 'lookahead' = 5 has no counterpart"),
        (
            "Adam",
            {"learning_rate": {"class_name": "Warmup", "config": {}}},
            "no learning rate schedule 'Warmup'",
        ),
        (
            "Ftrl",
            {"l2_shrinkage_regularization_strength": 0.1},
            "acted otherwise before Keras 2.11",
        ),
    ],
)
def test_what_keras_3_has_not(kind: str, config: dict[str, Any], why: str) -> None:
    with pytest.raises(NoCounterpart, match=why):
        of(kind, **config)


@pytest.mark.parametrize(
    ("kind", "config"),
    [
        ("Adam", {"lookahead": None, "use_locking": True}),
        ("Ftrl", {"l2_shrinkage_regularization_strength": 0.1, **MODERN}),
        ("Ftrl", {"l2_shrinkage_regularization_strength": 0.0}),
    ],
)
def test_what_changes_nothing_is_no_obstacle(kind: str, config: dict[str, Any]) -> None:
    assert of(kind, learning_rate=0.1, **config).kind == kind


@pytest.mark.parametrize(
    ("config", "codes"),
    [
        ({"epsilon": 1e-3}, ["other-epsilon"]),
        ({"epsilon": 1e-6}, []),
        ({"epsilon": 1e-3, **MODERN}, []),
    ],
)
def test_an_epsilon_that_counts_is_told(config: dict[str, Any], codes: list[str]) -> None:
    """An epsilon that moved from outside the root to inside is noted."""
    context = Context.of("2.2.4", "tensorflow")
    of("Adagrad", context, learning_rate=0.1, **config)
    assert [f.code for f in context.notes.findings] == codes


def test_a_decay_is_a_schedule() -> None:
    context = Context.of("2.2.4", "tensorflow")
    known = of("SGD", context, lr=0.1, decay=0.01)
    assert known.rate is None
    assert arguments(known)["learning_rate"] == {
        "module": SCHEDULES, "class_name": "InverseTimeDecay", "registered_name": None,
        "config": {"initial_learning_rate": 0.1, "decay_steps": 1, "decay_rate": 0.01, "staircase": False},
    }  # fmt: skip
    assert ("optimizer-decay", ("SGD",)) in [(c.rule, c.layers) for c in context.conversions()]


def test_a_schedule_of_keras_stays() -> None:
    settings = {"initial_learning_rate": 0.1, "decay_steps": 10, "name": None}
    known = of("SGD", learning_rate={"class_name": "CosineDecay", "config": settings})
    written = arguments(known)["learning_rate"]
    assert known.rate is None
    assert (written["module"], written["class_name"]) == (SCHEDULES, "CosineDecay")
    assert written["config"] == {"initial_learning_rate": 0.1, "decay_steps": 10}


@pytest.mark.parametrize(
    ("word", "kind", "rate"),
    [
        ("adam", "Adam", 0.001),
        ("sgd", "SGD", 0.01),
        ("rmsprop", "RMSprop", 0.001),
        ("Adagrad", "Adagrad", 0.001),
    ],
)
def test_a_word_is_the_optimizer_by_default(word: str, kind: str, rate: float) -> None:
    """`compile("adam")`: a `.keras` of Keras 2.12 to 2.15 stores that word alone, with the state of today's form."""
    known = convert_optimizer(word, Context.of("2.15.0", "tensorflow"))
    assert (known.kind, known.modern, known.rate, arguments(known)["learning_rate"]) == (
        kind,
        True,
        rate,
        rate,
    )
    told = of(kind, Context.of("2.15.0", "tensorflow"), learning_rate=rate, **MODERN)
    assert arguments(known) == arguments(told)


def test_a_word_that_is_no_optimizer() -> None:
    with pytest.raises(NoCounterpart, match="Keras 3 has no optimizer 'lookahead'"):
        convert_optimizer("lookahead", Context.of("2.15.0", "tensorflow"))
