"""The line that loads a result, and where it loads."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

import unnest
from tests import makeh5
from unnest.core.model import Group, Json, JsonObject, Stored, Tensor
from unnest.report.load_line import load_line
from unnest.report.where_it_loads import does_not_load_in, loads_in

GRAPH: JsonObject = {"class_name": "Sequential", "config": {"name": "m", "layers": []}}
LAMBDA: JsonObject = {
    "class_name": "Lambda",
    "config": {
        "name": "half",
        "function": {
            "class_name": "__lambda__",
            "config": {"code": "4wEA", "defaults": None, "closure": None},
        },
    },
}
TRAINED: JsonObject = {"loss": "mse"}


@pytest.mark.parametrize(
    ("model", "path", "line"),
    [
        (
            Stored("model", GRAPH, keras_version="2.2.4"),
            "a.h5",
            "import tf_keras; model = tf_keras.models.load_model('a.h5')",
        ),
        # tf_keras writes `module` into its .keras too: the version decides.
        (
            Stored("model", {**GRAPH, "module": "keras.engine"}, keras_version="2.15.0"),
            "a.keras",
            "import tf_keras; model = tf_keras.models.load_model('a.keras')",
        ),
        (
            Stored("model", GRAPH, keras_version="3.15.1"),
            "a.h5",
            "import keras; model = keras.models.load_model('a.h5')",
        ),
        # Keras 3 does not find "mse" again in an .h5 of its own.
        (
            Stored("model", GRAPH, TRAINED, keras_version="3.15.1"),
            "a.h5",
            "import keras; model = keras.models.load_model('a.h5', compile=False)",
        ),
        (
            Stored("model", GRAPH, TRAINED, keras_version="3.15.1"),
            "a.keras",
            "import keras; model = keras.models.load_model('a.keras')",
        ),
    ],
)
def test_the_line_that_loads(model: Stored, path: str, line: str) -> None:
    """In the Keras that the file is of."""
    assert load_line(model, path) == line


WEIGHTS_2, WEIGHTS_3 = (
    Stored("weights", keras_version="2.4.0"),
    Stored("weights", keras_version="3.15.1"),
)
MODEL_2, MODEL_3 = (
    Stored("model", GRAPH, keras_version="2.15.0"),
    Stored("model", GRAPH, keras_version="3.15.1"),
)


@pytest.mark.parametrize(
    ("model", "path", "container", "ending", "name"),
    [
        (WEIGHTS_2, "a.h5", "h5", None, "a.h5"),
        (WEIGHTS_2, "a.hdf5", "h5", None, "a.hdf5"),
        (WEIGHTS_2, "a.weights.h5", "h5", ".h5 without .weights", "a.h5"),
        (WEIGHTS_2, "epoch_0.93", "h5", ".h5", "epoch_0.93.h5"),
        (WEIGHTS_3, "a.weights.h5", "weights_h5", None, "a.weights.h5"),
        (WEIGHTS_3, "a.h5", "weights_h5", ".weights.h5", "a.weights.h5"),
        (MODEL_2, "a.bin", "h5", None, "a.bin"),
        (MODEL_3, "a.h5", "h5", None, "a.h5"),
        (MODEL_3, "a.H5", "h5", ".h5", "a.h5"),
        (MODEL_2, "a.keras", "keras", None, "a.keras"),
        (MODEL_2, "a.zip", "keras", ".keras", "a.zip.keras"),
        (MODEL_3, "a.KERAS", "keras", ".keras", "a.keras"),
    ],
)
def test_keras_tells_files_by_their_names(
    model: Stored, path: str, container: str, ending: str | None, name: str
) -> None:
    """The line has the name that today's Keras takes, and says to give the file that name first."""
    line = load_line(model, path, container) or ""
    assert f"({name!r}" in line
    assert ("first give the file this name" in line) is (ending is not None)
    told = [
        software
        for software in loads_in(model, path, container)
        if "under a name that ends in" in software
    ]
    assert bool(told) is (ending is not None)
    assert all(software.endswith(f"under a name that ends in {ending}") for software in told)


def test_those_before_2_12_tell_an_h5_by_its_content() -> None:
    assert loads_in(WEIGHTS_2, "a.bin", "h5")[-1] == "Keras 2.4.0, which wrote it"


