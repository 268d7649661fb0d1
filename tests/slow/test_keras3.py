"""Every genuine file and every layer of every stack, converted, in today's Keras on both backends.

pytest -m slow tests/slow/test_keras3.py          (a Python with keras, tensorflow and jax)
"""

from __future__ import annotations

from pathlib import Path

import pytest

import unnest
from tests.keras.test_keras3_files import BACKENDS, FIXTURES, differences, wrong
from tests.layer_cases import cases, stacks

pytestmark = pytest.mark.slow

#: What is worse, or was lost before: case -> why.
KNOWN = {
    "Bidirectional-layer-L.LSTM_3_stateful_True": "states are handed on otherwise from the second batch on",
    "ConvLSTM2D-subsample-2_2": "Keras 1 does not store subsample: its own stack loads another model",
    "Cropping3D-cropping-2": "nothing is left of the input, which Keras 3 refuses",
    "Cropping3D-cropping-1_0_2": "nothing is left of the input, which Keras 3 refuses",
    "mask-call": "the mask that was given in the call is no input in the file",
    "Discretization-num_bins-4_bin_boundaries_None": "was never adapted, which Keras 3 refuses",
    **{f"{kind}-dim_ordering-th": "Keras 1 does not store dim_ordering here" for kind in (
        "Cropping2D", "Cropping3D", "UpSampling2D", "UpSampling3D", "ZeroPadding2D", "ZeroPadding3D",
    )},
    "UpSampling2D-interpolation-bicubic": "JAX interpolates otherwise (4e-3); TensorFlow as before",
    "Resizing-interpolation-bicubic": "JAX interpolates otherwise (4e-3); TensorFlow as before",
    "Resizing-interpolation-area": "JAX has no area",
}  # fmt: skip


#: Beginnings of cases that Keras 3 does not do, or not so, on JAX.
ON_JAX = (
    "Hashing", "StringLookup", "TextVectorization", "GRU-stateful", "LSTM-stateful", "SimpleRNN-stateful",
    "RNN-stateful",
    "ConvLSTM1D-stateful", "ConvLSTM2D-stateful", "ConvLSTM3D-stateful",
)  # fmt: skip


def converted(paths: dict[str, Path], folder: Path) -> tuple[list[str], list[tuple[Path, Path]]]:
    """The files that are carried and need no custom objects, by name, with their recorded outputs."""
    names, files = [], []
    for k, (name, path) in enumerate(paths.items()):
        output, io = folder / f"{k}.keras", path.with_name("io.npz")
        result = unnest.fix(path, output, keras="3")
        asks = {"custom-objects", "lambda-kept"} & {f.code for f in result.findings}
        if result.error is None and not asks and io.exists():
            names.append(name)
            files.append((output, io))
    return names, files


@pytest.mark.parametrize("backend", BACKENDS)
def test_all_files(backend: str, tmp_path: Path) -> None:
    """Full saves, parallel and base, of every stack and container."""
    named = ("parallel.h5", "base.h5", "lookalike.h5", "clean.h5", "parallel.keras", "base.keras", "parallel", "base")
    found = [p for n in named for p in FIXTURES.rglob(n) if "scripts" not in p.parts]
    names, files = converted({str(p.relative_to(FIXTURES)): p for p in sorted(found)}, tmp_path)
    assert len(files) > 300
    assert wrong(names, differences(files, backend, tmp_path)) == []


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("stack", stacks())
def test_all_layers(stack: str, backend: str, tmp_path: Path) -> None:
    """Each layer alone; what is known to be worse is worse for the reason given."""
    known = {*KNOWN, *(ON_JAX if backend == "jax" else ())}
    told = [c for c in cases(stack) if c.has_io and not any(c.name.startswith(k) for k in known)]
    paths = {c.name: c.extract(tmp_path / "cases") for c in told}
    names, files = converted(paths, tmp_path)
    assert wrong(names, differences(files, backend, tmp_path)) == []
