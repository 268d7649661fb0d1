"""Parts that stay behind in a conversion, and their findings."""

from __future__ import annotations

import pytest

from tests.unit.core.build import functional, layer, source, tensors
from tests.unit.formats.build import file
from unnest.core.model import Group, JsonObject, Stored
from unnest.findings import Finding
from unnest.formats.change_container.conversion_losses import (
    checkpoint_losses,
    dropped_parts,
    layer_losses,
    never_held,
    not_restored,
)

NET = functional(source("x"), layer("y", ["x"], kind="StringLookup", vocabulary=None))
WEIGHTS = (Group("y", tensors("y/mean:0", "y/variance:0")),)
STATE = tensors("m:0", "v:0")
WHOLE = Stored("model", NET, training={"loss": "mse"}, groups=WEIGHTS, optimizer=STATE)


def said(findings: tuple[Finding, ...]) -> list[tuple[str, str]]:
    """Codes and messages."""
    return [(str(f.code), f.message) for f in findings]


@pytest.mark.parametrize(
    ("after", "what"),
    [
        (WHOLE, None),
        (WHOLE._replace(architecture=None), "the architecture"),
        (
            WHOLE._replace(training=None, optimizer=None),
            "the training settings, the optimizer state",
        ),
        (WHOLE._replace(groups=()), "the weights"),
    ],
)
def test_parts_of_a_model(after: Stored, what: str | None) -> None:
    findings = said(dropped_parts(file(), WHOLE, after))
    assert [code for code, _ in findings] == ([] if what is None else ["not-held"])
    assert all(what in message for _, message in findings if what)
    assert dropped_parts(file(), after, after) == ()


def test_state_without_settings_is_dropped_with_a_warning() -> None:
    """Weights with an optimizer's state, put into a whole model, which has no settings for it."""
    before = WHOLE._replace(training=None)
    (finding,) = dropped_parts(file(), before, before._replace(optimizer=None))
    assert (finding.code, finding.severity) == ("optimizer-dropped", "warning")
    alone = before._replace(contents="weights", optimizer=None)
    assert said(dropped_parts(file(), before, alone))[0][0] == "not-held"


def test_what_layers_keep() -> None:
    """Files of their own, or what adapt() found, where no container has a place for it; an architecture has neither."""
    (files,) = said(layer_losses(file(assets=("vocabulary.txt",)), "keras", WHOLE))
    assert "vocabulary.txt" in files[1]
    (adapted,) = said(layer_losses(file("keras"), "keras", WHOLE))
    assert "adapt()" in adapted[1]
    lookup_told = functional(source("x"), layer("y", ["x"], kind="StringLookup", vocabulary=["a"]))
    assert layer_losses(file("keras"), "keras", Stored("model", lookup_told)) == ()
    assert layer_losses(file(assets=("vocabulary.txt",)), "json", Stored("architecture", NET)) == ()


@pytest.mark.parametrize(
    ("model", "code"),
    [
        (Stored("model", NET, groups=WEIGHTS, optimizer=STATE), ["no-compile"]),
        (Stored("model", NET, groups=WEIGHTS), ["optimizer-dropped"]),
        (Stored("weights", groups=WEIGHTS), ["optimizer-dropped"]),
    ],
)
def test_of_a_checkpoint(model: Stored, code: list[str]) -> None:
    checkpoint = file(
        "checkpoint", Stored("weights", groups=WEIGHTS, optimizer=tensors("a:0", "b:0", "c:0"))
    )
    findings = said(checkpoint_losses(checkpoint, model, model))
    assert [of for of, _ in findings] == code
    assert all("its 3 tensors" in message for of, message in findings if of == "optimizer-dropped")


def test_a_checkpoint_of_weights_alone_leaves_nothing() -> None:
    checkpoint = file("checkpoint", Stored("weights", groups=WEIGHTS))
    weights = Stored("weights", groups=WEIGHTS)
    assert checkpoint_losses(checkpoint, weights, weights) == ()


def test_state_that_a_file_never_had() -> None:
    """Of a legacy optimizer a `.keras` has none; one of another, which is not there, was not made."""

    def held_elsewhere(model: Stored) -> tuple[Finding, ...]:
        return never_held(file("keras"), model, model)

    legacy: JsonObject = {
        "optimizer": {"module": "keras.optimizers.legacy", "class_name": "SGD"},
        "loss": "mse",
    }
    without = WHOLE._replace(training=legacy, optimizer=None)
    assert [code for code, _ in said(held_elsewhere(without))] == ["state-not-stored"]
    assert held_elsewhere(without._replace(optimizer=STATE)) == ()
    assert (
        held_elsewhere(without._replace(training={"optimizer": {"module": "keras.optimizers"}}))
        == ()
    )
    assert held_elsewhere(without._replace(training=None)) == ()


@pytest.mark.parametrize(
    ("version", "training", "codes"),
    [
        (
            "2.15.0",
            {"optimizer_config": {"class_name": "LossScaleOptimizerV3"}},
            ["state-not-restored"],
        ),
        (
            "2.10.0",
            {"optimizer_config": {"class_name": "LossScaleOptimizer"}},
            [],
        ),  # which is restored
        (
            "3.15.1",
            {"optimizer_config": {"class_name": "LossScaleOptimizerV3"}},
            [],
        ),  # Keras 3 restores none at all
        ("2.15.0", {"optimizer_config": {"class_name": "Adam"}}, []),
        ("2.15.0", None, []),
    ],
)
def test_state_that_keras_does_not_read_from_an_h5(
    version: str, training: JsonObject | None, codes: list[str]
) -> None:
    model = WHOLE._replace(training=training, keras_version=version)
    assert [code for code, _ in said(not_restored(model))] == codes
    assert not_restored(model._replace(contents="weights")) == ()
