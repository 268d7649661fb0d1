"""Images, channels last: where pixels are put depends on the TensorFlow that wrote the file."""

from __future__ import annotations

import pytest

from tests.unit.core.keras3.lambdas.calling import X, called, computed
from unnest.core.keras3.lambdas.values import Dialect, NotUnderstood, Value, constant, items

SIZE = items("tuple", [constant(8), constant(6)])


@pytest.mark.parametrize(
    ("value", "operations"),
    [
        (called("tf.image.resize", X, SIZE),
         "Resize(x0, size=[8, 6], interpolation=bilinear, data_format=channels_last)"),
        (called("K.resize_images", X, constant(2), constant(3), constant("channels_last")),
         "Repeat(Repeat(x0, repeats=2, axis=1), repeats=3, axis=2)"),
        (called("K.resize_images", X, constant(2), constant(3), dim_ordering=constant("th")),
         "Repeat(Repeat(x0, repeats=2, axis=2), repeats=3, axis=3)"),
        (called("tf.image.rgb_to_grayscale", X), "RGBToGrayscale(x0, data_format=channels_last)"),
        (called("tf.image.flip_left_right", X), "Flip(x0, axis=-2)"),
        (called("tf.image.flip_up_down", X), "Flip(x0, axis=-3)"),
        (called("tf.nn.space_to_depth", X, constant(2)), "SpaceToDepth(x0, block_size=2, data_format=channels_last)"),
        (called("tf.depth_to_space", X, constant(2)), "DepthToSpace(x0, block_size=2, data_format=channels_last)"),
    ],
)  # fmt: skip
def test_operations(value: Value, operations: str) -> None:
    assert computed(value) == operations


@pytest.mark.parametrize("tensorflow", [None, "1"])
def test_a_resize_of_an_older_tensorflow(tensorflow: str | None) -> None:
    dialect = Dialect("tensorflow", "1" if tensorflow else None)
    with pytest.raises(NotUnderstood, match=r"half-pixel centres$"):
        called("tf.image.resize", X, SIZE, dialect=dialect)


def test_what_is_not_understood() -> None:
    for method in ("nearest", "bicubic"):
        with pytest.raises(NotUnderstood, match=rf"^`tf.image.resize` by {method}$"):
            called("tf.image.resize", X, SIZE, constant(method))
    with pytest.raises(NotUnderstood, match=r"^the size$"):
        called("tf.image.resize", X, items("list", [constant(8)]))
    with pytest.raises(NotUnderstood, match=r"^`interpolation='bilinear'`$"):
        called("K.resize_images", X, constant(2), constant(2), constant("channels_last"), constant("bilinear"))
