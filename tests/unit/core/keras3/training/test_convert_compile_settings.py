"""Compile settings for Keras 3: losses, metrics and findings on those that it lacks."""

from __future__ import annotations

from typing import Any

import pytest

from unnest.core.keras3.conversion_context import Context
from unnest.core.keras3.layer_replacements import NewLayer
from unnest.core.keras3.training.convert_compile_settings import with_compile_settings
from unnest.core.model import Group, Stored, Tensor

KERNEL = Tensor("d/kernel", (4, 3), "<f4", "/d/kernel")
BIAS = Tensor("d/bias", (3,), "<f4", "/d/bias")
SGD = {"class_name": "SGD", "config": {"learning_rate": 0.1, "momentum": 0.5}}
STATE = tuple(
    Tensor(f"s{k}", s, "<i8" if not s else "<f4", f"s{k}") for k, s in enumerate([(), (4, 3), (3,)])
)
RESULT = Stored("model", {"class_name": "Functional"}, keras_version="3.0.0")


def model(*outputs: str) -> NewLayer:
    """A model of a trained Dense with these outputs."""
    ends: Any = [[name, 0, 0] for name in outputs] if len(outputs) > 1 else [outputs[0], 0, 0]
    return NewLayer("m", "Functional", {"name": "m", "output_layers": ends}, (KERNEL, BIAS))


def stored(settings: Any, version: str = "2.2.4") -> Stored:
    """A model with these settings and a state of SGD."""
    return Stored(
        "model", {}, settings, (Group("d", (KERNEL, BIAS)),), STATE, version, "tensorflow"
    )


def compiled(context: Context, *outputs: str, **settings: Any) -> Any:
    """The new compile settings; None where they stay out."""
    given = stored({"optimizer_config": SGD, "loss": "mse", **settings}, context.version or "")
    return with_compile_settings(given, model(*(outputs or ("p",))), RESULT, context).training


def test_settings_and_state_are_carried_over() -> None:
    context = Context.of("2.2.4", "tensorflow")
    made = with_compile_settings(
        stored({"optimizer_config": SGD, "loss": "mse", "metrics": []}), model("p"), RESULT, context
    )
    assert made.training is not None
    assert set(made.training) == {"optimizer", "loss"}
    assert made.optimizer is not None
    assert [t.ref for t in made.optimizer] == ["s0", "constant learning_rate", "s1", "s2"]
    assert made._replace(training=None, optimizer=None) == RESULT
    assert context.notes.findings == []


@pytest.mark.parametrize(
    ("given", "codes"),
    [
        (stored(None), []),
        (stored({"metrics": ["acc"]}), []),
        (stored({"optimizer_config": SGD, "loss": "mse"})._replace(contents="weights"), []),
        (
            stored({"optimizer_config": {"class_name": "Yogi", "config": {}}, "loss": "mse"}),
            ["compile-dropped"],
        ),
        (stored({"optimizer_config": SGD, "loss": "my_loss"}), ["compile-dropped"]),
    ],
)
def test_what_stays_out_whole(given: Stored, codes: list[str]) -> None:
    """The result is the same model without settings."""
    context = Context.of("2.2.4", "tensorflow")
    assert with_compile_settings(given, model("p"), RESULT, context) is RESULT
    assert [f.code for f in context.notes.findings] == codes


def test_rules_for_an_optimizer_that_stays_out_are_not_told() -> None:
    """Nor findings of it; those of what came before stay."""
    context = Context.of("2.2.4", "tensorflow")
    context.note("hard-sigmoid", "d")
    rmsprop = {"class_name": "RMSprop", "config": {"lr": 0.1, "epsilon": 0.1}}
    with_compile_settings(
        stored({"optimizer_config": rmsprop, "loss": "my_loss"}), model("p"), RESULT, context
    )
    assert [c.rule for c in context.conversions()] == ["hard-sigmoid"]
    assert [f.code for f in context.notes.findings] == ["compile-dropped"]


@pytest.mark.parametrize(
    ("optimizer", "loss", "why"),
    [
        ("Yogi", "mse", "Keras 3 has no optimizer 'Yogi'"),
        (
            "LossScaleOptimizerV3",
            "mse",
            "the optimizer 'LossScaleOptimizerV3', and its state, are not converted",
        ),
        ("Custom>Adafactor", "mse", "the optimizer 'Adafactor', and its state, are not converted"),
        ("SGD", "dice", "Keras 3 has no loss 'dice'"),
        ("SGD", "<lambda>", "the loss is a function without a name (a lambda)"),
        ("SGD", "__lambda__", "the loss is a function without a name (a lambda)"),
    ],
)
def test_why_the_settings_stay_out(optimizer: str, loss: str, why: str) -> None:
    context = Context.of("2.2.4", "tensorflow")
    given = stored({"optimizer_config": {"class_name": optimizer, "config": {}}, "loss": loss})
    with_compile_settings(given, model("p"), RESULT, context)
    [finding] = context.notes.findings
    assert finding.message == f"the compile settings and the optimizer's state stayed out: {why}"


