"""Weights alone: names are all there is, unless the architecture is given or the file says that it is ours."""

from __future__ import annotations

import shutil
from pathlib import Path

import h5py
import pytest

import unnest
from tests.corpus.unpacked import FIXTURES
from tests.judged import check_verdict
from unnest.formats.container_interface import MARK, MARKED

KEYED = FIXTURES / "weights_h5/keras3/weights_h5-carried-named-adam"
#: Where the template is among the paths.
TEMPLATE = "layers/functional"

NAMED = {
    "lists of names": FIXTURES / "k209/official-cnn-weights/weights.h5",
    "paths": KEYED / "parallel.weights.h5",
}


@pytest.fixture(params=NAMED)
def weights(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Weights of a parallel model, which only names tell."""
    return Path(shutil.copy(NAMED[request.param], tmp_path / NAMED[request.param].name))


def test_names_alone_replace_no_file(weights: Path) -> None:
    """`--in-place` wants `--architecture`; beside the input it may be written."""
    before = weights.read_bytes()
    done = unnest.fix(weights, in_place=True)
    assert done.error is not None
    assert (done.action, done.verdict, done.error.code) == (
        "refused",
        "parallel",
        "needs-architecture",
    )
    assert "--architecture" in done.error.message
    assert weights.read_bytes() == before
    assert [path.name for path in weights.parent.iterdir()] == [weights.name]
    assert unnest.fix(weights).action == "fixed"


def test_with_the_architecture_they_do(tmp_path: Path) -> None:
    """Then it is not names that tell."""
    path = shutil.copy(KEYED / "parallel.weights.h5", tmp_path / "m.weights.h5")
    done = unnest.fix(path, in_place=True, architecture=KEYED / "model.json")
    assert (done.error, done.action) == (None, "fixed")
    check_verdict(unnest.inspect(path), "clean")


def test_what_unnest_wrote_is_never_parallel(weights: Path) -> None:
    """The same names, and the mark of our own at the root."""
    check_verdict(unnest.inspect(weights), "parallel")
    with h5py.File(weights, "r+") as file:
        file.attrs[MARK] = MARKED
    check_verdict(unnest.inspect(weights), "clean")
    assert unnest.fix(weights).action == "unchanged"


def test_what_unnest_writes_has_the_mark(weights: Path) -> None:
    """At the root, where Keras ignores it."""
    done = unnest.fix(weights)
    with h5py.File(str(done.output)) as file:
        assert file.attrs[MARK] == MARKED


def contents(file: h5py.File) -> dict[str, bytes]:
    """Path -> bytes of every tensor."""
    tensors: dict[str, bytes] = {}
    file.visititems(
        lambda path, node: tensors.update(
            {path: node[()].tobytes()} if hasattr(node, "shape") else {}
        )
    )
    return tensors


@pytest.mark.parametrize("beside", ["its own and the model's", "its own alone"])
def test_a_template_that_was_compiled_itself(beside: str, tmp_path: Path) -> None:
    """Its optimizer lies in its own sub-tree; the model's is the one that is kept, where there is one."""
    path = shutil.copy(KEYED / "parallel.weights.h5", tmp_path / "m.weights.h5")
    with h5py.File(path, "r+") as file:
        file.copy("optimizer", f"{TEMPLATE}/optimizer")
        for node in file[f"{TEMPLATE}/optimizer/vars"].values():
            node[...] = 7
        file.require_group(f"{TEMPLATE}/metrics/mean/vars").create_dataset("0", data=1.0)
        if beside == "its own alone":
            del file["optimizer"]
        before = contents(file)
    done = unnest.fix(path)
    assert (done.error, done.action) == (None, "fixed")
    state = "optimizer" if beside == "its own and the model's" else f"{TEMPLATE}/optimizer"
    expected = {
        "optimizer" + name.removeprefix(state): data for name, data in before.items() if name.startswith(state + "/")
    } | {
        name.removeprefix(TEMPLATE + "/"): data for name, data in before.items()
        if name.startswith(f"{TEMPLATE}/layers/")
    }  # fmt: skip
    with h5py.File(str(done.output)) as file:
        assert contents(file) == expected
    assert [f.message for f in done.findings if f.code == "not-carried"]


def test_variables_of_the_parallel_model_itself(tmp_path: Path) -> None:
    """No layer's: they go with the wrapper, and are named."""
    path = shutil.copy(KEYED / "parallel.weights.h5", tmp_path / "m.weights.h5")
    plain = unnest.fix(path, tmp_path / "plain.weights.h5")
    with h5py.File(path, "r+") as file:
        file["vars/0"] = [1.0, 2.0]
    done = unnest.fix(path)
    assert [f.message for f in done.findings if f.code == "not-carried"] == [
        "in the file, but no part of the model: /vars"
    ]
    with h5py.File(str(done.output)) as file, h5py.File(str(plain.output)) as wanted:
        assert contents(file) == contents(wanted)


@pytest.mark.parametrize("case", ["k224/saver-official-named-adam", "k231/saver-official-mlp-x3"])
def test_a_checkpoint_whose_graph_tells_becomes_weights(case: str, tmp_path: Path) -> None:
    """The architecture is the template's, and the wrapper shows in `.meta` alone: no copy of the checkpoint."""
    folder = FIXTURES / "checkpoint" / case
    done = unnest.fix(folder / "parallel.ckpt", tmp_path / "out", architecture=folder / "base.json")
    assert (done.error, done.action, done.verdict) == (None, "fixed", "parallel")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    with h5py.File(tmp_path / "out") as file, h5py.File(folder / "base_weights.h5") as base:
        assert sorted(contents(file).values()) == sorted(contents(base).values())


def test_keras_3s_own_weights_may_be_asked_for_as_keras_3s(tmp_path: Path) -> None:
    """With the architecture they are a whole model, in today's form already."""
    source, architecture = KEYED / "parallel.weights.h5", KEYED / "model.json"
    done = unnest.fix(source, tmp_path / "m.keras", architecture=architecture, keras="3")
    assert (done.error, done.action) == (None, "fixed")
    check_verdict(unnest.inspect(tmp_path / "m.keras"), "clean")


def test_an_architecture_of_other_layers_is_told_by_the_first_that_differs(tmp_path: Path) -> None:
    """The name stands beside the weights."""
    text = (KEYED / "model.json").read_text("utf-8")
    name = h5py.File(KEYED / "parallel.weights.h5")[f"{TEMPLATE}/layers/dense/vars"].attrs["name"]
    other = tmp_path / "other.json"
    other.write_text(text.replace(f'"{name}"', '"other"'), "utf-8")
    assert other.read_text("utf-8") != text
    done = unnest.fix(
        KEYED / "parallel.weights.h5", tmp_path / "out.weights.h5", architecture=other
    )
    assert done.error is not None
    assert done.error.code == "architecture-mismatch"
    assert (
        f"/{TEMPLATE}/layers/dense is named {name!r}, not 'other', and no model in it has the layers"
        in done.error.message
    )
    assert "does not say which layers its models share" in done.error.message


@pytest.mark.parametrize("options", [{"to": "h5"}, {"keras": "3"}])
@pytest.mark.parametrize("has_bias", [True, False])
def test_more_weights_than_the_architecture_promises(
    options: dict[str, str], *, has_bias: bool, tmp_path: Path
) -> None:
    """The JSON is of a state of the code in which the layers had no bias."""
    folder = FIXTURES / "weights_h5/tf215/weights_h5-kuza-mlp-x3"
    text = (folder / "model.json").read_text("utf-8")
    given = tmp_path / "given.json"
    given.write_text(
        text if has_bias else text.replace('"use_bias": true', '"use_bias": false'), "utf-8"
    )
    result = unnest.fix(
        folder / "base.weights.h5",
        tmp_path / "o",
        architecture=given,
        **options,  # type: ignore[arg-type]  # one of several options
    )
    if has_bias:
        assert result.error is None
    else:
        assert result.error is not None
        assert "has 2 weights in the file, and 1 by the architecture" in result.error.message
