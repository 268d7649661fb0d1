"""Names of tensors are found where HDF5 finds them: slashes in a row are one, the optimizer's may begin at the root."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Literal

import h5py
import numpy as np

import unnest
from tests.corpus.unpacked import FIXTURES

PARALLEL = FIXTURES / "k209" / "kuza-mlp-x2-adam" / "parallel.h5"


def respelt(path: Path) -> Path:
    """As Keras 2.0 wrote on Theano what is made outside of a name scope; and layers in a scope without a name."""
    shutil.copy(PARALLEL, path)
    with h5py.File(path, "r+") as file:
        state = file["optimizer_weights"]
        names = [n.decode() for n in state.attrs["weight_names"]]
        file.move(f"optimizer_weights/{names[0]}", "iterations")
        state.attrs["weight_names"] = np.array([b"/iterations", *(n.encode() for n in names[1:])])
        for group in file["model_weights"].values():
            group.attrs["weight_names"] = np.array(
                [n.replace(b"/", b"//") for n in group.attrs["weight_names"]]
            )
    return path


def test_names_with_slashes_too_many(tmp_path: Path) -> None:
    path = respelt(tmp_path / "model.h5")
    dialects: dict[Literal["3", "original"], str] = {"3": "x.keras", "original": "x.h5"}
    for keras, name in dialects.items():
        plain, same = (tmp_path / f"{which}_{name}" for which in ("plain", "same"))
        unnest.fix(PARALLEL, plain, keras=keras)
        result = unnest.fix(path, same, keras=keras)
        assert (result.action, result.error) == ("fixed", None)
        assert keras == "original" or same.read_bytes() == plain.read_bytes()
    with h5py.File(tmp_path / "same_x.h5") as file, h5py.File(tmp_path / "plain_x.h5") as expected:
        assert file["optimizer_weights"].attrs["weight_names"][0] == b"/iterations"
        assert (
            file["iterations"][()]
            == expected["optimizer_weights"][
                expected["optimizer_weights"].attrs["weight_names"][0]
            ][()]
        )
        for name, group in file["model_weights"].items():
            stored = expected["model_weights"][name]
            for new, old in zip(
                group.attrs["weight_names"], stored.attrs["weight_names"], strict=True
            ):
                assert new == old.replace(b"/", b"//")
                np.testing.assert_array_equal(group[new], stored[old])