def test_an_archive_is_unknown_to_the_keras_that_wrote_the_source() -> None:
    """A Keras before 2.13 does not know `.keras`."""
    old, new = (Stored("model", GRAPH, keras_version=v) for v in ("2.3.1", "2.15.0"))
    assert loads_in(old, "a.keras") == ("tf_keras (Keras 2)",)
    assert loads_in(old, "a.h5")[1] == "Keras 2.3.1, which wrote it"
    assert loads_in(new, "a.keras")[1] == "Keras 2.15.0, which wrote it"


def test_what_your_code_has_to_give_is_named() -> None:
    """Nothing loads a custom class, or a function by name, without it: not the writer either."""
    model = layers(CUSTOM, NAMED, version="2.1.6")
    assert loads_in(model, "a.h5") == (
        "tf_keras (Keras 2), with your Mine>Norm, scale",
        "Keras 2.1.6, which wrote it, with your Mine>Norm, scale",
    )
    assert loads_in(model, "a", "saved_model") == ("TensorFlow",)
    traced = Stored("model", keras_version="2.15.0", has_traced_calls=True)
    assert loads_in(traced, "a", "saved_model") == (
        "TensorFlow",
        "tf_keras (Keras 2)",
        "Keras 2.15.0, which wrote it",
    )


def test_stored_code_in_an_archive() -> None:
    """Any Keras that reads `.keras` wants to be told that it may run it."""
    model = Stored("model", {**GRAPH, "config": {"layers": [LAMBDA]}}, keras_version="2.15.0")
    assert "safe_mode=False" in str(load_line(model, "a.keras"))
    assert "safe_mode" not in str(load_line(model, "a.h5"))


def test_no_resumption_is_promised_from_an_h5_of_keras_3() -> None:
    """Its loader drops the optimizer's state."""
    told = loads_in(Stored("model", GRAPH, TRAINED, keras_version="3.15.1"), "a.h5")
    assert told == ("Keras 3, whose .h5 loader does not restore the optimizer",)


@pytest.mark.parametrize("version", ["3.15.1", "2.15.0"])
def test_safe_mode_says_whose_code_it_trusts(version: str) -> None:
    """The switch never comes without the names of the layers that it lets run."""
    model: JsonObject = {"class_name": "Sequential", "config": {"name": "s", "layers": [LAMBDA]}}
    line = load_line(Stored("model", model, keras_version=version), "m.keras") or ""
    assert "safe_mode=False" in line
    assert line.endswith("runs the code stored in half: only if you trust it")
    plain: JsonObject = {
        "class_name": "Lambda",
        "config": {"name": "half", "function": "get_slice"},
    }
    harmless: JsonObject = {"class_name": "Sequential", "config": {"name": "s", "layers": [plain]}}
    assert "safe_mode" not in str(
        load_line(Stored("model", harmless, keras_version=version), "m.keras")
    )


def layers(*entries: JsonObject, version: str, training: JsonObject | None = None) -> Stored:
    """A model of these layers."""
    graph: JsonObject = {
        "class_name": "Sequential",
        "config": {"name": "m", "layers": list(entries)},
    }
    return Stored("model", graph, training, keras_version=version)


ARCHITECTURE = {**makeh5.template(), "keras_version": "2.1.6", "backend": "tensorflow"}

CODE: JsonObject = {
    "class_name": "Lambda",
    "config": {"function": ["YwAA", None, None], "function_type": "lambda"},
}
NAMED: JsonObject = {
    "class_name": "Lambda",
    "config": {"function": "scale", "function_type": "function"},
}
CUSTOM: JsonObject = {"class_name": "Mine>Norm", "config": {"name": "n"}}


