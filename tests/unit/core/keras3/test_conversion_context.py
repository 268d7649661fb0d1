"""Facts and notes of one conversion: the writer, and the rules that were applied."""

from __future__ import annotations

import pytest

from unnest.core.keras3.conversion_context import Context, is_tensorflow_1_15_or_later, refused
from unnest.core.keras3.rule_catalog import RULES
from unnest.core.model import Json


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


PLAIN: Json = {"kernel_initializer": {"class_name": "Zeros", "config": {}}}
WITH_DTYPE: Json = {"kernel_initializer": {"class_name": "Zeros", "config": {"dtype": "float32"}}}


@pytest.mark.parametrize(
    ("architecture", "release", "is_standalone", "wanted"),
    [
        (PLAIN, (2, 2, 4), False, True),
        (WITH_DTYPE, (2, 2, 4), False, None),
        ([WITH_DTYPE, PLAIN], (2, 2, 4), False, None),
        ([WITH_DTYPE, {"ragged": False}], (2, 2, 4), False, True),
        ({}, (2, 2, 4), False, None),
        (PLAIN, (2, 1, 6), False, False),
        (PLAIN, (2, 3), False, True),
        (PLAIN, (2, 3, 1), True, False),
        (PLAIN, (2, 4), True, True),
        (PLAIN, (), False, None),
    ],
)
def test_the_release(
    architecture: Json, release: tuple[int, ...], is_standalone: bool, wanted: bool | None
) -> None:
    """`2.2.4-tf` is TensorFlow 1.13 to 2.1; standalone Keras counts as earlier, since it never had the changes."""
    answer = is_tensorflow_1_15_or_later(architecture, release, is_standalone=is_standalone)
    assert answer is wanted
