"""The order of a path-keyed file's weights in a flat list."""

from __future__ import annotations

import pytest

from unnest.core.architecture import snake_case
from unnest.core.model import Group, Json, JsonObject, Stored, Tensor
from unnest.errors import Refused
from unnest.formats.keras3.path_keyed_weights_in_keras_order import in_order
from unnest.formats.keras3.weights_to_paths import lay_out

CELL: JsonObject = {
    "units": 1,
    **{f"{part}_initializer": None for part in ("kernel", "recurrent", "bias")},
}
INNER: JsonObject = {
    "class_name": "Sequential",
    "config": {
        "name": "inner",
        "layers": [
            {
                "class_name": "Bidirectional",
                "config": {
                    "name": "both",
                    "layer": {"class_name": "LSTM", "config": {"name": "lstm", **CELL}},
                },
            }
        ],
    },
}
MODEL: JsonObject = {
    "module": "keras",
    "class_name": "Sequential",
    "config": {"name": "outer", "layers": [INNER]},
}


def test_layer_that_holds_layers_within_a_model() -> None:
    """Paths sort backward before forward, Keras lists forward first: in a nested model, too."""
    path = "layers/sequential/layers/bidirectional"
    backward, forward = (
        [f"{path}/{part}_layer/cell/vars/{k}" for k in range(3)] for part in ("backward", "forward")
    )
    tensors = tuple(Tensor(ref, (4,), "<f4", ref, ("both",)) for ref in (*backward, *forward))
    model = Stored("model", MODEL, groups=(Group("inner", tensors),), keras_version="3.15.1")
    assert [t.ref for t in in_order(model, in_lists=True).groups[0].tensors] == [
        *forward,
        *backward,
    ]


@pytest.mark.parametrize(
    "config",
    [
        {
            "dtype": {
                "class_name": "QuantizedDTypePolicy",
                "config": {"mode": "int8", "source_name": "float32"},
            }
        },
        {"dtype": "float8_from_float32"},
        {"quantization_config": {"class_name": "Int8QuantizationConfig", "config": {}}},
        {"lora_rank": 2, "lora_alpha": 2},
        {"layer": {"class_name": "Dense", "config": {"lora_rank": 2}}},
    ],
)
def test_quantized_layers_stay_in_their_container(config: JsonObject) -> None:
    """`.h5` has a quantized kernel behind the bias, and LoRA's own weights; `.keras` has neither."""
    layer: JsonObject = {"class_name": "Dense", "config": {"name": "d", **config}}
    model: JsonObject = {
        "module": "keras",
        "class_name": "Sequential",
        "config": {"name": "outer", "layers": [layer]},
    }
    tensors = tuple(
        Tensor(f"layers/dense/vars/{k}", (3,), "<f4", f"layers/dense/vars/{k}") for k in range(3)
    )
    with pytest.raises(Refused, match="'d': is quantized or has LoRA weights"):
        in_order(
            Stored("model", model, groups=(Group("d", tensors),), keras_version="3.15.1"),
            in_lists=True,
        )


def test_layers_that_could_be_quantized_and_are_not() -> None:
    """As Keras 3 writes those."""
    layer: JsonObject = {
        "class_name": "Dense",
        "config": {"name": "d", "quantization_config": None, "dtype": "float32"},
    }
    model: JsonObject = {
        "module": "keras",
        "class_name": "Sequential",
        "config": {"name": "outer", "layers": [layer]},
    }
    tensors = tuple(
        Tensor(f"layers/dense/vars/{k}", (3,), "<f4", f"layers/dense/vars/{k}") for k in range(2)
    )
    stored = Stored("model", model, groups=(Group("d", tensors),), keras_version="3.15.1")
    assert [t.ref for t in in_order(stored, in_lists=True).tensors] == [t.ref for t in tensors]


def dense(name: str, **config: Json) -> JsonObject:
    """A layer with a kernel and a bias."""
    rules = {
        f"{w}_{what}": None
        for w in ("kernel", "bias")
        for what in ("initializer", "regularizer", "constraint")
    }
    return {"class_name": "Dense", "config": {"name": name, "units": 3, **rules, **config}}


def sequential(name: str, *layers: JsonObject) -> JsonObject:
    """A model of these."""
    return {"class_name": "Sequential", "config": {"name": name, "layers": list(layers)}}


NORMALIZED: JsonObject = {
    "class_name": "BatchNormalization",
    "config": {
        "name": "norm",
        **{
            f"{w}_{what}": None
            for w in ("gamma", "beta")
            for what in ("initializer", "regularizer")
        },
        **{f"moving_{what}_initializer": None for what in ("mean", "variance")},
    },
}
PER_STEP = "layers/time_distributed/layer/layers"


