"""Templates that hold the weights of normalizations alone, by Keras's own multi_gpu_model, and a look-alike."""

from __future__ import annotations

import json
from pathlib import Path

import h5py

import unnest
from tests.corpus.unpacked import FIXTURES

FOLDER = FIXTURES / "normalizations"


def test_a_whole_model_of_normalizations(tmp_path: Path) -> None:
    """The result is the template, with all of its weights."""
    [wrapper] = unnest.inspect(FOLDER / "official-parallel.h5").wrappers
    assert (wrapper.scope, wrapper.confidence) == ("whole", "proven")
    result = unnest.fix(FOLDER / "official-parallel.h5", tmp_path / "out.h5")
    assert (result.action, result.error) == ("fixed", None)
    with h5py.File(tmp_path / "out.h5") as fixed, h5py.File(FOLDER / "official-base.h5") as base:
        configs = [json.loads(file.attrs["model_config"]) for file in (fixed, base)]
        assert configs[0] == configs[1]
        for name in ("scaled", "centred"):
            group = base["model_weights"][name]
            for weight in group.attrs["weight_names"]:
                stored = fixed["model_weights"][name][weight]
                assert stored[()].tolist() == group[weight][()].tolist()


def test_ghost_batch_normalization() -> None:
    """Two Dense layers stand around it: a part of a larger model."""
    seen = unnest.inspect(FOLDER / "lookalike-ghost.h5")
    assert seen.verdict == "clean"
    assert [miss.reason for miss in seen.near_misses] == [
        "template holds no weights, except those of normalizations"
    ]
