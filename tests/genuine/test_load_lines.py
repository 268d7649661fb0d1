"""A Keras is said to load a file if it does: what stacks made of files that they had just written."""

from __future__ import annotations

import pytest

import unnest
from tests.corpus.unpacked import FIXTURES
from tests.genuine.loaded_by_its_writer import answers, check_writer_is_named
from unnest.core.keras_facts.custom_objects_needed_to_load import needs
from unnest.core.model import Json, JsonObject, Stored

FOLDER = FIXTURES / "load_lines"
LOADED = answers(FOLDER)


@pytest.mark.parametrize("name", LOADED)
def test_its_own_keras_is_named_if_it_loads_the_file(name: str) -> None:
    """Nor is there a line to load a file that no Keras loads."""
    check_writer_is_named(FOLDER / f"{name}.h5", is_loaded=LOADED[name])


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("k224-function", "uses a value that JSON does not hold"),
        ("tf215-array-minus", "uses a value that JSON does not hold (a function, an array, "),
        ("k224-relu", "is a library's own"),
        ("tf210-softmax", "is a library's own"),
    ],
)
def test_the_reason_is_told(name: str, reason: str) -> None:
    """Not that of tf_keras alone."""
    report = unnest.inspect(FOLDER / f"{name}.h5")
    assert report.loads_in == ()
    assert reason in report.does_not_load_in["tf_keras"]


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("tf23-fourier", "layers.experimental.RandomFourierFeatures"),
        ("tf215-fourier", "layers.experimental.RandomFourierFeatures"),
        ("tf215-spectral", "layers.SpectralNormalization"),
        ("k231-conv-cell", "layers.convolutional_recurrent.ConvRNN2D"),
        ("k231-cells", None),
        ("tf23-sync", None),
        ("tf23-crossing", None),
    ],
)
def test_a_class_that_keras_does_not_find_by_its_name(name: str, given: str | None) -> None:
    """It is Keras's own, and its stack loaded the file with the class given."""
    report = unnest.inspect(FOLDER / f"{name}.h5")
    assert report.loads_in
    for software in report.loads_in:
        assert software.partition(", with ")[2] == (
            (given and f"its {given} in custom_objects") or ""
        )
    if given is not None:
        module = "tf_keras" if "tf_keras" in report.loads_in[0] else "keras"
        kind = given.rpartition(".")[2]
        assert f"custom_objects={{'{kind}': {module}.{given}}}" in str(report.load)
    assert "define or import" not in str(report.load)


@pytest.mark.parametrize("stack", ["tfk113", "tf22"])
def test_a_name_that_the_program_gave_a_library(stack: str) -> None:
    """Without it the stack that wrote the file says "name 'tf' is not defined"."""
    report = unnest.inspect(FOLDER / f"{stack}-global.h5")
    (software,) = report.loads_in
    assert software.endswith(", with tf in custom_objects")
    assert "import tensorflow as tf" in str(report.load)
    assert "custom_objects={'tf': tf}" in str(report.load)


def test_an_initializer_that_keras_made_of_another() -> None:
    """Keras 2.3 finds it no more than a user's function, but makes it again of the one that it came from."""
    report = unnest.inspect(FOLDER / "k231-identity.h5")
    given = ", with its initializers.Identity() as recurrent_identity in custom_objects"
    assert report.loads_in == (f"tf_keras (Keras 2){given}", f"Keras 2.3.1, which wrote it{given}")
    line = "custom_objects={'recurrent_identity': tf_keras.initializers.Identity()})"
    assert str(report.load).endswith(line)
    assert not any(report.needs.functions)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("tf23-crossing", "a CategoryCrossing layer"),
        ("k231-maxout", "a MaxoutDense layer"),
        ("k231-conv-cell", "a ConvRNN2D layer"),
        ("tf215-spectral", "a SpectralNormalization layer, which runs where TF_USE_LEGACY_KERAS=1"),
        ("k209-cell", "a LSTMCell of which the file has no arguments"),
        ("k216-constant", "an array in an initializer of dense_1"),
        ("tf215-constant", "an array in an initializer of dense"),
    ],
)
def test_what_tf_keras_does_not_have(name: str, reason: str) -> None:
    """Classes of some Keras 2 that are gone, and arguments that no file of that Keras has."""
    report = unnest.inspect(FOLDER / f"{name}.h5")
    assert reason in report.does_not_load_in["tf_keras"]
    assert not any("tf_keras" in software for software in report.loads_in)


def test_a_function_of_tensorflow_finds_its_own_names() -> None:
    """tf.keras stores its module, whose names it gives the code."""
    report = unnest.inspect(FOLDER / "tfk113-relu.h5")
    (software,) = report.loads_in
    assert software.startswith("Keras 2.2.4-tf, which wrote it")
    assert "with your" not in software


@pytest.mark.parametrize(
    ("cell", "version", "given"),
    [
        ({"class_name": "ResidualWrapper", "config": {"cell": {}}}, "2.4.0", ()),
        ({"class_name": "ResidualWrapper", "config": {"rate": 2}}, "2.4.0", ("ResidualWrapper",)),
        ({"class_name": "ResidualWrapper", "config": {"cell": {}}}, "2.2.4", ("ResidualWrapper",)),
    ],
)
def test_cells_of_tensorflow_are_found_by_their_names(
    cell: Json, version: str, given: tuple[str, ...]
) -> None:
    """A class of that name with other arguments, or of a Keras that had none, is the user's."""
    layer: JsonObject = {"class_name": "RNN", "config": {"name": "rnn", "cell": cell}}
    model: JsonObject = {"class_name": "Sequential", "config": {"name": "m", "layers": [layer]}}
    assert needs(Stored("architecture", model, keras_version=version)).classes == given