def over(model: JsonObject) -> JsonObject:
    """A model that applies another to every step."""
    return sequential(
        "outer", {"class_name": "TimeDistributed", "config": {"name": "steps", "layer": model}}
    )


def per_step(model: JsonObject, *paths: str) -> tuple[Tensor, ...]:
    """The order of the weights at these paths in the list of a TimeDistributed over `model`."""
    tensors = tuple(Tensor(f"{PER_STEP}/{p}", (3,), "<f4", f"{PER_STEP}/{p}") for p in paths)
    stored = Stored("model", {**over(model), "module": "keras"}, groups=(Group("steps", tensors),))
    return in_order(stored._replace(keras_version="3.15.1"), in_lists=True).groups[0].tensors


def test_time_distributed_over_a_model() -> None:
    """Trained weights come first, through the layers of the model and its nested models."""
    kernels = [f"dense{k}/vars/{v}" for k in ("", "_1") for v in (0, 1)]
    norm = [f"sequential/layers/batch_normalization/vars/{k}" for k in range(4)]
    model = sequential("a", dense("d"), sequential("b", NORMALIZED), dense("e"))
    found = per_step(model, *kernels, *norm)
    wanted = [*kernels[:2], *norm[:2], *kernels[2:], *norm[2:]]
    assert [t.ref.removeprefix(PER_STEP + "/") for t in found] == wanted
    assert [t.owner for t in found] == [("d",)] * 2 + [("b", "norm")] * 2 + [("e",)] * 2 + [
        ("b", "norm")
    ] * 2


def test_frozen_layers_of_a_time_distributed_model_come_last() -> None:
    """Each with all its weights."""
    first, second = ([f"{name}/vars/{v}" for v in (0, 1)] for name in ("dense", "dense_1"))
    found = per_step(sequential("a", dense("d", trainable=False), dense("e")), *first, *second)
    assert [t.ref.removeprefix(PER_STEP + "/") for t in found] == [*second, *first]


@pytest.mark.parametrize(
    ("layers", "paths"),
    [
        (
            (dense("d"), dense("e")),
            ("dense/vars/0", "dense/vars/1"),
        ),  # the second is stored elsewhere
        ((dense("d"),), ("dense/vars/0", "dense/vars/1", "dense_1/vars/0")),
        (({"class_name": "Attention", "config": {"name": "s"}},), ("attention/vars/0",)),
    ],
)
def test_time_distributed_over_what_is_not_known(
    layers: tuple[JsonObject, ...], paths: tuple[str, ...]
) -> None:
    """A layer without its weights, weights without a layer, and one of Keras's that does not say what is trained."""
    with pytest.raises(Refused, match=r"'steps'.*without --to and --keras.*set_weights"):
        per_step(sequential("a", *layers), *paths)


OWN_LAYER: JsonObject = {"class_name": "Own", "config": {"name": "own"}}


def within(*layers: JsonObject, weights: dict[str, int]) -> Stored:
    """A model of a model of these; of each layer's class, by its name, so many weights."""
    model = sequential("outer", sequential("inner", *layers))
    tensors = []
    for (path, count), layer in zip(weights.items(), layers, strict=True):
        config = layer["config"]
        assert isinstance(config, dict)
        refs = [f"layers/sequential/layers/{path}/vars/{k}" for k in range(count)]
        trained = (
            2 if path == "batch_normalization" else 0 if config.get("trainable") is False else count
        )
        tensors += [
            Tensor(r, (3,), "<f4", r, (config["name"],), k < trained) for k, r in enumerate(refs)
        ]
    return Stored(
        "model",
        {**model, "module": "keras"},
        groups=(Group("inner", (*tensors,)),),
        keras_version="3.15.1",
    )


@pytest.mark.parametrize(
    "stored",
    [
        within(OWN_LAYER, weights={"own": 3}),
        within(dense("d"), OWN_LAYER, weights={"dense": 2, "own": 3}),
        within(
            {**OWN_LAYER, "config": {"name": "own", "trainable": False}},
            dense("d"),
            weights={"own": 3, "dense": 2},
        ),
    ],
)
def test_own_layer_whose_place_in_the_list_is_decided(stored: Stored) -> None:
    """Whichever of its weights are trained: nothing that is trained comes behind them, and nothing else before."""
    listed = in_order(stored, in_lists=True).groups[0].tensors
    assert {t.ref for t in listed} == {t.ref for t in stored.groups[0].tensors}
    assert [t.ref for t in listed if "own" in t.ref] == [
        t.ref for t in stored.tensors if "own" in t.ref
    ]


