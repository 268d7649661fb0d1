"""Lambda layers: operations if the stored code shows them, the named function where it does not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.unit.core.keras3.test_rule_catalog import CODE
from unnest.core.keras3.conversion_context import Context, OldLayer
from unnest.core.keras3.lambdas import lambda_layer_rule
from unnest.core.keras3.lambdas.lambda_layer_rule import rule
from unnest.core.keras3.lambdas.translate_lambda import Translation
from unnest.core.keras3.layer_replacements import Choice, Expansion, LayerArguments, NewLayer, Piece
from unnest.core.keras3_op_node import GraphTensor, Input, OpNode
from unnest.core.keras_facts.keras3_layer_output_specs import Spec

#: A tensor of the new graph; any, since operations that were filled hold it where `OpNode` declares operands.
X: Any = GraphTensor("x", 0, 0)
SPEC = Spec((None, 4), "float32")


def resolved(config: dict[str, Any], context: Context, *specs: Spec | None) -> Piece:
    """Convert a Lambda called `half` on such inputs."""
    choice = rule(OldLayer("Lambda", config, "half", (), context))
    assert isinstance(choice, Choice)
    return choice.resolved(specs, ["float32" if s is None else s.dtype for s in specs])


RESCALING = OpNode(
    "keras.layers", "Rescaling", {"scale": 0.2, "offset": 0, "dtype": "float32"}, (X,)
)
DIVIDED = OpNode("keras.src.ops.numpy", "Divide", {}, (X, 5.0))


@pytest.mark.parametrize(
    ("spec", "masks", "made_of"),
    [(SPEC, False, RESCALING), (None, False, RESCALING), (SPEC, True, DIVIDED)],
)
def test_code_becomes_operations(spec: Spec | None, masks: bool, made_of: OpNode) -> None:
    """`x / 5.0` depends on no shape; a mask, which a Lambda stops, would go on through Rescaling."""
    context = replace(Context.of("2.2.4", "tensorflow"), masks=masks)
    made = resolved(CODE, context, spec)
    assert isinstance(made, Expansion)
    assert made.chain is None
    (tree,) = made.outputs(LayerArguments((X,), {}, {X: spec}))
    assert tree == made_of
    (note,) = context.conversions()
    assert (note.rule, note.layers) == ("lambda", ("half",))
    assert note.what.endswith("x / 5.0")
    assert (context.notes.custom, context.notes.findings) == ({}, [])


@pytest.mark.parametrize(
    ("count", "several", "gives"),
    [(1, False, [DIVIDED]), (1, True, [[DIVIDED]]), (2, True, [DIVIDED, DIVIDED])],
)
def test_a_list_of_one_stays_a_list(
    monkeypatch: pytest.MonkeyPatch, count: int, several: bool, gives: list[Any]
) -> None:
    """The result of code is given here."""
    read = OpNode("keras.src.ops.numpy", "Divide", {}, (Input(0), 5.0))
    translation = Translation((read,) * count, several, "x / k", {"k": "5"}, ())
    monkeypatch.setattr(lambda_layer_rule, "translate", lambda _config, _called: translation)
    context = Context.of("2.2.4", "tensorflow")
    made = resolved(CODE, context, SPEC)
    assert isinstance(made, Expansion)
    assert list(made.outputs(LayerArguments((X,), {}, {X: SPEC}))) == gives
    assert context.conversions()[0].what.endswith(": x / k (k for 5)")


@pytest.mark.parametrize(
    ("config", "function"),
    [
        ({"function": "divided", "function_type": "function", "module": "package"}, "divided"),
        (
            {"function": {"class_name": "function", "config": "divided", "module": "package"}},
            "divided",
        ),
        ({"function": ["no code", None, None], "function_type": "lambda"}, "half_function"),
    ],
)
def test_a_function_that_is_not_read_is_kept_by_name(config: dict[str, Any], function: str) -> None:
    context = Context.of("2.2.4", "tensorflow")
    made = resolved(config, context, SPEC)
    assert isinstance(made, NewLayer)
    assert (made.name, made.class_name) == ("half", "Lambda")
    assert made.config == {
        "name": "half", "trainable": True, "dtype": "float32", "function": function, "arguments": {},
    }  # fmt: skip
    assert context.notes.custom == {function: "function of Lambda 'half'"}
    assert [f.code for f in context.notes.findings] == ["lambda-kept"]
    assert context.conversions() == ()


@pytest.mark.parametrize(
    ("config", "kept"),
    [
        ({"output_shape": [2, 3], "output_shape_type": "raw"}, [2, 3]),
        ({"output_shape": [2, 3]}, [2, 3]),
        ({"output_shape": ["code", None, None], "output_shape_type": "lambda"}, None),
        ({"output_shape": "shape_of", "output_shape_type": "function"}, None),
        ({"output_shape": "shape_of"}, None),
        ({"output_shape": None}, None),
    ],
)
def test_only_a_shape_that_is_stored_as_numbers_is_kept(
    config: dict[str, Any], kept: list[int] | None
) -> None:
    made = resolved({"function": "divided", "function_type": "function", **config}, Context(), SPEC)
    assert isinstance(made, NewLayer)
    assert made.config.get("output_shape") == kept
    assert ("output_shape" in made.config) is (kept is not None)


def test_what_a_kept_function_is_called_with() -> None:
    """A name that is no word of Python's makes one that is."""
    context = Context()
    config: dict[str, Any] = {"function": None, "arguments": {"by": 2}, "dtype": "float16"}
    choice = rule(OldLayer("Lambda", config, "scale-it/1", (), context))
    assert isinstance(choice, Choice)
    made = choice.resolved([None], ["float32"])
    assert isinstance(made, NewLayer)
    assert (made.config["function"], made.config["arguments"], made.config["dtype"]) == (
        "scale_it_1_function", {"by": 2}, "float16",
    )  # fmt: skip
    assert list(context.notes.custom) == ["scale_it_1_function"]