@pytest.mark.parametrize(
    ("model", "path", "line"),
    [
        # What is not in the file is named.
        (
            layers(CUSTOM, NAMED, version="2.4.0"),
            "a.h5",
            (
                "import tf_keras; model = tf_keras.models.load_model('a.h5', custom_objects={'Mine>Norm': Norm, "
                "'scale': scale})  # define or import Norm, scale first"
            ),
        ),
        # Stored code runs on the Python that wrote it, which tf_keras may no longer know.
        (
            layers(CODE, version="2.2.4"),
            "a.h5",
            (
                "import keras; model = keras.models.load_model('a.h5')"
                "  # in Keras 2.2.4, which wrote it, on the Python of the Lambda layers"
            ),
        ),
        (
            layers(CODE, version="2.2.4-tf"),
            "a.h5",
            (
                "from tensorflow import keras; model = keras.models.load_model('a.h5')"
                "  # in Keras 2.2.4-tf, which wrote it, on the Python of the Lambda layers"
            ),
        ),
        (
            layers(CODE, version="2.15.0"),
            "a.h5",
            "import tf_keras; model = tf_keras.models.load_model('a.h5')  # on the Python of the Lambda layers",
        ),
        # tf_keras does not know the arguments of Keras 1, and Keras 3 neither.
        (
            layers(version="1.2.2"),
            "a.h5",
            "import keras; model = keras.models.load_model('a.h5')  # in Keras 1.2.2, which wrote it",
        ),
        # A custom loss is not found by its name.
        (
            layers(
                version="2.4.0",
                training={"loss": {"a": "dice_loss", "b": "mse"}, "metrics": ["accuracy"]},
            ),
            "a.h5",
            (
                "import tf_keras; model = tf_keras.models.load_model('a.h5', compile=False)"
                "  # to train on, give dice_loss in custom_objects instead of compile=False"
            ),
        ),
        (
            layers(
                version="2.15.0",
                training={
                    "loss": {
                        "module": "mine",
                        "class_name": "function",
                        "config": "dice_loss",
                        "registered_name": "function",
                    },
                    "metrics": [["f1"], None],
                },
            ),
            "a.h5",
            (
                "import tf_keras; model = tf_keras.models.load_model('a.h5', compile=False)"
                "  # to train on, give dice_loss, f1 in custom_objects instead of compile=False"
            ),
        ),
        (  # Nor is one that a class of TensorFlow's holds; Keras's own are found.
            layers(
                version="2.10.0",
                training={
                    "loss": {
                        "class_name": "LossFunctionWrapper",
                        "config": {"fn": "mean_squared_error"},
                    },
                    "metrics": [
                        [{"class_name": "MeanMetricWrapper", "config": {"name": "r", "fn": "rmse"}}]
                    ],
                },
            ),
            "a.h5",
            (
                "import tf_keras; model = tf_keras.models.load_model('a.h5', compile=False)"
                "  # to train on, give rmse in custom_objects instead of compile=False"
            ),
        ),
        (  # Nor is a class of a metric; Keras's own are.
            layers(
                version="2.15.0",
                training={
                    "loss": {"class_name": "Huber", "config": {"delta": 1.0}},
                    "metrics": [
                        [
                            {"class_name": "MyMetric", "config": {"name": "m", "dtype": "float32"}},
                            {"class_name": "MeanIoU", "config": {"num_classes": 2}},
                        ]
                    ],
                },
            ),
            "a.h5",
            (
                "import tf_keras; model = tf_keras.models.load_model('a.h5', compile=False)"
                "  # to train on, give MyMetric in custom_objects instead of compile=False"
            ),
        ),
        (  # Nor is an optimizer, of a class that is registered or not.
            layers(
                version="2.4.0",
                training={"loss": "mse", "optimizer_config": {"class_name": "MyLamb"}},
            ),
            "a.h5",
            (
                "import tf_keras; model = tf_keras.models.load_model('a.h5', compile=False)"
                "  # to train on, give MyLamb in custom_objects instead of compile=False"
            ),
        ),
        (
            layers(
                version="2.15.0",
                training={"loss": "mse", "optimizer_config": {"class_name": "Addons>LAMB"}},
            ),
            "a.h5",
            (
                "import tf_keras; model = tf_keras.models.load_model('a.h5', compile=False)"
                "  # to train on, give Addons>LAMB in custom_objects instead of compile=False"
            ),
        ),
        (
            layers(
                version="2.15.0",
                training={"loss": "mse", "optimizer_config": {"class_name": "Custom>Adam"}},
            ),
            "a.h5",
            "import tf_keras; model = tf_keras.models.load_model('a.h5')",
        ),
        (  # A function without a name goes by the one that Python shows for it.
            layers(
                {"class_name": "Dense", "config": {"name": "d", "activation": "<lambda>"}},
                version="2.4.0",
            ),
            "a.h5",
            (
                "import tf_keras; model = tf_keras.models.load_model('a.h5', custom_objects={'<lambda>': _lambda_})"
                "  # define or import _lambda_ first"
            ),
        ),
        (  # What has no name cannot be given.
            layers(version="2.4.0", training={"loss": "<lambda>"}),
            "a.h5",
            "import tf_keras; model = tf_keras.models.load_model('a.h5', compile=False)",
        ),
        (
            layers(
                version="2.4.0",
                training={"loss": ["categorical_crossentropy", "mse"], "metrics": [["acc"], None]},
            ),
            "a.h5",
            "import tf_keras; model = tf_keras.models.load_model('a.h5')",
        ),
    ],
)
def test_what_the_line_says_besides(model: Stored, path: str, line: str) -> None:
    """Names that the code must bring, and where stored code runs."""
    assert load_line(model, path, "h5") == line