@pytest.mark.parametrize(
    "stored",
    [
        within(OWN_LAYER, dense("d"), weights={"own": 3, "dense": 2}),
        within(NORMALIZED, OWN_LAYER, weights={"batch_normalization": 4, "own": 3}),
        within(
            OWN_LAYER, {**OWN_LAYER, "config": {"name": "other"}}, weights={"own": 3, "own_1": 1}
        ),
    ],
)
def test_own_layer_whose_place_in_the_list_is_open(stored: Stored) -> None:
    """Only a custom layer's code shows which weights are trained; with layers stored apart that is not needed."""
    with pytest.raises(
        Refused, match=r"lists the trained weights of 'inner' first; .*, only the code of Own knows"
    ):
        in_order(stored, in_lists=True)
    assert {t.ref for t in in_order(stored, in_lists=False).tensors} == {
        t.ref for t in stored.tensors
    }


@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize("is_last", [False, True])
def test_own_layer_in_a_model_that_is_applied_to_every_step(
    *, is_last: bool, wrapped: bool
) -> None:
    """As in a nested model, be it applied to every step itself or not."""
    own: JsonObject = {
        "class_name": "TimeDistributed",
        "config": {"name": "td", "layer": OWN_LAYER},
    }
    own, path = (own, "time_distributed/layer") if wrapped else (OWN_LAYER, "own")
    layers = (dense("d"), own) if is_last else (own, dense("d"))
    paths = [*(f"dense/vars/{k}" for k in range(2)), *(f"{path}/vars/{k}" for k in range(3))]
    if is_last:
        assert [
            t.ref.removeprefix(PER_STEP + "/") for t in per_step(sequential("a", *layers), *paths)
        ] == paths
        return
    with pytest.raises(Refused, match="lists the trained weights of 'steps' first"):
        per_step(sequential("a", *layers), *paths)


def test_names_of_a_class_s_own_have_no_order() -> None:
    """Numbers have: Keras's `save_own_variables` counts."""
    tensors = tuple(
        Tensor(r, (3,), "<f4", r) for r in ("layers/own/vars/scale", "layers/own/vars/shift")
    )
    model: JsonObject = {**sequential("outer", OWN_LAYER), "module": "keras"}
    with pytest.raises(Refused, match="only the code of Own knows both"):
        in_order(
            Stored("model", model, groups=(Group("own", tensors),), keras_version="3.15.1"),
            in_lists=True,
        )


@pytest.mark.parametrize(
    ("kind", "attribute", "depth"),
    [("TimeDistributed", "layer", 1), ("TimeDistributed", "layer", 2), ("RNN", "cell", 1)],
)
def test_own_layer_that_another_applies(kind: str, attribute: str, depth: int) -> None:
    """Both containers of both Keras call its weights `vars/0`, `vars/1`: their places and their order are known."""
    layer, path = OWN_LAYER, snake_case(kind)
    for k in range(depth):
        layer, path = (
            {"class_name": kind, "config": {"name": f"outer_{k}", attribute: layer}},
            f"{path}/{attribute}",
        )
    refs = [f"layers/{path}/vars/{k}" for k in range(3)]
    group = Group(f"outer_{depth - 1}", tuple(Tensor(r, (3,), "<f4", r) for r in refs))
    model: JsonObject = {**sequential("outer", layer), "module": "keras"}
    stored = in_order(
        Stored("model", model, groups=(group,), keras_version="2.15.0"), in_lists=False
    )
    assert [t.ref for t in stored.tensors] == refs
    assert [*lay_out(stored).tensors.values()] == [*stored.tensors]
    assert [*lay_out(stored).tensors] == refs


def test_own_layer_that_another_applies_and_that_holds_one() -> None:
    """Only its code knows in which order it lists the weights of that."""
    layer: JsonObject = {
        "class_name": "TimeDistributed",
        "config": {"name": "steps", "layer": OWN_LAYER},
    }
    refs = [f"layers/time_distributed/layer/inner/vars/{k}" for k in range(2)]
    group = Group("steps", tuple(Tensor(r, (3,), "<f4", r) for r in refs))
    model: JsonObject = {**sequential("outer", layer), "module": "keras"}
    with pytest.raises(Refused, match="only the code of Own knows both"):
        in_order(Stored("model", model, groups=(group,), keras_version="2.15.0"), in_lists=False)
