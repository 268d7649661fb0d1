"""Images, channels last: where pixels are put depends on the TensorFlow that wrote the file."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.core.keras3.lambdas.calling import X, called, computed
from unnest.core.keras3_op_node import Input
from unnest.core.model import Unknown
from unnest.core.ops.keras3_nodes.expression_values import (
    Items,
    Libraries,
    SymbolicTensor,
    SymbolicValue,
    constant,
    items,
)

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
def test_operations(value: SymbolicValue, operations: str) -> None:
    assert computed(value) == operations


IMAGE = SymbolicTensor(Input(0), "float32", "x", shape=(None, 4, 2, 3))
HALVES = "[[[0.0]], [[0.5]], [[0.0]], [[0.5]], [[0.0]], [[0.5]], [[0.0]], [[0.5]]]"


def numbers(*values: float) -> Items:
    """A list of plain numbers."""
    return items("list", [constant(value) for value in values])


@pytest.mark.parametrize(
    ("name", "arguments", "keywords", "operations"),
    [
        ("tf.image.resize", [SIZE, constant("nearest")], {},
         "Resize(x0, size=[8, 6], interpolation=nearest, data_format=channels_last)"),
        ("tf.image.resize_nearest_neighbor", [numbers(8, 3)], {},
         "Take(Take(x0, [0, 0, 1, 1, 2, 2, 3, 3], axis=1), [0, 0, 1], axis=2)"),
        ("tf.compat.v1.image.resize", [numbers(2, 2)], {"method": constant(1)},
         "Take(Take(x0, [0, 2], axis=1), [0, 1], axis=2)"),
        ("tf.image.resize_bilinear", [numbers(4, 2)], {"half_pixel_centers": constant(value=True)},
         "Resize(x0, size=[4, 2], interpolation=bilinear, data_format=channels_last)"),
        ("tf.image.crop_to_bounding_box", [constant(1), constant(0), constant(3), constant(2)], {},
         ("GetItem(x0, [{'class_name': '__slice__', 'config': {'start': None, 'stop': None, 'step': None}}, "
         "{'class_name': '__slice__', 'config': {'start': 1, 'stop': 4, 'step': None}}, "
         "{'class_name': '__slice__', 'config': {'start': 0, 'stop': 2, 'step': None}}])")),
        ("tf.image.pad_to_bounding_box", [constant(1), constant(0), constant(6), constant(2)], {},
         "Pad(x0, pad_width=[[0, 0], [1, 1], [0, 0], [0, 0]], mode=constant, constant_values=0)"),
        ("tf.image.adjust_brightness", [constant(0.5)], {}, "Add(x0, 0.5)"),
        ("tf.image.grayscale_to_rgb", [], {}, "Repeat(x0, repeats=3, axis=-1)"),
        ("tf.nn.max_pool2d", [constant(2), numbers(1, 2, 1, 1), constant("SAME")], {},
         "MaxPooling2D(x0, pool_size=[2, 2], strides=[2, 1], padding=same, data_format=channels_last)"),
        ("tf.nn.avg_pool", [numbers(1, 2, 3, 1), numbers(1, 2), constant("VALID")], {},
         "AveragePooling2D(x0, pool_size=[2, 3], strides=[1, 2], padding=valid, data_format=channels_last)"),
        ("K.pool2d", [numbers(2, 3)], {"dim_ordering": constant("tf")},
         "MaxPooling2D(x0, pool_size=[2, 3], strides=[1, 1], padding=valid, data_format=channels_last)"),
        ("K.pool2d", [numbers(2, 2), numbers(2, 1), constant("same"), constant("channels_last"), constant("avg")], {},
         "AveragePooling2D(x0, pool_size=[2, 2], strides=[2, 1], padding=same, data_format=channels_last)"),
        ("tf.image.extract_patches", [numbers(1, 2, 2, 1), numbers(1, 1, 1, 1), numbers(1, 1, 1, 1), constant("SAME")],
         {}, ("ExtractPatches(x0, size=[2, 2], strides=[1, 1], dilation_rate=1, padding=same, "
         "data_format=channels_last)")),
    ],
)  # fmt: skip
def test_images_of_known_size(
    name: str, arguments: list[SymbolicValue], keywords: dict[str, SymbolicValue], operations: str
) -> None:
    assert computed(called(name, IMAGE, *arguments, dialect=None, **keywords)) == operations


@pytest.mark.parametrize(
    ("sizes", "is_aligned", "rows", "columns"),
    [
        ((8, 2), False, ([0, 0, 1, 1, 2, 2, 3, 3], [1, 1, 2, 2, 3, 3, 3, 3], HALVES),
         ([0, 1], [1, 1], "[[0.0], [0.0]]")),
        ((7, 3), True, ([0, 0, 1, 1, 2, 2, 3], [1, 1, 2, 2, 3, 3, 3], HALVES.removesuffix(", [[0.5]]]") + "]"),
         ([0, 0, 1], [1, 1, 1], "[[0.0], [0.5], [0.0]]")),
    ],
)  # fmt: skip
def test_bilinear_resizing_of_tensorflow_1(
    sizes: tuple[int, int], is_aligned: bool, rows: tuple[object, ...], columns: tuple[object, ...]
) -> None:
    """Pixels are interpolated between the neighbours of their source, by the distance from the first."""
    made = computed(
        called(
            "tf.image.resize_bilinear", IMAGE, numbers(*sizes), align_corners=constant(is_aligned)
        )
    )
    for axis, (first, second, shares) in ((1, rows), (2, columns)):
        assert f", {first}, axis={axis})" in made
        assert f", {second}, axis={axis})" in made
        assert f", {shares})" in made


@pytest.mark.parametrize(
    ("name", "arguments", "keywords", "why"),
    [
        (
            "tf.image.resize_nearest_neighbor",
            [SIZE],
            {"align_corners": constant(value=True)},
            "`align_corners=True`",
        ),
        ("tf.image.resize_images", [SIZE], {"method": constant(2)}, "a resizing by 2"),
        (
            "tf.image.crop_to_bounding_box",
            [constant(2), constant(0), constant(3), constant(2)],
            {},
            "the part",
        ),
        (
            "tf.image.pad_to_bounding_box",
            [constant(2), constant(0), constant(5), constant(2)],
            {},
            "the padding",
        ),
        ("tf.image.central_crop", [constant(1.5)], {}, "the fraction"),
        ("tf.nn.max_pool2d", [numbers(2, 2, 2, 2), constant(1), constant("SAME")], {}, "`ksize="),
        ("tf.nn.max_pool2d", [constant(2), constant(1), constant("EXPLICIT")], {}, "the padding"),
        ("K.pool2d", [numbers(2, 2)], {}, "the data format"),
        ("K.pool2d", [numbers(2, 2)], {"data_format": constant("channels_first")}, "the pooling"),
        ("K.pool2d", [numbers(2, 2)], {"pool_mode": constant("min")}, "the pooling"),
        (
            "tf.nn.max_pool2d",
            [constant(2), constant(1), constant("SAME"), constant("NCHW")],
            {},
            "`data_format=",
        ),
        (
            "tf.image.extract_patches",
            [numbers(1, 2, 2, 1), constant(1), constant(2), constant("SAME")],
            {},
            "gaps",
        ),
        ("tf.nn.lrn", [constant(50)], {}, "the radius"),
    ],
)
def test_images_that_are_not_understood(
    name: str, arguments: list[SymbolicValue], keywords: dict[str, SymbolicValue], why: str
) -> None:
    with pytest.raises(Unknown, match=why):
        called(name, IMAGE, *arguments, dialect=None, **keywords)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("tf.image.resize_bilinear", [SIZE]),
        ("tf.image.central_crop", [constant(0.5)]),
        ("tf.image.per_image_standardization", []),
    ],
)
def test_an_image_of_unknown_size(name: str, arguments: list[SymbolicValue]) -> None:
    with pytest.raises(Unknown, match="unknown"):
        called(name, replace(IMAGE, shape=(None, None, None, 3)), *arguments)


@pytest.mark.parametrize("tensorflow", [None, "1"])
def test_a_resize_of_an_older_tensorflow(tensorflow: str | None) -> None:
    dialect = Libraries("tensorflow", "1" if tensorflow else None)
    with pytest.raises(Unknown, match=r"half-pixel centres$"):
        called("tf.image.resize", X, SIZE, dialect=dialect)


def test_what_is_not_understood() -> None:
    with pytest.raises(Unknown, match=r"^`tf.image.resize` by bicubic$"):
        called("tf.image.resize", X, SIZE, constant("bicubic"))
    with pytest.raises(Unknown, match=r"^`antialias=True`$"):
        called("tf.image.resize", X, SIZE, antialias=constant(value=True))
    with pytest.raises(Unknown, match=r"^the size$"):
        called("tf.image.resize", X, items("list", [constant(8)]))
    with pytest.raises(Unknown, match=r"^`interpolation='bilinear'`$"):
        called(
            "K.resize_images",
            X,
            constant(2),
            constant(2),
            constant("channels_last"),
            constant("bilinear"),
        )
