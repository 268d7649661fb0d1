"""The layer-by-layer fixtures: one layer class and argument a case, written and run by its own stack."""

from __future__ import annotations

import io
import json
import lzma
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.corpus.unpacked import FIXTURES

FOLDER = FIXTURES / "layers"
#: The same of whole models, as people wrote them.
PEOPLE = FOLDER.parent / "people"
SUFFIX = ".zip.xz"


@cache
def unpacked(pack: Path) -> zipfile.ZipFile:
    """A pack's zip: its members are alike, so that they are compressed together, in memory as long as tests run."""
    return zipfile.ZipFile(io.BytesIO(lzma.decompress(pack.read_bytes())))


@cache
def members(pack: Path) -> dict[str, list[str]]:
    """The files of each case of a pack, by the case's name."""
    found: dict[str, list[str]] = {}
    for path in unpacked(pack).namelist():
        case, _, name = path.partition("/")
        if name and not path.endswith("/"):
            found.setdefault(case, []).append(path)
    return found


#: What is worse, or was lost before: case, of one stack or of all -> why.
KNOWN = {
    "Bidirectional-layer-L.LSTM_3_stateful_True": "states are handed on otherwise from the second batch on",
    "ConvLSTM2D-subsample-2_2": "Keras 1 does not store subsample: its own stack loads another model",
    "Cropping3D-cropping-2": "nothing is left of the input, which Keras 3 refuses",
    "Cropping3D-cropping-1_0_2": "nothing is left of the input, which Keras 3 refuses",
    "mask-call": "the mask that was given in the call is no input in the file",
    "tf23/Normalization-axis-1_2": "a variance of 0 gave nan in TensorFlow 2.3, and is the epsilon today",
    "Discretization-num_bins-4_bin_boundaries_None": "was never adapted, which Keras 3 refuses",
    **{f"{kind}-dim_ordering-th": "Keras 1 does not store dim_ordering here" for kind in (
        "Cropping2D", "Cropping3D", "UpSampling2D", "UpSampling3D", "ZeroPadding2D", "ZeroPadding3D",
    )},
    "op-tf.cast_tf.cast_a_tf.uint8": "numbers below zero as uint8: what comes out differs from place to place",
    **dict.fromkeys(("base-Dense-dtype-float16", "policy-"), "half precision: sums in another order differ by an ulp"),
}  # fmt: skip


#: Beginnings of cases that Keras 3 does not do, or not so, on JAX.
ON_JAX = (
    "Hashing", "StringLookup", "TextVectorization", "GRU-stateful", "LSTM-stateful", "SimpleRNN-stateful",
    "RNN-stateful",
    "ConvLSTM1D-stateful", "ConvLSTM2D-stateful", "ConvLSTM3D-stateful", "CuDNNGRU-stateful", "CuDNNLSTM-stateful",
    "mask-stateful", "mask-Softmax", "MultiHeadAttention-value_dim",
    "Resizing-interpolation-area", "UpSampling2D-interpolation-area",
)  # fmt: skip


#: What a model may differ by from itself when its own stack loads it again.
NOISE = 1e-5


@dataclass(frozen=True)
class LayerCase:
    """One case: its stack, its name there, and its note."""

    stack: str
    name: str
    note: dict[str, Any]
    has_io: bool
    pack: Path

    def is_worse(self, backend: str) -> bool:
        """True if a case is known to differ, as listed above, or differed when its own stack loaded it again."""
        reloaded = self.note.get("reload")
        if reloaded == "other values" or (isinstance(reloaded, float) and reloaded > NOISE):
            return True
        beginnings = (*KNOWN, *(ON_JAX if backend == "jax" else ()))
        return f"{self.stack}/{self.name}".startswith(beginnings) or self.name.startswith(
            beginnings
        )

    def extract(self, folder: Path) -> Path:
        """The model file, in a folder of its own with its inputs and outputs beside it."""
        unpacked(self.pack).extractall(folder, members(self.pack)[self.name])
        return next(p for p in (folder / self.name).iterdir() if p.stem == "model")


def stacks(folder: Path = FOLDER) -> list[str]:
    """Those that have cases."""
    return sorted(p.name.removesuffix(SUFFIX) for p in folder.glob(f"*{SUFFIX}"))


def cases(stack: str, folder: Path = FOLDER) -> Iterator[LayerCase]:
    """All cases of a stack, by name."""
    pack = folder / f"{stack}{SUFFIX}"
    archive = unpacked(pack)
    files = members(pack)
    for note in sorted(f"{name}/case.json" for name in files):
        name = note.removesuffix("/case.json")
        yield LayerCase(
            stack, name, json.loads(archive.read(note)), f"{name}/io.npz" in files[name], pack
        )
