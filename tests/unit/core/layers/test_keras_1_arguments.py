"""Arguments of Keras 1 by today's names, and the shapes that follow from them; all of k122's layers are in genuine."""

from __future__ import annotations

import pytest

from unnest.core.layers.catalog import layer_record, output_shape
from unnest.core.layers.keras_1_arguments import arguments_since_keras_2
from unnest.core.model import JsonObject, Shape, Unknown

CONV: JsonObject = {
    "nb_filter": 5,
    "nb_row": 3,
    "nb_col": 2,
    "border_mode": "same",
    "subsample": [2, 1],
}


def test_names_forms_and_what_was_no_choice() -> None:
    assert arguments_since_keras_2(layer_record("Convolution2D"), {**CONV, "dim_ordering": "th"}) == {
        "filters": 5, "kernel_size": [3, 2], "padding": "same", "strides": [2, 1], "data_format": "channels_first",
        "use_bias": True, "bias_initializer": "zeros",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "config", "shape", "result"),
    [
        ("Convolution2D", {**CONV, "dim_ordering": "tf"}, (None, 12, 10, 3), (None, 6, 10, 5)),
        ("Convolution2D", {**CONV, "dim_ordering": "th"}, (None, 3, 12, 10), (None, 5, 6, 10)),
        ("GlobalAveragePooling2D", {"dim_ordering": "th"}, (None, 3, 12, 10), (None, 3)),
        ("Dense", {"output_dim": 7, "init": "uniform"}, (None, 4), (None, 7)),
        ("Embedding", {"output_dim": 4, "init": "uniform"}, (None, 5), (None, 5, 4)),
    ],
    ids=["last", "first", "pooled", "dense", "a name that stayed"],
)
def test_shapes(name: str, config: JsonObject, shape: Shape, result: Shape) -> None:
    """What Keras 1.2.2 gave for these."""
    assert output_shape(name, config, shape) == result


def test_an_order_of_axes_that_is_not_stored() -> None:
    """Keras 1 wrote none for these layers; its machine's setting decided."""
    with pytest.raises(Unknown, match="the order of axes of UpSampling2D"):
        output_shape("UpSampling2D", {"size": [2, 3]}, (None, 12, 10, 3))
