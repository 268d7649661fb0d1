"""Files of other formats are called by their names, and no file of Keras's is taken for one."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

import unnest
from tests.conftest import Cli
from tests.corpus.unpacked import FIXTURES
from tests.corpus.unpacked import FIXTURES as UNPACKED
from unnest.formats.detect_container import container_of
from unnest.formats.foreign_formats import FILE_SIGNATURES, foreign

#: File of `fixtures/others` -> what a message calls it.
NAMES = {
    "bzip2.bz2": "packed by bzip2",
    "coreml.mlmodel": "a Core ML model",
    "frozen.pb": "a TensorFlow graph",
    "gguf.gguf": "a GGUF file",
    "gzip.h5.gz": "packed by gzip",
    "joblib-packed.joblib": "a joblib file",
    "joblib.joblib": "a joblib file",
    "numpy.npy": "a NumPy array",
    "numpy.npz": "an .npz",
    "onnx.onnx": "an ONNX model",
    "pickle-0.pkl": "a Python pickle",
    "pickle-2.pkl": "a Python pickle",
    "pickle-4.pkl": "a Python pickle",
    "pickle-keras3.pkl": "a pickled Keras model",
    "pickle-tf_keras.pkl": "a pickled Keras model",
    "pytorch-legacy.pth": "a PyTorch checkpoint",
    "pytorch.pt": "a PyTorch checkpoint",
    "safetensors.safetensors": "a safetensors file",
    "tar.tar": "a tar archive",
    "tflite.tflite": "a TensorFlow Lite model",
    "tokenizer.json": "the JSON of a Tokenizer",
    "transformers-config.json": "the configuration of a Hugging Face transformer",
    "xz.xz": "packed by xz",
}


def test_every_file_has_a_name() -> None:
    """And the table of the formats has no other."""
    assert sorted(path.name for path in (FIXTURES / "others").iterdir()) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("suffix", ["", ".h5", ".keras", ".bin"])
def test_it_is_named_whatever_it_is_called(name: str, suffix: str, tmp_path: Path) -> None:
    """By content, in one line; under a model's suffix too."""
    path = tmp_path / (name + suffix)
    path.write_bytes((FIXTURES / "others" / name).read_bytes())
    report = unnest.inspect(path)
    assert report.error is not None
    assert f": is {NAMES[name]}" in report.error.message
    assert "\n" not in report.error.message
    assert report.error.code in ("other-format", "compression", "not-keras")


class Bomb:
    """An object that runs code when it is unpickled."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return open, ("/nowhere/keras.src.models",)


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    """It would raise FileNotFoundError."""
    path = tmp_path / "m.pkl"
    path.write_bytes(pickle.dumps(Bomb()))
    report = unnest.inspect(path)
    assert report.error is not None
    assert report.error.code == "other-format"


def test_no_file_of_keras_is_misnamed() -> None:
    """Whatever is a container is never asked; and of the data files beside one none has another's name."""
    files = [
        p for p in UNPACKED.rglob("*") if p.is_file() and not {"others", "scripts"} & {*p.parts}
    ]
    assert len(files) > 1000
    for path in files:
        known = container_of(str(path))
        if known is None and not path.name.endswith((".npz", ".gz", ".zip", ".xz", ".pb")):
            assert foreign(str(path)) is None, path


@pytest.mark.parametrize(
    "data",
    [
        b"", b"\n", b"\n\0", b"\x08\x01", b"{", b"x", b"x\x9c", b"PK\3\4", b"\0" * 600, b"\n\n\n", b"a: 1\n", b"(dp0\n",
        bytes(range(256)), b"\xff" * 64, b"\x80\x04", b"\x80\x02}", b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
        b"\x08\x01:\x05ab", (2).to_bytes(8, "little") + b"{x", b"Notes. Of no interest.\n",
    ],
)  # fmt: skip
def test_what_is_nothing_has_no_name(data: bytes, tmp_path: Path) -> None:
    """Text, beginnings, and bytes that happen to begin like something."""
    path = tmp_path / "m"
    path.write_bytes(data)
    assert foreign(str(path)) is None


def test_a_folder_without_a_model_names_what_it_holds(cli: Cli) -> None:
    """A folder without a model names its content; beside models such folders are passed silently."""
    done = cli("inspect", str(FIXTURES / "others"))
    assert done.returncode == 2
    assert "no model in this folder (bzip2.bz2 is packed by bzip2" in done.stdout + done.stderr


def test_a_foreign_file_under_a_models_name_is_worth_a_word_in_a_folder(
    tmp_path: Path, cli: Cli
) -> None:
    """The user looks for that model."""
    (tmp_path / "best.keras").write_bytes((FIXTURES / "others/pytorch.pt").read_bytes())
    (tmp_path / "notes.pkl").write_bytes((FIXTURES / "others/pickle-4.pkl").read_bytes())
    done = cli("inspect", str(tmp_path))
    assert done.returncode == 2
    assert "best.keras: is a PyTorch checkpoint" in done.stdout + done.stderr
    assert "notes.pkl" not in done.stdout + done.stderr


def test_advice_ends_no_sentence() -> None:
    """All are put together in one way."""
    assert all(
        not s.advice.endswith(".") and s.name[:2] in ("a ", "an", "pa", "th")
        for s in FILE_SIGNATURES
    )