def test_a_state_that_does_not_fit_leaves_the_settings() -> None:
    context = Context.of("2.2.4", "tensorflow")
    given = stored({"optimizer_config": SGD, "loss": "mse"})._replace(optimizer=STATE[:2])
    made = with_compile_settings(given, model("p"), RESULT, context)
    assert made.training is not None
    assert made.training["loss"] == "mse"
    assert made.optimizer is None
    assert [f.code for f in context.notes.findings] == ["optimizer-dropped"]


def test_weights_that_are_not_trained_have_no_slots() -> None:
    context = Context.of("2.2.4", "tensorflow")
    frozen = model("p")._replace(weights=(KERNEL._replace(trained=False), BIAS))
    given = stored({"optimizer_config": SGD, "loss": "mse"})._replace(
        optimizer=(STATE[0], STATE[2])
    )
    made = with_compile_settings(given, frozen, RESULT, context)
    assert made.optimizer is not None
    assert [t.ref for t in made.optimizer] == ["s0", "constant learning_rate", "s2"]


HUBER = {"module": "keras.losses", "class_name": "Huber", "registered_name": None}


@pytest.mark.parametrize(
    ("version", "loss", "written"),
    [
        ("2.2.4", "mse", "mse"),
        ("2.2.4", None, None),
        ("2.2.4", "logcosh", "log_cosh"),
        ("2.2.4", "cosine_proximity", "cosine_similarity"),
        ("2.2.4", {"class_name": "function", "config": "KLD"}, "kl_divergence"),
        ("2.3.1", "hinge", "hinge"),
        ("2.2.4-tf", "hinge", "hinge"),
        ("2.4.0", {"class_name": "Huber", "config": {"delta": 2.0, "reduction": "auto", "fn": "huber"}},
         {**HUBER, "config": {"delta": 2.0, "reduction": "sum_over_batch_size"}}),
        ("2.4.0", {"class_name": "Huber", "config": {"reduction": "NONE", "name": "h"}},
         {**HUBER, "config": {"reduction": None, "name": "h"}}),
        ("2.4.0", {"class_name": "Huber", "config": {"reduction": "sum"}}, {**HUBER, "config": {"reduction": "sum"}}),
    ],
)  # fmt: skip
def test_losses(version: str, loss: Any, written: Any) -> None:
    context = Context.of(version, "tensorflow")
    assert compiled(context, loss=loss)["loss"] == written
    assert context.notes.findings == []


@pytest.mark.parametrize(
    ("version", "loss"),
    [
        ("1.2.2", "cosine_proximity"),
        ("2.2.4", "hinge"),
        ("2.2.4", "squared_hinge"),
        ("2.2.4-tf", "cosine_proximity"),
        ("2.4.0", {"class_name": "Huber", "config": {"delta": 2.0, "slope": 1.0}}),
        ("2.4.0", {"class_name": "Huber", "config": {"reduction": "median"}}),
        ("2.4.0", {"class_name": "Mine", "config": {}}),
        ("2.4.0", ["mse", "my_loss"]),
        ("2.4.0", {"p": "my_loss"}),
    ],
)
def test_losses_that_keras_3_has_not(version: str, loss: Any) -> None:
    context = Context.of(version, "tensorflow")
    assert compiled(context, loss=loss) is None
    assert [f.code for f in context.notes.findings] == ["compile-dropped"]


@pytest.mark.parametrize(
    ("metrics", "written", "dropped"),
    [
        (["acc", "mae"], ["acc", "mae"], 0),
        ({"class_name": "Precision", "config": {"thresholds": 0.5, "dtype": "float32"}},
         {"module": "keras.metrics", "class_name": "Precision", "registered_name": None,
          "config": {"thresholds": 0.5, "dtype": "float32"}}, 0),
        (["kld"], [{"module": "keras.metrics", "class_name": "KLDivergence", "registered_name": None,
                    "config": {"name": "kld"}}], 0),
        (["cosine"], [{"module": "keras.metrics", "class_name": "CosineSimilarity", "registered_name": None,
                       "config": {"name": "cosine"}}], 0),
        (["acc", "my_metric"], ["acc"], 1),
        (["my_metric"], None, 1),
        ([{"class_name": "Precision", "config": {"slope": 1}}, "acc"], ["acc"], 1),
        ({"p": ["acc"], "q": "my_metric"}, {"p": ["acc"], "q": []}, 1),
        (None, None, 0),
    ],
)  # fmt: skip
def test_metrics(metrics: Any, written: Any, dropped: int) -> None:
    """A metric that Keras 3 has not is left out alone, with a finding."""
    context = Context.of("2.2.4", "tensorflow")
    assert compiled(context, metrics=metrics).get("metrics") == written
    assert [f.code for f in context.notes.findings] == ["compile-part"] * dropped