def test_no_line_where_nothing_loads() -> None:
    """Keras 3 writes operations into .h5 and does not find them again."""
    model = layers({"class_name": "Split", "config": {"name": "s"}}, version="3.15.1")
    assert load_line(model, "a.h5", "h5") is None
    assert loads_in(model, "a.h5", "h5") == ()


def test_weights_load_into_the_model_that_is_named() -> None:
    """Weights alone need a model; the line says which."""
    assert load_line(WEIGHTS_2, "a.h5", "h5", "the model that was saved") == (
        "model.load_weights('a.h5')  # model: the model that was saved, built by your code; "
        "in Keras 3: unnest.keras.load_weights"
    )
    assert load_line(WEIGHTS_2._replace(keras_version=None), "a.h5", "h5") == (
        "model.load_weights('a.h5')  # model: your single-device model, built by your code"
    )


@pytest.mark.parametrize(
    ("kind", "loads"),
    [("Flatten", False), ("MaxPooling2D", False), ("Mine", True), ("PReLU", True)],
)
def test_surplus_weights_promise_no_loading(kind: str, loads: bool) -> None:
    """Every Keras refuses weights of a layer that has none; a custom class may have any."""
    layer: JsonObject = {
        "class_name": kind,
        "config": {"name": "flat", "batch_input_shape": [None, 3]},
    }
    weights = Group("flat", (Tensor("x:0", (3,), "<f4", "/x"),))
    architecture: JsonObject = {
        "class_name": "Sequential",
        "config": {"name": "m", "layers": [layer]},
    }
    model = Stored("model", architecture, groups=(weights,), keras_version="2.3.0-tf")
    assert bool(loads_in(model, "a.h5", "h5")) == loads
    assert (load_line(model, "a.h5", "h5") is not None) == loads
    assert ("tf_keras" not in does_not_load_in(model, "h5")) == loads


NOT_NOTED: JsonObject = {}


def applying(name: str, weights: dict[str, int], *, nested: bool) -> Stored:
    """A model with a Dense in two TimeDistributed layers, or in a model in it, and how many weights each has there."""
    dense: JsonObject = {
        "name": "d",
        **{f"{w}_{k}": None for w in ("kernel", "bias") for k in ("initializer", "constraint")},
    }
    steps: list[Json] = [
        {
            "class_name": name,
            "config": {"name": at, "layer": {"class_name": "Dense", "config": dense, **shared}},
        }
        for at, shared in (("a", NOT_NOTED), ("b", {"shared_object_id": 3}))
    ]
    architecture: JsonObject = {
        "class_name": "Sequential",
        "config": {"name": "m", "layers": steps},
    }
    tensors = {
        at: tuple(Tensor(f"{at}/{k}", (3,), "<f4", f"{at}/{k}") for k in range(n))
        for at, n in weights.items()
    }
    groups = tuple(Group(at, own) for at, own in tensors.items())
    if nested:
        architecture = {
            "class_name": "Sequential",
            "config": {"name": "outer", "layers": [architecture]},
        }
        groups = (
            Group("m", tuple(t._replace(owner=(g.name,)) for g in groups for t in g.tensors)),
        )
    return Stored(
        "model", {**architecture, "module": "keras"}, groups=groups, keras_version="3.15.1"
    )


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize(
    ("name", "weights", "loads"),
    [
        ("TimeDistributed", {"a": 2, "b": 0}, False),
        ("TimeDistributed", {"a": 2, "b": 2}, True),  # a copy for each, as `--to keras` writes it
        ("Mine", {"a": 2, "b": 0}, True),  # which may hold what it likes
    ],
)
def test_layer_that_two_apply(
    name: str, weights: dict[str, int], *, nested: bool, loads: bool
) -> None:
    """Keras stores its weights with the first in a `.keras`, and does not load that."""
    model = applying(name, weights, nested=nested)
    assert bool(loads_in(model, "a.keras", "keras")) == loads
    assert (
        does_not_load_in(model, "keras")
        .get("Keras 3", "")
        .startswith("" if loads else "a layer that b shares")
    )


