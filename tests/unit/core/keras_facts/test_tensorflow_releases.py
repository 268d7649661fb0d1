"""Which TensorFlow wrote a model, by what its config has; each row's nearest neighbours differ in one key."""

from __future__ import annotations

import pytest

from unnest.core.keras_facts.tensorflow_releases import (
    has_key,
    is_tensorflow_1_15_or_later,
    makes_masks,
)
from unnest.core.model import Json

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


@pytest.mark.parametrize(
    ("architecture", "wanted"),
    [
        ({"layers": [{"class_name": "Masking", "config": {}}]}, True),
        ({"layers": [{"class_name": "Embedding", "config": {"mask_zero": True}}]}, True),
        ({"layers": [{"class_name": "Embedding", "config": {"mask_zero": False}}]}, False),
        ({"layers": [{"class_name": "Embedding", "config": {"name": "Masking"}}]}, False),
    ],
)
def test_masks(architecture: Json, wanted: bool) -> None:
    """At any depth; a name is no class."""
    assert makes_masks(architecture) is wanted


def test_keys() -> None:
    """Keys count, values do not."""
    assert has_key([{"a": {"ragged": False}}], "ragged")
    assert not has_key([{"a": "ragged"}], "ragged")
