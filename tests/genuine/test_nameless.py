"""Custom layers that store no name, as Keras 3 and tf_keras write them: read, fixed, weight for weight."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pytest

import unnest
from tests.judged import check_verdict

FILES = Path(__file__).parent / "nameless"
CASES = [(stack, suffix) for stack in ("keras3", "tf_keras") for suffix in ("h5", "keras")]


def weights(path: Path) -> list[np.ndarray]:
    """The layers' weights, in the order of the layers."""
    if path.suffix == ".h5":
        with h5py.File(path) as file:
            root = file["model_weights"]
            layers = [
                (root[layer], root[layer].attrs["weight_names"])
                for layer in root.attrs["layer_names"]
            ]
            return [group[name][()] for group, names in layers for name in names]
    with (
        zipfile.ZipFile(path) as archive,
        h5py.File(io.BytesIO(archive.read("model.weights.h5"))) as file,
    ):
        order = ("dense", "scale", "scale_1", "dense_1")
        return [
            file[f"layers/{layer}/vars/{k}"][()]
            for layer in order
            for k in sorted(file[f"layers/{layer}/vars"])
        ]


@pytest.mark.parametrize(("stack", "suffix"), CASES)
def test_clean(stack: str, suffix: str) -> None:
    """The Sequential itself."""
    report = unnest.inspect(FILES / stack / f"base.{suffix}")
    assert (report.verdict, report.error) == ("clean", None)


@pytest.mark.parametrize(("stack", "suffix"), CASES)
def test_parallel(stack: str, suffix: str, tmp_path: Path) -> None:
    """Out of a wrapper: every weight where the template saved directly has it."""
    out = tmp_path / f"out.{suffix}"
    result = unnest.fix(FILES / stack / f"parallel.{suffix}", out)
    assert (result.action, result.error) == ("fixed", None)
    check_verdict(unnest.inspect(out), "clean")
    meant, read = weights(FILES / stack / f"base.{suffix}"), weights(out)
    assert len(meant) == 6
    assert [w.tobytes() for w in read] == [w.tobytes() for w in meant]