def test_layer_that_is_noted_at_both_places() -> None:
    """As tf_keras notes a model that two layers apply, and finds it again."""
    model = applying("TimeDistributed", {"a": 2, "b": 0}, nested=False)
    noted = json.loads(
        json.dumps(model.architecture).replace('"layer": {', '"layer": {"shared_object_id": 3, ')
    )
    assert does_not_load_in(
        model._replace(architecture=noted, keras_version="2.15.0"), "keras"
    ).keys() == {"Keras 3"}
    assert "tf_keras" in does_not_load_in(model._replace(keras_version="2.15.0"), "keras")


@pytest.mark.parametrize(
    ("entry", "config", "loads"),
    [
        ({"name": "d", "units": 2}, {}, False),
        ({"name": "d", "units": 2, "batch_input_shape": [None, 4]}, {}, True),
        ({"name": "d", "units": 2}, {"build_input_shape": [None, 4]}, True),
    ],
)
def test_weights_of_a_sequential_without_an_input_shape(
    entry: JsonObject, config: JsonObject, loads: bool
) -> None:
    """No Keras builds it before it loads them, its own included; JSON alone it loads."""
    layers: Json = [{"class_name": "Dense", "config": entry}]
    architecture: JsonObject = {
        "class_name": "Sequential",
        "config": {"name": "m", "layers": layers, **config},
    }
    weights = Group("d", (Tensor("kernel:0", (4, 2), "<f4", "/k"),))
    model = Stored("model", architecture, groups=(weights,), keras_version="2.2.4")
    assert (
        "tf_keras" not in does_not_load_in(model, "h5"),
        bool(loads_in(model, "a.h5", "h5")),
    ) == (loads, loads)
    assert "tf_keras" not in does_not_load_in(
        model._replace(contents="architecture", groups=()), "json"
    )


@pytest.mark.parametrize(
    ("version", "defaults", "closure", "taker"),
    [
        ("1.2.2", None, None, "Keras 1.2.2, which wrote it"),
        ("1.2.2", [2.0], None, None),
        ("1.2.2", None, [2.0], None),
        ("2.0.9", [2.0], None, "Keras 2.0.9, which wrote it"),
        ("2.0.9", None, [2.0], "Keras 2.1.2 to 2.3"),
        ("2.1.1", None, [2.0], "Keras 2.1.2 to 2.3"),
        ("2.1.2", None, [2.0], "Keras 2.1.2, which wrote it"),
        ("2.1.6-tf", None, [2.0], "Keras 2.1.6-tf, which wrote it"),
    ],
)
def test_code_that_its_own_keras_gives_a_list(
    version: str, defaults: Json, closure: Json, taker: str | None
) -> None:
    """Python refuses a list for a closure, or for defaults; the rows of 1.2.2, 2.0.9 and 2.1.6 were tried there.

    Later releases load what 2.0.9 wrote, and the line to load it names them.
    """
    function: Json = ["4wEA\n", defaults, closure]
    stored: JsonObject = {"class_name": "Lambda", "config": {"name": "l", "function": function}}
    architecture: JsonObject = {
        "class_name": "Sequential",
        "config": {"name": "m", "layers": [stored]},
    }
    model = Stored("model", architecture, keras_version=version)
    loading = [each for each in loads_in(model, "a.h5", "h5") if not each.startswith("tf_keras")]
    assert loading == ([] if taker is None else [taker])
    line = load_line(model, "a.h5", "h5")
    assert (line is None) if taker is None else (line is not None)


