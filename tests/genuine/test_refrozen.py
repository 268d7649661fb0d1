"""Weights with JSON of the same code in which other layers are frozen: names say whose each weight is.

`tests/keras/test_keras_refrozen.py` compares the predictions.
"""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest

import unnest
from tests.corpus.unpacked import FIXTURES

FOLDER = FIXTURES / "refrozen"
FROZEN = ["first", "norm", "score", "within", "scale", "encoder"]


def weights_by_layer(path: Path) -> dict[str, list[np.ndarray]]:
    """Layer -> the weights in its group; those of a model in it by the layers that their names say."""
    found: dict[str, list[np.ndarray]] = {}
    with h5py.File(path) as file:
        for group in file.attrs["layer_names"]:
            for name in file[group].attrs["weight_names"]:
                text = name.decode() if isinstance(name, bytes) else name
                found.setdefault(text.split("/")[0], []).append(file[group][text][()])
    return found


@pytest.mark.parametrize("frozen", FROZEN)
@pytest.mark.parametrize("stack", ["k224", "tf23"])
def test_other_layers_frozen(stack: str, frozen: str, tmp_path: Path) -> None:
    """The model's own weights, and those of the parallel model with its JSON, and with that of the template."""
    folder = FOLDER / f"{stack}-refrozen"
    whole = unnest.fix(
        folder / "weights.h5",
        tmp_path / "out.keras",
        architecture=folder / f"{frozen}.json",
        keras="3",
    )
    assert whole.action == "converted"
    for architecture in (f"{frozen}.json", f"{frozen}-parallel.json"):
        out = tmp_path / f"{architecture}.h5"
        result = unnest.fix(folder / "parallel.h5", out, architecture=folder / architecture)
        assert result.action == "fixed", result.error
        found, saved = weights_by_layer(out), weights_by_layer(folder / "weights.h5")
        assert found.keys() == saved.keys()
        for name, arrays in saved.items():
            assert all(np.array_equal(a, b) for a, b in zip(arrays, found[name], strict=True)), name


@pytest.mark.parametrize(
    "case", ["tf23/checkpoint-official-named-adam", "tfk113/checkpoint-official-named"]
)
def test_a_checkpoint_in_which_nothing_was_frozen(case: str) -> None:
    """It has the statistics of a normalization beside its other weights; a list has them last."""
    folder = FIXTURES / "checkpoint" / case
    report = unnest.inspect(folder / "parallel.ckpt", architecture=folder / "base.json")
    assert report.verdict == "parallel"
    assert "frozen-otherwise" not in {finding.code for finding in report.findings}


@pytest.mark.parametrize("stack", ["k224", "tf23"])
@pytest.mark.parametrize(
    ("case", "weights", "architecture", "reason"),
    [
        ("refrozen", "weights.h5", "moved.json", "lists the weights of norm before those of second"),
        ("refrozen", "parallel.h5", "moved.json", ""),
        ("refrozen", "weights.h5", "moved_within.json", ""),
        ("refrozen", "parallel.h5", "moved_within.json", ""),
        # What was frozen stands behind the rest wherever it was in the model: both are possible.
        ("thawed", "parallel.h5", "none.json", "norm was frozen when the weights were saved, or stood last"),
        ("thawed", "parallel.h5", "moved.json", "norm was frozen when the weights were saved, or stood last"),
    ],
)  # fmt: skip
def test_what_freezing_does_not_explain(
    stack: str, case: str, weights: str, architecture: str, reason: str, tmp_path: Path
) -> None:
    """Code in which a layer moved is refused."""
    folder = FOLDER / f"{stack}-{case}"
    result = unnest.fix(
        folder / weights, tmp_path / "out.keras", architecture=folder / architecture, keras="3"
    )
    assert (result.action, result.error and result.error.code) == (
        "refused",
        "architecture-mismatch",
    )
    assert result.error is not None
    assert reason in result.error.message


NAMED = {
    "one": ["other"],
    "all": ["eins", "zwei", "note"],
    "no_weights": [],
}
"""JSON in which layers have other names -> those whose weights had others."""
PAIRS = [
    ("weights.h5", ""),
    ("weights.h5", "-parallel"),
    ("parallel.h5", ""),
    ("parallel.h5", "-parallel"),
]


@pytest.mark.parametrize("stack", ["k224", "tf23"])
@pytest.mark.parametrize("state", NAMED)
@pytest.mark.parametrize(("weights", "beside"), PAIRS)
def test_layers_under_other_names(
    stack: str, state: str, weights: str, beside: str, tmp_path: Path
) -> None:
    """Order places them, and that is said, whichever of the two files and of the two JSON it is."""
    folder = FOLDER / f"{stack}-renamed"
    given = folder / f"{state}{beside}.json"
    report = unnest.inspect(folder / weights, architecture=given)
    assert len(report.wrappers) == int(weights == "parallel.h5")
    result = unnest.fix(folder / weights, tmp_path / "out.keras", architecture=given, keras="3")
    assert result.error is None
    told = [f.message for f in result.findings if f.code == "by-order"]
    assert len(told) == int(bool(NAMED[state]))
    assert all(", ".join(NAMED[state]) in message for message in told)


