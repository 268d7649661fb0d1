"""The template is found in any parallel model in memory, and it is the very object."""

from __future__ import annotations

from typing import Any

import pytest

from unnest.keras import multi_gpu_model, template_model
from unnest.keras.graph_of_live_model import _architecture_from_json, _architecture_from_nodes
from unnest.keras.keras_api import api_of


def cut(tf: Any) -> Any:
    """A slice function as everyone wrote it."""

    def get_slice(data: Any, i: int, parts: int) -> Any:
        step = tf.shape(data)[0] // parts
        return data[i * step :] if i == parts - 1 else data[i * step : (i + 1) * step]

    return get_slice


def keras_2_way(tf: Any, keras: Any, template: Any, parts: int = 2) -> Any:
    """A parallel model as Keras 2.2 built it: Lambdas, calls, concatenations."""
    layers, inputs, towers = keras.layers, list(template.inputs), []
    for i in range(parts):
        arguments = {"i": i, "parts": parts}
        slices = [
            layers.Lambda(cut(tf), output_shape=tuple(x.shape)[1:], arguments=arguments)(x)
            for x in inputs
        ]
        towers.append(template(slices if len(slices) > 1 else slices[0]))
    joined = [layers.Concatenate(axis=0)(list(ys)) for ys in zip(*map(flat, towers), strict=True)]
    return keras.Model(inputs, joined if len(joined) > 1 else joined[0])


def flat(outputs: Any) -> list[Any]:
    return outputs if isinstance(outputs, list) else [outputs]


@pytest.mark.parametrize("name", ["dense", "conv", "several", "nested", "siamese", "masked"])
def test_ours_and_the_old_way(tf: Any, keras: Any, zoo: Any, name: str) -> None:
    template = zoo[name]()
    assert template_model(template) is template
    assert template_model(multi_gpu_model(template, 3)) is template
    assert template_model(keras_2_way(tf, keras, template)) is template


def test_wrappers_in_wrappers_and_in_larger_models(tf: Any, keras: Any, zoo: Any) -> None:
    template = zoo["dense"]()
    once = keras_2_way(tf, keras, template)
    assert template_model(keras_2_way(tf, keras, once, 3)) is template
    assert template_model(keras.Model(once.inputs, keras.layers.Dense(2)(once.output))) is template
    outer = keras.Sequential([keras.Input((6,)), once, keras.layers.Dense(2)])
    assert template_model(outer) is template
    both = keras.Sequential(
        [
            keras.Input((6,)),
            once,
            multi_gpu_model(keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)]), 2),
        ]
    )
    with pytest.raises(ValueError, match="several parallel models"):
        template_model(both)


def test_look_alikes_are_their_own_templates(keras: Any, zoo: Any) -> None:
    template, layers = zoo["dense"](), keras.layers
    a, b = keras.Input((6,)), keras.Input((6,))
    twins = keras.Model([a, b], layers.Concatenate(axis=0)([template(a), template(b)]))
    ensemble = keras.Model(
        a,
        layers.Average()([template(a), keras.Sequential([keras.Input((6,)), layers.Dense(3)])(a)]),
    )
    for model in (twins, ensemble):
        assert template_model(model) is model
    with pytest.raises(TypeError, match="Keras model"):
        template_model(None)


def test_layers_without_a_configuration(tf: Any, keras: Any, zoo: Any) -> None:
    """The live graph is looked at; slices of one's own class that tell nothing may as well be views of a batch."""
    slicer = cut(tf)

    class Part(keras.layers.Layer):
        def __init__(self, i: int, unserializable: Any) -> None:
            super().__init__()
            self.i, self.what = i, unserializable

        def call(self, x: Any) -> Any:
            return slicer(x, self.i, 2)

        def compute_output_shape(self, shape: Any) -> Any:
            return shape

        def get_config(self) -> Any:
            raise NotImplementedError

    template = zoo["dense"]()
    x = keras.Input((6,))
    parallel = keras.Model(
        x, keras.layers.Concatenate(axis=0)([template(Part(i, object())(x)) for i in range(2)])
    )
    assert template_model(parallel) is parallel


def test_a_subclass_with_its_own_constructor(tf: Any, keras: Any, zoo: Any) -> None:
    """Mask_RCNN's ParallelModel: its configuration is not that of a graph, its layers are."""

    class ParallelModel(keras.Model):
        def __init__(self, model: Any, gpu_count: int) -> None:
            built = keras_2_way(tf, keras, model, gpu_count)
            super().__init__(inputs=built.inputs, outputs=built.outputs)

    template = zoo["several"]()
    assert template_model(ParallelModel(template, 2)) is template


@pytest.mark.parametrize("name", ["dense", "conv", "several", "nested", "masked"])
def test_the_drawn_graph_is_the_stored_one(keras: Any, zoo: Any, name: str) -> None:
    """The two views of a live model lead to the same wrapper."""
    from unnest.core.architecture import read
    from unnest.core.wrappers.layer_graph import recognise_layer_graph

    template = zoo[name]()
    parallel = multi_gpu_model(template, 2)
    stored, drawn = (
        _architecture_from_json(api_of(parallel), parallel),
        _architecture_from_nodes(api_of(parallel), parallel),
    )
    assert stored is not None
    seen = [
        [
            (f.template, f.towers, f.merges, f.confidence)
            for f in recognise_layer_graph.recognise(read(view)).wrappers
        ]
        for view in (stored, drawn)
    ]
    assert seen[0] == seen[1]
    assert len(seen[0]) == 1
