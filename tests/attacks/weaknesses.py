"""Files that use the known weaknesses of model loaders, built by code from files that are sound.

What would run or be read is a trap: `trap.py` in the working folder leaves `ran` beside itself where it is imported,
and `secret` is what a file must not make anybody read.
"""

from __future__ import annotations

import copy
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py

from tests import makeh5
from tests.corpus.unpacked import FIXTURES
from tests.mutants.meaning import is_model, refs_of
from tests.unit.core.wrappers.one_layer import function

KERAS = FIXTURES / "keras_zip/keras3/keras_zip-carried-named-adam/parallel.keras"
WEIGHTS = KERAS.parents[3] / "weights_h5/keras3/weights_h5-carried-named-adam/parallel.weights.h5"
TRAP = "import pathlib\npathlib.Path('ran').touch()\nclass Trap: pass\ndef run(*args): pass\n"
ELSEWHERE = "what is in another file"

Entry = dict[str, Any]
CODE = function(lambda x: __import__("trap").run(x))

#: What is planted in the template, as a layer: CVE, (class, config, module), the words that tell of it.
PLANTED: dict[str, tuple[Entry, str]] = {
    "CVE-2024-3660 and CVE-2025-9905: a Lambda that runs where it is loaded": (
        {"class_name": "Lambda", "config": {"function": CODE, "function_type": "lambda", "arguments": {}}},
        "code of the Lambda 'planted'",
    ),
    "CVE-2025-1550: a class of any module": (
        {"module": "trap", "class_name": "Trap", "config": {}, "registered_name": None},
        "'Trap' of the module 'trap'",
    ),
    "CVE-2025-1550: a function of any module": (
        {
            "module": "keras.layers", "class_name": "Activation", "registered_name": None,
            "config": {
                "activation": {"module": "trap", "class_name": "function", "config": "run", "registered_name": "run"}
            },
        },
        "'run' of the module 'trap'",
    ),
    "CVE-2025-1550: a gadget of Keras itself": (
        {
            "module": "keras.layers", "class_name": "Activation", "registered_name": None,
            "config": {
                "activation": {
                    "module": "keras.src.utils.file_utils", "class_name": "function", "config": "get_file",
                    "registered_name": "get_file",
                }
            },
        },
        "'get_file' of the module 'keras.src.utils.file_utils'",
    ),
    "CVE-2025-12058: a vocabulary that is a path": (
        {
            "module": "keras.layers", "class_name": "StringLookup", "registered_name": None,
            "config": {"vocabulary": "secret"},
        },
        "the file 'secret' as a vocabulary",
    ),
}  # fmt: skip


def planted(model: Entry, layer: Entry) -> Entry:
    """The parallel model with a layer put in front of all that its template does."""
    model = copy.deepcopy(model)
    template = next(entry for entry in model["config"]["layers"] if is_model(entry))
    layers = template["config"]["layers"]
    first = next(entry for entry in layers if entry["class_name"] == "InputLayer")["name"]
    reader = next(entry for entry in layers if entry["inbound_nodes"])
    own = {"name": "planted", "trainable": True, **layer["config"]}
    entry = {
        **layer,
        "name": "planted",
        "config": own,
        "inbound_nodes": copy.deepcopy(reader["inbound_nodes"]),
    }
    for other in layers:
        for node in other["inbound_nodes"]:
            for ref in refs_of(node):
                ref[0] = "planted" if ref[0] == first else ref[0]
    layers.insert(1, entry)
    return model


def as_h5(folder: Path, layer: Entry) -> Path:
    """In the older HDF5 layout."""
    path = makeh5.parallel_file(folder / "m.h5")
    with h5py.File(path, "a") as file:
        file.attrs["model_config"] = json.dumps(
            planted(json.loads(file.attrs["model_config"]), layer)
        )
    return path


def as_keras(folder: Path, layer: Entry) -> Path:
    """In a `.keras`."""
    return _zipped(
        folder, config=lambda text: json.dumps(planted(json.loads(text), layer)).encode()
    )


def as_json(folder: Path, layer: Entry) -> Path:
    """As an architecture alone."""
    path = folder / "m.json"
    path.write_text(json.dumps(planted(makeh5.parallel(makeh5.template()), layer)), "utf8")
    return path


CONTAINERS: dict[str, Callable[[Path, Entry], Path]] = {
    "h5": as_h5,
    "keras": as_keras,
    "json": as_json,
}


def _zipped(folder: Path, **changes: Callable[[bytes], bytes]) -> Path:
    with zipfile.ZipFile(KERAS) as old, zipfile.ZipFile(folder / "m.keras", "w") as new:
        for name in old.namelist():
            change = changes.get(name.partition(".")[0], bytes)
            new.writestr(name, change(old.read(name)))
    return folder / "m.keras"


def _weights(folder: Path, edit: Callable[[h5py.File], None]) -> Path:
    path = folder / "m.weights.h5"
    path.write_bytes(WEIGHTS.read_bytes())
    with h5py.File(path, "a") as file:
        edit(file)
    return path


def _weights_in_a_zip(folder: Path, edit: Callable[[h5py.File], None]) -> Path:
    def edited(data: bytes) -> bytes:
        held = io.BytesIO(data)
        with h5py.File(held, "r+") as file:
            edit(file)
        return held.getvalue()

    return _zipped(folder, model=edited)


def _legacy(folder: Path, edit: Callable[[h5py.File], None]) -> Path:
    path = makeh5.parallel_file(folder / "m.h5")
    with h5py.File(path, "a") as file:
        edit(file)
    return path


STORES: dict[str, Callable[[Path, Callable[[h5py.File], None]], Path]] = {
    "h5": _legacy, "weights_h5": _weights, "keras": _weights_in_a_zip,
}  # fmt: skip


def _first(file: h5py.File) -> str:
    """Any tensor of the file."""
    names: list[str] = []
    file.visititems(
        lambda name, thing: (
            names.append(name) if isinstance(thing, h5py.Dataset) and thing.shape else None
        )
    )
    return names[0]


def external_storage(file: h5py.File) -> None:
    """CVE-2026-1669: a tensor whose bytes are another file's."""
    name = _first(file)
    del file[name]
    file.create_dataset(name, (2,), "f4", external=[("secret", 0, 8)])


def declared_size(file: h5py.File) -> None:
    """CVE-2026-0897: a tensor that declares terabytes in a few bytes."""
    name = _first(file)
    del file[name]
    file.create_dataset(name, (1 << 40, 4), "f4", chunks=(1024, 4), compression="gzip")