@pytest.mark.parametrize(
    ("activation", "version", "takers"),
    [
        ("relu6", "2.2.4", ("tf_keras (Keras 2)", "Keras 2.2.4, which wrote it, with your relu6")),
        (
            "swish",
            "2.3.1",
            (
                "tf_keras (Keras 2), which takes swish as x * sigmoid(x)",
                "Keras 2.3.1, which wrote it, with your swish",
            ),
        ),
        ("swish", "2.3.0-tf", ("tf_keras (Keras 2)", "Keras 2.3.0-tf, which wrote it")),
        ("relu", "2.2.4", ("tf_keras (Keras 2)", "Keras 2.2.4, which wrote it")),
        ("relu6", "2.10.0", ("tf_keras (Keras 2)", "Keras 2.10.0, which wrote it")),
    ],
)
def test_activations_that_became_keras_s_own(
    activation: str, version: str, takers: tuple[str, ...]
) -> None:
    """Their own Keras needs your code; tf_keras has one, which may lack the factor of yours."""
    dense: JsonObject = {"class_name": "Dense", "config": {"name": "d", "activation": activation}}
    graph: JsonObject = {"class_name": "Sequential", "config": {"name": "m", "layers": [dense]}}
    assert loads_in(Stored("model", graph, keras_version=version), "a.h5", "h5") == takers


def test_the_line_of_the_writer_gives_its_activations() -> None:
    """Where tf_keras does not load the file: here for code of another Python."""
    dense: JsonObject = {"class_name": "Dense", "config": {"name": "d", "activation": "relu6"}}
    function: Json = ["4wEA\n", None, None]
    code: JsonObject = {"class_name": "Lambda", "config": {"name": "l", "function": function}}
    graph: JsonObject = {
        "class_name": "Sequential",
        "config": {"name": "m", "layers": [dense, code]},
    }
    line = load_line(Stored("model", graph, keras_version="2.2.4"), "a.h5", "h5")
    assert "load_model('a.h5', custom_objects={'relu6': relu6})" in str(line)


@pytest.mark.parametrize(
    ("spelled", "loads", "line"),
    [
        (
            json.dumps(ARCHITECTURE),
            ("tf_keras (Keras 2)", "Keras 2.1.6, which wrote it"),
            "import tf_keras; model = tf_keras.models.model_from_json(open({0}).read())",
        ),
        (  # What `json.dump(model.to_json(), file)` makes is a text in JSON.
            json.dumps(json.dumps(ARCHITECTURE)),
            ("tf_keras (Keras 2)", "Keras 2.1.6, which wrote it"),
            "import json; import tf_keras; model = tf_keras.models.model_from_json(json.loads(open({0}).read()))",
        ),
        (
            "\ufeff" + json.dumps(ARCHITECTURE),
            ("tf_keras (Keras 2)", "Keras 2.1.6, which wrote it"),
            "import tf_keras; model = tf_keras.models.model_from_json(open({0}, encoding='utf-8-sig').read())",
        ),
        (
            yaml.safe_dump(ARCHITECTURE, default_flow_style=True),
            ("Keras 2.1.6, which wrote it",),
            "import keras; model = keras.models.model_from_yaml(open({0}).read())  # in Keras 2.1.6, which wrote it",
        ),
        (
            yaml.safe_dump(ARCHITECTURE),
            ("Keras 2.1.6, which wrote it",),
            "import keras; model = keras.models.model_from_yaml(open({0}).read())  # in Keras 2.1.6, which wrote it",
        ),
    ],
)
def test_the_line_takes_the_architecture_as_it_is_spelled(
    tmp_path: Path, spelled: str, loads: tuple[str, ...], line: str
) -> None:
    """Keras takes the text of one JSON object; today's reads no YAML."""
    path = tmp_path / "model.txt"
    path.write_text(spelled, encoding="utf-8")
    report = unnest.inspect(path)
    assert report.loads_in == loads
    assert report.load == line.format(repr(str(path)))
