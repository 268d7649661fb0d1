"""Outputs of `fix --keras 3` load in today's Keras alone, in safe mode, and predict what was recorded."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unnest
from tests.corpus.unpacked import FIXTURES
from tests.keras.process_without_unnest import answers_of, is_computed_here
from tests.layer_cases import PEOPLE, cases, stacks

WITHOUT_JAX = pytest.mark.skipif(find_spec("jax") is None, reason="jax is not installed")
BACKENDS = ("tensorflow", pytest.param("jax", marks=WITHOUT_JAX))
#: float32 sums in another order.
TOLERANCE = 1e-5

#: One file of every stack, and one of every kind of model.
SAMPLE = (
    "k122/kuza-multiio-x2-sgd-byname/parallel.h5", "k122/kuza-nested-x2-sgd/parallel.h5",
    "k224/official-cnn-adam/parallel.h5", "k231/official-cnn-adam/parallel.h5",
    "tfk18/official-named-sgdm-head/parallel.h5", "tfk113/official-mlp-rmsprop-double/parallel.h5",
    "tfk115/official-nested-sgd-head/parallel.h5", "tf20/opsplit_concat-mlp-x3-sgd/parallel.h5",
    "tf22/official-twins/parallel.h5", "tf23/slicebatch-cnn-td/parallel.h5", "tf27/opslice-residual-x2/parallel.h5",
    "tf210/slicebatch-rnn-x2/parallel.h5", "tf215/carried-nested-x3-double/parallel.h5",
    "tfkeras/opslice-multiio-x2-sgd-byname/parallel.h5",
)  # fmt: skip

#: Every so many cases of a stack's layers.
STRIDE = 50


def differences(files: list[tuple[Path, Path]], backend: str, folder: Path) -> list[float | str]:
    """Return the differences that a process which never imports unnest finds between recorded and new outputs."""
    jobs = [{"file": str(f), "io": str(io)} for f, io in files]
    return answers_of("predict_today.py", jobs, folder, backend)


def wrong(names: list[str], told: list[Any]) -> list[tuple[str, Any]]:
    """The files that do not predict the same."""
    return [
        (n, t)
        for n, t in zip(names, told, strict=True)
        if is_computed_here(t) and (isinstance(t, str) or not t <= TOLERANCE)
    ]


@pytest.mark.parametrize("backend", BACKENDS)
def test_files(backend: str, tmp_path: Path) -> None:
    """Parallel models of every stack."""
    files = []
    for k, name in enumerate(SAMPLE):
        path = (FIXTURES / name).resolve()
        output = tmp_path / f"{k}.keras"
        result = unnest.fix(path, output, keras="3")
        assert (result.action in ("fixed", "converted"), result.error) == (True, None), name
        files.append((output, path.with_name("io.npz")))
    assert wrong(list(SAMPLE), differences(files, backend, tmp_path)) == []


def test_what_its_own_keras_does_not_load(tmp_path: Path) -> None:
    """A frozen model within a nested one: every Keras sets its weights elsewhere, and `--keras 3` where they were."""
    paths = sorted((FIXTURES / "frozen_within").glob("*.h5"))
    files = [(tmp_path / f"{path.stem}.keras", path.with_suffix(".npz")) for path in paths]
    for path, (output, _) in zip(paths, files, strict=True):
        assert unnest.fix(path, output, keras="3").action == "converted"
    assert len(paths) == 4
    assert wrong([path.stem for path in paths], differences(files, "tensorflow", tmp_path)) == []


def test_layers_of_custom_function_see_the_mask_that_they_saw(tmp_path: Path) -> None:
    """Behind a Bidirectional, a model, an initial state or a merge, and in a model; some of them hand it on."""
    jobs: list[dict[str, str | None]] = []
    carried = set()
    for path in sorted((FIXTURES / "masked_readers").glob("*.h5")):
        result = unnest.fix(path, tmp_path / f"{path.stem}.keras", keras="3")
        assert result.error is None, result.error
        carried |= {
            path.stem for conversion in result.conversions if conversion.rule == "carried-mask"
        }
        jobs.append({"line": result.load, "case": path.stem, "io": str(path.with_suffix(".npz"))})
    of_keras = {f"k224-{name}" for name in ("begun", "behind", "chain", "into", "merged", "nested")}
    of_lambdas = {
        f"{s}-{name}" for s in ("k224", "tf210") for name in ("added", "joined", "stopped")
    }
    assert {job["case"] for job in jobs} == of_keras | of_lambdas | {"tf210-behind", "tf210-merged"}
    assert carried == of_keras | {"tf210-merged"}
    assert (
        wrong([str(job["case"]) for job in jobs], answers_of("lines_today.py", jobs, tmp_path))
        == []
    )


def test_masks_of_the_steps_of_a_time_distributed(tmp_path: Path) -> None:
    """Made there, given to the layer in it, or handed on; refused where Keras 3 takes none as an argument.

    k224-fixed ends in a stateful layer, which Keras 3 would give another state from the second batch on.
    """
    files, refused = [], {}
    for path in sorted((FIXTURES / "masked_in_steps").glob("*.h5")):
        output = tmp_path / f"{path.stem}.keras"
        result = unnest.fix(path, output, keras="3")
        if result.error is None:
            files.append((output, path.with_suffix(".npz")))
        else:
            refused[path.stem] = str(result.error)
    whys = {
        name: "heeds a mask that Keras 3 would compute otherwise" in why
        for name, why in refused.items()
    }
    stacks = ("k224", "tf215")  # Keras 2.0.9 handed on no such mask
    assert "is stateful in a model with masks" in refused["k224-fixed"]
    assert whys == {f"{s}-{name}": True for s in stacks for name in ("encoder", "sequential")} | {
        "k224-fixed": False
    }
    assert len(files) == 25
    names = [output.stem for output, _ in files]
    assert wrong(names, differences(files, "tensorflow", tmp_path)) == []


def test_layers(tmp_path: Path) -> None:
    """A sample of the layers of every stack on TensorFlow; tests/slow has them all, and JAX."""
    backend = "tensorflow"
    names, files = [], []
    for stack in stacks():
        for case in [c for c in cases(stack) if c.has_io and not c.is_worse(backend)][::STRIDE]:
            path = case.extract(tmp_path / stack)
            result = unnest.fix(path, path.with_name("today.keras"), keras="3")
            if result.error is None and "custom-objects" not in {f.code for f in result.findings}:
                names.append(f"{stack}/{case.name}")
                files.append((path.with_name("today.keras"), path.with_name("io.npz")))
    assert len(files) > len(stacks())
    assert wrong(names, differences(files, backend, tmp_path)) == []


@pytest.mark.parametrize("stack", stacks(PEOPLE))
def test_models_as_people_wrote_them(stack: str, tmp_path: Path) -> None:
    """Files that need nothing are loaded as above, the rest by the line that `fix` prints, with the author's code."""
    names, files, lines = [], [], []
    for case in [
        c for c in cases(stack, PEOPLE) if c.has_io and "y0" in _recorded(c.extract(tmp_path))
    ][::5]:
        path = tmp_path / case.name / "model.h5"
        result = unnest.fix(path, path.with_name("today.keras"), keras="3")
        io = path.with_name("io.npz")
        if result.error is None and "custom-objects" in {f.code for f in result.findings}:
            lines.append(
                {"line": result.load, "case": case.name.removeprefix("people-"), "io": str(io)}
            )
        elif result.error is None:
            names.append(case.name)
            files.append((path.with_name("today.keras"), io))
    off = [
        (n, t)
        for n, t in wrong(names, differences(files, "tensorflow", tmp_path))
        if n not in LARGE
    ]
    assert off == []
    assert (
        wrong([str(job["case"]) for job in lines], answers_of("lines_today.py", lines, tmp_path))
        == []
    )


#: Outputs in the hundreds, where float32 itself is no finer than 1e-5.
LARGE = {"people-ssd", "people-preprocess_caffe"}


def _recorded(model: Path) -> list[str]:
    with np.load(model.with_name("io.npz")) as io:
        return list(io.files)
