"""Weights whose shapes contradict their layer's config, on the template's own level and within a nested model."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import unnest
from tests.corpus.unpacked import FIXTURES

MODEL = FIXTURES / "k224/official-seqnest-x3-rmsprop/parallel.h5"
"""Its template, sequential_1, begins with a nested model of a convolution of 3 filters, (3, 3, 2, 3)."""


@pytest.mark.parametrize(
    ("change", "shape"),
    [
        (np.transpose, "(3, 2, 3, 3)"),
        (np.ravel, "(54,)"),
        (lambda _: np.float32(1), "()"),
        (lambda kernel: kernel[:0], "(0, 3, 2, 3)"),
    ],
    ids=["transposed", "flat", "one number", "empty"],
)
def test_a_kernel_that_is_none_is_refused(
    change: Callable[[Any], Any], shape: str, tmp_path: Path
) -> None:
    """Keras would refuse it, or take it for another layer's."""
    path = Path(shutil.copy(MODEL, tmp_path / "m.h5"))
    path.chmod(0o644)
    with h5py.File(path, "r+") as file:
        group = file["model_weights/sequential_1"]
        kernel = change(group["conv2d_1/kernel:0"][()])
        del group["conv2d_1/kernel:0"]
        group["conv2d_1/kernel:0"] = kernel
    result = unnest.fix(path, tmp_path / "out.h5")
    assert result.error is not None
    assert (result.action, result.error.code) == ("refused", "weights-unplaced")
    assert (
        f"conv2d_1: its weights have the shapes {shape}, (3,), its config promises (3, 3, ?, 3)"
        in result.error.message
    )
    assert not (tmp_path / "out.h5").exists()


def test_the_same_file_as_it_is(tmp_path: Path) -> None:
    """It is fixed."""
    assert unnest.fix(MODEL, tmp_path / "out.h5").action == "fixed"
