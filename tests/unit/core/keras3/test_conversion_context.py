"""Facts and notes of one conversion: the writer, and the rules that were applied."""

from __future__ import annotations

import pytest

from unnest.core.keras3.conversion_context import Context, refused
from unnest.core.keras3.rule_catalog import RULES


@pytest.mark.parametrize(
    ("version", "release", "is_tf"),
    [
        ("2.2.4", (2, 2, 4), False),
        ("2.2.4-tf", (2, 2, 4), True),
        ("2.13.1.post1", (2, 13, 1), False),
        (None, (), False),
    ],
)
def test_the_writer_as_the_file_tells_it(
    version: str | None, release: tuple[int, ...], is_tf: bool
) -> None:
    context = Context.of(version, "tensorflow")
    assert (context.release, context.is_tf, context.version, context.backend) == (
        release,
        is_tf,
        version,
        "tensorflow",
    )


def test_layers_of_one_rule_are_told_together_each_once() -> None:
    context = Context()
    for layer in ("a", "b", "a"):
        context.note("initializer", layer, "Mine")
    context.note("dtype-policy", "c")
    told = [(c.rule, c.layers, c.what) for c in context.conversions()]
    assert told == [
        ("initializer", ("a", "b"), f"{RULES['initializer'].what}: Mine"),
        ("dtype-policy", ("c",), RULES["dtype-policy"].what),
    ]


def test_a_rule_has_a_name_that_is_known() -> None:
    with pytest.raises(AssertionError):
        Context().note("no-rule", "a")


def test_a_refusal_names_the_layer_and_its_class() -> None:
    assert str(refused("l", "Highway", "Keras 3 has none")) == "'l' (Highway): Keras 3 has none"
