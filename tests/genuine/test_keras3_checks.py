"""Files of old stacks that Keras 3 did not load, or not rightly, though they were called converted.

`tests/keras/test_keras3_checks.py` loads what comes out, and compares it with what the stack predicted.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import unnest
from tests.corpus.unpacked import FIXTURES
from unnest.core.keras3.check_converted_model import CHECKED
from unnest.report.result import Result

FOLDER = FIXTURES / "keras3_checks"
UNBUILT = "weights of stack, a Sequential without an input shape, which no Keras builds before it loads them"


def converted(name: str, tmp_path: Path) -> Result:
    """A case of FOLDER for Keras 3, with its JSON where it has one."""
    source = next(p for p in (FOLDER / f"{name}.h5", FOLDER / name) if p.exists())
    json = FOLDER / f"{name}.json"
    return unnest.fix(
        source, tmp_path / "o.keras", keras="3", architecture=json if json.exists() else None
    )


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("k204-embedding", "embedding-dtype"),
        ("k209-embedding", None),
        ("tf23-unknown_width", "known-size"),
        ("tf215-unknown_width", "known-size"),
        ("tf215-known_width", None),
        ("k224-float_input", None),
    ],
)
def test_converted_by_rule(name: str, rule: str | None, tmp_path: Path) -> None:
    """By a rule where it takes one, and checked."""
    result = converted(name, tmp_path)
    assert (result.action, result.error) == ("converted", None)
    assert CHECKED in result.checks
    named = {conversion.rule for conversion in result.conversions} & {
        "embedding-dtype",
        "known-size",
    }
    assert named == ({rule} if rule else set())


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("k122-other_state", "'norm' would come without its weights"),
        ("k209-other_state", "norm has 0 weights in the file, and 4 by the architecture"),
        ("k224-other_state", "norm has 0 weights in the file, and 4 by the architecture"),
    ],
)
def test_refused_by_name(name: str, why: str, tmp_path: Path) -> None:
    """Before anything is written."""
    result = converted(name, tmp_path)
    assert result.action == "refused"
    assert result.error is not None
    assert why in result.error.message
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("stack", ["k224", "tf20", "tf215"])
@pytest.mark.parametrize("name", ["clip_alone", "clip_in_custom"])
def test_classes_in_a_custom_layer_are_in_the_load_line(
    stack: str, name: str, tmp_path: Path
) -> None:
    """Of the input as well as of the output."""
    result = converted(f"{stack}-{name}", tmp_path)
    assert result.load is not None
    assert "custom_objects={'Scale': Scale, 'Clip': Clip}" in result.load
    needs = unnest.inspect(FOLDER / f"{stack}-{name}.h5").needs
    # As an object and by its name, asked for once.
    assert (needs.classes, needs.functions) == (
        ("Scale", "Clip"),
        (),
    )


@pytest.mark.parametrize("stack", ["k224", "tf23"])
def test_weights_in_pairs(stack: str, tmp_path: Path) -> None:
    """They may be of layers inside: said, not decided."""
    result = converted(f"{stack}-inner_weights", tmp_path)
    assert result.action == "converted"
    [finding] = [f for f in result.findings if f.code == "weights-of-parts"]
    assert finding.message.endswith("attention (Attention3): key, query, value")
    assert "weights-of-parts" not in [
        f.code for f in converted(f"{stack}-float_input", tmp_path / "b").findings
    ]


def test_dropout_of_whole_words_is_a_finding(tmp_path: Path) -> None:
    """It acts in training alone."""
    result = converted("k122-embedding_dropout", tmp_path)
    assert result.action == "converted"
    [finding] = [f for f in result.findings if f.code == "words-not-dropped"]
    assert finding.message.endswith("embedding (dropout 0.2)")


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("k204-gru", "a GRU without `reset_after`, as Keras wrote before 2.1.5"),
        ("k209-gru", "a GRU without `reset_after`, as Keras wrote before 2.1.5"),
        ("k204-embedding", "an Embedding with the dtype int32, that of its ids"),
        ("k209-embedding", None),
        ("k224-ctc", "its Lambda code was compiled by another Python, 3.6 or 3.7"),
        ("k224-shapeless_words", None),
        ("k224-shapeless_dense", UNBUILT),
        ("k231-shapeless_steps", UNBUILT),
    ],
)
def test_what_tf_keras_does_not_load(name: str, why: str | None) -> None:
    """As tf_keras 2.21 says when it is asked to."""
    report = unnest.inspect(FOLDER / f"{name}.h5")
    assert report.does_not_load_in.get("tf_keras") == why
    assert any(software.startswith("tf_keras") for software in report.loads_in) is (why is None)


@pytest.mark.parametrize(
    ("name", "pythons"),
    [
        ("tf27-ctc", "3.8 or 3.9"),
        ("tf215-ctc", "3.11"),
        ("k224-ctc", "3.6 or 3.7"),
        ("tf23-float_input", None),
    ],
)
def test_the_python_of_the_lambdas_is_named(name: str, pythons: str | None) -> None:
    """The versions that may have compiled the stored code, for every software: the writer's Keras on another fails."""
    report = unnest.inspect(FOLDER / f"{name}.h5")
    python = f", on Python {pythons}" if pythons else ""
    assert report.loads_in
    assert all(
        software.startswith(f"tf_keras (Keras 2){python}")
        or f", which wrote it{python}" in software
        for software in report.loads_in
    )
    assert (", on Python " in str(report.loads_in)) is bool(pythons)


def test_an_h5_of_adapted_layers_without_their_words_loads_nowhere(tmp_path: Path) -> None:
    """A warning, and no line that loads it."""
    result = unnest.fix(FIXTURES / "vocabularies" / "tf23-inverted", tmp_path / "out.h5", to="h5")
    assert (result.action, result.load, result.loads_in) == ("converted", None, ())
    assert "not-adapted" in [
        finding.code for finding in result.findings if finding.severity == "warning"
    ]


@pytest.mark.parametrize("stack", ["tf27", "tf215"])
def test_a_list_of_one_tensor_loads_nowhere_and_is_converted(stack: str, tmp_path: Path) -> None:
    """The file has the tensor alone, which the layer refuses; what was meant follows."""
    name = f"{stack}-lists_of_one"
    report = unnest.inspect(FOLDER / f"{name}.h5")
    assert (report.loads_in, report.load) == ((), None)
    assert report.does_not_load_in["tf_keras"] == (
        "concatenate is called with one tensor, where it takes a list of them"
    )
    result = converted(name, tmp_path)
    assert (result.action, result.loads_in) == ("converted", ("Keras 3",))


def test_a_resized_image_has_a_known_size(tmp_path: Path) -> None:
    """So what is resized behind it, in DeepLab and PSPNet, needs no code."""
    result = converted("k209-resized", tmp_path)
    assert (result.action, result.error) == ("converted", None)
    assert "lambda-kept" not in {finding.code for finding in result.findings}