@pytest.mark.parametrize("stack", ["k224", "tf23"])
@pytest.mark.parametrize("state", ["exchanged", "exchanged_one"])
@pytest.mark.parametrize(("weights", "beside"), PAIRS)
def test_layers_of_one_shape_that_exchanged_names(
    stack: str, state: str, weights: str, beside: str, tmp_path: Path
) -> None:
    """Names and order say two things, also where one of the two has a new name."""
    folder = FOLDER / f"{stack}-renamed"
    given = folder / f"{state}{beside}.json"
    result = unnest.fix(folder / weights, tmp_path / "out.keras", architecture=given, keras="3")
    assert result.error is not None
    assert result.error.code == "architecture-mismatch"


@pytest.mark.parametrize("beside", ["", "-parallel"])
def test_a_layer_that_is_gone_was_not_renamed(beside: str, tmp_path: Path) -> None:
    """It has no weights, and the file lists it."""
    folder = FOLDER / "k224-renamed"
    given = folder / f"gone{beside}.json"
    result = unnest.fix(folder / "weights.h5", tmp_path / "o.keras", architecture=given, keras="3")
    assert result.error is not None
    assert "are not those of the weights" in result.error.message


def test_a_merge_of_branches(tmp_path: Path) -> None:
    """Keras 1 lists the weights of the branches' layers beside the others."""
    folder = FOLDER / "k122-merge"
    result = unnest.fix(
        folder / "weights.h5", tmp_path / "out.keras", architecture=folder / "model.json", keras="3"
    )
    assert result.action == "converted", result.error
    other = unnest.fix(
        folder / "weights.h5", tmp_path / "o.keras", architecture=folder / "other.json", keras="3"
    )
    assert other.error is not None
    assert (
        "the layers of the architecture given are not those of the weights" in other.error.message
    )


def test_a_merge_loads_in_its_own_keras() -> None:
    """It begins with a Merge, not an input, and Keras 1 builds it from the inputs of the models in the Merge."""
    report = unnest.inspect(FOLDER / "k122-merge/whole.h5")
    assert report.loads_in == ("Keras 1.2.2, which wrote it",)


CLASSES = [
    (f"{stack}-classes", f"{weights}.h5", beside)
    for stack in ("k224", "tf23")
    for weights in ("weights", "parallel", "cudnn", "cudnn-parallel")
    for beside in ("", "-parallel")
]


@pytest.mark.parametrize(("case", "weights", "beside"), CLASSES)
def test_cudnn_and_its_plain_kin_have_each_others_weights(
    case: str, weights: str, beside: str, tmp_path: Path
) -> None:
    """In Keras 3's form and in an `.h5`, which Keras 2 converts; not in an archive of Keras 2, which it does not."""
    folder = FOLDER / case
    other = "plain" if weights.startswith("cudnn") else "cudnn"
    given = folder / f"{other}{beside}.json"
    result = unnest.fix(folder / weights, tmp_path / "out.keras", architecture=given, keras="3")
    assert result.error is None
    assert "cudnn-rnn" in {conversion.rule for conversion in result.conversions}
    h5 = unnest.fix(folder / weights, tmp_path / "out.h5", architecture=given, to="h5")
    assert h5.error is None
    archive = tmp_path / "old.keras"
    old = unnest.fix(folder / weights, archive, architecture=given, keras="original")
    assert old.error is not None
    assert not archive.exists()


@pytest.mark.parametrize(("case", "weights", "beside"), CLASSES)
@pytest.mark.parametrize(
    ("architecture", "reason"),
    [
        ("dense", "table: the file has its weight 'embeddings', and Dense has none"),
        ("reset_before", "second: its weights have the shapes (3, 6), (2, 6), ("),
        ("two_ways", "second"),
    ],
)
def test_weights_of_another_class(
    case: str, weights: str, beside: str, architecture: str, reason: str, tmp_path: Path
) -> None:
    """A table of the shape of a kernel, and a bias that counts its gates otherwise."""
    given = FOLDER / case / f"{architecture}{beside}.json"
    for options in ({"keras": "3"}, {"to": "h5"}):
        result = unnest.fix(FOLDER / case / weights, tmp_path / "o", architecture=given, **options)  # type: ignore[arg-type]  # one of several options
        assert result.error is not None
        assert reason in result.error.message


@pytest.mark.parametrize("stack", ["k224", "tf23"])
def test_cudnn_computes_sigmoid_and_tanh_alone(stack: str, tmp_path: Path) -> None:
    """The JSON's LSTM has other gates than the layer that was saved; plain weights may be of such a one."""
    folder = FOLDER / f"{stack}-classes"
    given, out = folder / "hard_gates.json", tmp_path / "o.keras"
    result = unnest.fix(folder / "cudnn.h5", out, architecture=given, keras="3")
    assert result.error is not None
    assert "are those of CuDNN, which computes sigmoid and tanh alone" in result.error.message
    assert unnest.fix(folder / "weights.h5", out, architecture=given, keras="3").error is None