@pytest.mark.parametrize(
    ("outputs", "metrics", "written"),
    [
        (("p", "q"), ["acc"], [["acc"], ["acc"]]),
        (("p", "q"), [["acc"], []], [["acc"], []]),
        (("p",), ["acc"], ["acc"]),
    ],
)
def test_a_flat_list_of_metrics_was_every_output_s(
    outputs: tuple[str, ...], metrics: Any, written: Any
) -> None:
    assert (
        compiled(Context.of("2.2.4", "tensorflow"), *outputs, metrics=metrics)["metrics"] == written
    )


@pytest.mark.parametrize(
    ("loss", "weights", "written"),
    [
        ("mse", None, "mse"),
        ("mse", [2.0, 1.0], ["mse", "mse"]),
        ("mse", {"p": 2.0}, {"p": "mse", "q": "mse"}),
        ({"p": "mse"}, {"p": 2.0}, {"p": "mse", "q": None}),
        (["mse", "mae"], [2.0, 1.0], ["mse", "mae"]),
    ],
)
def test_as_many_losses_as_weights(loss: Any, weights: Any, written: Any) -> None:
    made = compiled(Context.of("2.2.4", "tensorflow"), "p", "q", loss=loss, loss_weights=weights)
    assert (made["loss"], made.get("loss_weights")) == (written, weights)


def test_settings_by_output_follow_the_outputs_names() -> None:
    """`t/p` is called `t_p` today; `q` stays."""
    context = Context.of("2.2.4", "tensorflow")
    context.graph.output_names = {"t/p": "t_p", "q": "q"}
    made = compiled(
        context, "t_p", "q", loss={"t/p": "mse", "q": "mae"}, loss_weights={"t/p": 2.0, "q": 1.0},
        metrics={"t/p": ["acc"]}, weighted_metrics={"q": ["mae"]},
    )  # fmt: skip
    assert made["loss"] == {"t_p": "mse", "q": "mae"}
    assert made["loss_weights"] == {"t_p": 2.0, "q": 1.0}
    assert (made["metrics"], made["weighted_metrics"]) == ({"t_p": ["acc"]}, {"q": ["mae"]})


@pytest.mark.parametrize(("mode", "codes"), [("temporal", ["compile-part"]), (None, [])])
def test_a_mode_of_sample_weights_is_told(mode: str | None, codes: list[str]) -> None:
    context = Context.of("2.2.4", "tensorflow")
    assert set(compiled(context, sample_weight_mode=mode)) == {"optimizer", "loss"}
    assert [f.code for f in context.notes.findings] == codes


@pytest.mark.parametrize("setting", ["loss", "metrics"])
def test_settings_nest_as_deep_as_anybody_likes(setting: str) -> None:
    deep: Any = "mse"
    for _ in range(5_000):
        deep = [deep]
    context = Context.of("2.2.4", "tensorflow")
    result = compiled(context, **{setting: deep})[setting]
    while isinstance(result, list) and result:
        result = result[0]
    assert result in {"mse", "mean_squared_error"}


@pytest.mark.parametrize(
    ("shapes", "code"),
    [
        ([()], "never-trained"),
        ([(), ()], "never-trained"),
        ([(), (4, 3)], "optimizer-dropped"),
        ([(), (), ()], "optimizer-dropped"),
    ],
)
def test_an_optimizer_without_slots_was_never_trained(
    shapes: list[tuple[int, ...]], code: str
) -> None:
    """Nothing is lost there, and no warning says so."""
    context = Context.of("2.2.4", "tensorflow")
    state = tuple(Tensor(f"s{k}", shape, "<f4", f"s{k}") for k, shape in enumerate(shapes))
    given = stored({"optimizer_config": SGD, "loss": "mse"})._replace(optimizer=state)
    made = with_compile_settings(given, model("p"), RESULT, context)
    assert made.optimizer is None
    assert [(f.code, f.severity) for f in context.notes.findings] == [
        (code, "info" if code == "never-trained" else "warning")
    ]


ADAM = {"class_name": "Adam", "config": {"name": "Adam", "learning_rate": 0.01}}


@pytest.mark.parametrize(
    ("optimizer", "changes", "codes"),
    [
        (ADAM, {}, ["embedding-steps"]),
        (SGD, {}, []),
        (ADAM, {"trainable": False}, []),
        (ADAM, {"embeddings_regularizer": {"class_name": "L2", "config": {"l2": 0.1}}}, []),
    ],
    ids=["of each word", "by sums of gradients alone", "frozen", "a gradient for all rows"],
)
def test_an_embedding_that_keras_3_trains_otherwise(
    optimizer: Any, changes: Any, codes: list[str]
) -> None:
    config = {"name": "e", "trainable": True, "embeddings_regularizer": None, **changes}
    holder = NewLayer("m", "Functional", {
        "name": "m", "layers": [{"class_name": "Embedding", "config": config}], "output_layers": ["e", 0, 0],
    })  # fmt: skip
    context = Context.of("2.13.1", "tensorflow")
    given = stored({"optimizer_config": optimizer, "loss": "mse"}, "2.13.1")._replace(
        optimizer=None
    )
    assert with_compile_settings(given, holder, RESULT, context).training is not None
    assert [finding.code for finding in context.notes.findings] == codes
