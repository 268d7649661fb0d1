"""The bundle reader reads what `tf.train.load_checkpoint` reads, bit for bit."""

from pathlib import Path

import numpy as np
import pytest

from tests.corpus.unpacked import FIXTURES
from unnest.formats.tensorflow import read_tensor_bundle

CASES = sorted(
    p for kind in ("saved_model", "checkpoint") for p in (FIXTURES / kind).glob("*/*/tensors.npz")
)


def prefix(folder: Path) -> str:
    """The bundle of a fixture, whichever container it is in."""
    return str(
        folder / "parallel.ckpt"
        if (folder / "parallel.ckpt.index").exists()
        else folder / "parallel/variables/variables"
    )


@pytest.mark.parametrize("path", CASES, ids=lambda p: f"{p.parent.parent.name}-{p.parent.name}")
def test_same_as_tensorflow(path: Path) -> None:
    """Names, shapes, dtypes and bytes."""
    opened = read_tensor_bundle.Bundle(prefix(path.parent))
    with np.load(path) as file:
        expected = dict(file.items())
    numeric = {k for k, e in opened.entries.items() if e.dtype != "string"}
    assert numeric == {k.replace("|", "/") for k in expected}
    for key, tensor in expected.items():
        entry = opened.entries[key.replace("|", "/")]
        assert entry.shape == tensor.shape
        assert np.dtype(entry.dtype) == tensor.dtype
        assert b"".join(opened.blocks(entry)) == tensor.tobytes()
    for key in set(opened.entries) - numeric:
        assert opened.strings(key)


def test_there_are_fixtures() -> None:
    """A glob that finds nothing passes nothing."""
    assert len(CASES) > 20
