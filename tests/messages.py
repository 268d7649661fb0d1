"""Messages that a user can provoke from the command line, with genuine files and files that were damaged.

    python -m tests.messages        write each command with its message

Each message is one line that says what was found, where, and what to do, in sentences of at most 20 words.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import shlex
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import h5py

from tests.corpus.unpacked import FIXTURES

#: Name in the folder -> the fixture that is copied there.
COPIES = {
    "old.h5": "k224/official-cnn-adam/parallel.h5",
    "theano.h5": "k122/kuza-cnn-x2-adam/parallel.h5",
    "lambdas.h5": "k224/official-lambdas/parallel.h5",
    "custom.h5": "k224/official-custom-adam/parallel.h5",
    "weights.h5": "k224/official-multiio-tjson/weights.h5",
    "template.json": "k224/official-multiio-tjson/template.json",
    "two.keras": "keras_zip/tf213/keras_zip-carried-mlp-double/parallel.keras",
    "today.keras": "keras_zip/keras3/keras_zip-carried-nested/base.keras",
    "serving": "saved_model/tf23/plain-official-named/parallel",
    "net.onnx": "others/onnx.onnx", "net.pt": "others/pytorch.pt", "net.pth": "others/pytorch-legacy.pth",
    "net.tflite": "others/tflite.tflite", "net.gguf": "others/gguf.gguf", "net.pkl": "others/pickle-keras3.pkl",
    "net.safetensors": "others/safetensors.safetensors", "net.mlmodel": "others/coreml.mlmodel",
    "net.npz": "others/numpy.npz", "net.h5.gz": "others/gzip.h5.gz", "net.tar": "others/tar.tar",
    "frozen.pb": "others/frozen.pb", "words.json": "others/tokenizer.json",
}  # fmt: skip

#: What follows `unnest`. Each ends in exit code 2 and one message.
COMMANDS = (
    "inspect absent.h5", "inspect empty", "inspect empty.h5", "inspect torn.h5", "inspect half.h5", "inspect text.h5",
    "inspect arrays.h5", "inspect linked.h5", "inspect unlisted.h5", "inspect less.h5", "inspect odd.keras",
    "inspect cut.keras", "inspect locked.keras", "inspect broken.json", "inspect other.json", "inspect words.json",
    "inspect net.onnx", "inspect net.pt", "inspect net.pth", "inspect net.tflite", "inspect net.gguf",
    "inspect net.pkl", "inspect net.safetensors", "inspect net.mlmodel", "inspect net.npz", "inspect net.h5.gz",
    "inspect net.tar", "inspect frozen.pb", "inspect no_graph", "inspect no_shard",
    "inspect --diagram all.svg old.h5 two.keras", "inspect --diagram old.tiff old.h5", "inspect --jsno old.h5",
    "inspect --jobs many old.h5", "fix --jobs 0 old.h5", "balance builder:fails --batch-size 0",
    "inspect", "inspect --architecture old.h5 weights.h5",
    "inspect --architecture absent.json weights.h5", "inspect --architecture other.json weights.h5",
    "inspect --scheduler nowhere:1 old.h5", "inspect s3://zoo/m.h5", "old.h5", "repair old.h5",
    "fix old.h5 -o old.h5", "fix old.h5 -o out.onnx", "fix old.h5 -o absent/out.h5",
    "fix old.h5 -o out.h5 --to keras", "fix old.h5 -o out.h5 --in-place", "fix old.h5 two.keras -o one.h5",
    "fix old.h5 -o taken.h5", "fix old.h5 --to zip", "fix old.h5 --keras 4", "fix old.h5 --to saved_model",
    "fix old.h5 --backup a/b --in-place", "fix serving --in-place", "fix serving --to h5",
    "fix weights.h5 --in-place", "fix weights.h5 --to keras", "fix weights.h5 --architecture other_model.json",
    "fix template.json --to h5", "fix old.h5 --stub own.py", "fix old.h5 --keras 3 --stub own.txt",
    "fix old.h5 --keras 3 --in-place", "fix old.h5 --like nothing", "fix old.h5 --like absent:build",
    "fix old.h5 --like builder:absent", "fix old.h5 --like builder:fails", "fix old.h5 -o ''", "fix old.h5 -o -",
    "fix two.keras --to saved_model", "fix old.h5 -o serving",
)  # fmt: skip


def make(folder: Path) -> None:
    """Fill a folder with the files that the commands name."""
    for name, source in COPIES.items():
        path = FIXTURES / source
        (shutil.copytree if path.is_dir() else shutil.copy)(path, folder / name)
    (folder / "empty").mkdir()
    (folder / "empty.h5").touch()
    whole = (folder / "old.h5").read_bytes()
    (folder / "torn.h5").write_bytes(whole[:100])
    (folder / "half.h5").write_bytes(whole[: len(whole) // 2])
    (folder / "text.h5").write_text("hello world\n" * 9)
    (folder / "taken.h5").write_text("mine")
    with h5py.File(folder / "arrays.h5", "w") as f:
        f["x"] = [1.0, 2.0]
    shutil.copy(folder / "old.h5", folder / "linked.h5")
    with h5py.File(folder / "linked.h5", "r+") as f:
        f["model_weights"]["elsewhere"] = h5py.ExternalLink("other.h5", "/x")
    with zipfile.ZipFile(folder / "odd.keras", "w") as z:
        z.writestr("readme.txt", "no model")
    zipped = (folder / "today.keras").read_bytes()
    (folder / "cut.keras").write_bytes(zipped[: len(zipped) - 40])
    locked = bytearray(zipped)
    for start in _all(zipped, b"PK\x01\x02"):
        locked[start + 8] |= 1
    for start in _all(zipped, b"PK\x03\x04"):
        locked[start + 6] |= 1
    (folder / "locked.keras").write_bytes(locked)
    (folder / "broken.json").write_text('{"class_name": "Model", ')
    (folder / "other.json").write_text('{"a": 1}')
    with h5py.File(folder / "old.h5") as f:
        parallel = json.loads(f.attrs["model_config"])
    (folder / "other_model.json").write_text(json.dumps(parallel))
    with h5py.File(folder / "unlisted.h5", "w") as f:
        f.attrs["model_config"] = json.dumps(parallel)
        f.create_group("model_weights")
    shutil.copy(folder / "old.h5", folder / "less.h5")
    with h5py.File(folder / "less.h5", "r+") as f:
        del f["model_weights/sequential_1"]
    shutil.copytree(folder / "serving", folder / "no_shard")
    (folder / "no_shard/variables/variables.data-00000-of-00001").unlink()
    (folder / "no_graph").mkdir()
    (folder / "no_graph" / "saved_model.pb").write_bytes(b"\xff" * 64)
    (folder / "builder.py").write_text("def fails():\n    raise ValueError('no data')\n")


def _all(data: bytes, mark: bytes) -> Iterator[int]:
    start = data.find(mark)
    while start >= 0:
        yield start
        start = data.find(mark, start + 1)


def run(command: str) -> tuple[int | None, list[str]]:
    """Return the exit code of a command, run in the folder it is in, and the lines that it wrote to stderr."""
    from unnest.cli.app import run as run_app

    streams = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8")
    with (
        mock.patch.object(sys, "argv", ["unnest", *shlex.split(command)]),
        mock.patch.object(sys, "path", [*sys.path]),
        mock.patch.multiple(sys, excepthook=sys.excepthook, unraisablehook=sys.unraisablehook),
        contextlib.redirect_stdout(streams[0]),
        contextlib.redirect_stderr(streams[1]),
    ):
        code = run_app()
    streams[1].seek(0)
    return code, streams[1].read().splitlines()


def main() -> None:
    """Write every command with what it says."""
    with tempfile.TemporaryDirectory() as folder:
        make(Path(folder))
        os.chdir(folder)
        for command in COMMANDS:
            code, lines = run(command)
            sys.stdout.write(
                f"$ unnest {command}\n" + "".join(f"{line}\n" for line in lines) + f"({code})\n"
            )
        os.chdir("/")


if __name__ == "__main__":
    main()
