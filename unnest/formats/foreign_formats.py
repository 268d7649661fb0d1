"""Recognise files of other formats by their content, so that a message can name them.

Used only for files that are not Keras containers. Nothing is unpickled or unpacked, and nothing is parsed further than
its name requires.
"""

from __future__ import annotations

import os
import re
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import IO, NamedTuple

from unnest.core.model import Json
from unnest.errors import Unreadable

#: Bytes that are looked at where a format is no more than its beginning.
BEGINNING = 1 << 16
#: Files of a folder that are looked at.
MOST_FILES = 200
#: Fields of a protocol buffer that are walked over.
MOST_FIELDS = 256

#: The code of a file of another format; of JSON it is that of all JSON without a model, which folders are full of.
OTHER = "other-format"
OTHER_JSON = "not-keras"

KERAS_FILE = "pass the Keras model, an .h5, a .keras or a SavedModel"
OTHER_FRAMEWORK = f"it is of another framework: {KERAS_FILE}"
CONVERTED = "pass the Keras model that it was converted from: an .h5, a .keras or a SavedModel"


class Sample(NamedTuple):
    """The beginning of a file, its size in bytes, and the file itself."""

    start: bytes
    size: int
    file: IO[bytes]


class FileSignature(NamedTuple):
    """A format: its name in messages, what to do instead, and its test."""

    name: str
    advice: str
    holds: Callable[[Sample], bool]
    code: str = OTHER


class Foreign(NamedTuple):
    """A file that holds no Keras model: an error's code, the name of its format, and what to do."""

    code: str
    name: str
    advice: str

    def error(self, path: str) -> Unreadable:
        """Return the error, in one line."""
        return Unreadable(self.code, f"{path}: is {self.name}; {self.advice}")


def _begins(*magic: bytes, at: int = 0) -> Callable[[Sample], bool]:
    return lambda sample: sample.start[at:].startswith(magic)


# ---- protocol buffers, which have no magic: by their fields ----


def _fields(sample: Sample) -> Iterator[tuple[int, int]]:
    """Yield number and wire type of the top-level fields of a protocol buffer.

    Raises:
        ValueError: it is not a protocol buffer.

    """
    position = 0
    while position < sample.size:
        sample.file.seek(position)
        # Two numbers at the most, of up to ten bytes each: the tag, and a value or its length.
        beginning = sample.file.read(20)
        tag, value_start = _varint(beginning, 0)
        number, wire_type = tag >> 3, tag & 7
        if number == 0:
            raise ValueError
        position += _field_length(beginning, value_start, wire_type)
        if position > sample.size:
            raise ValueError
        yield number, wire_type


def _field_length(beginning: bytes, value_start: int, wire_type: int) -> int:
    """Return how many bytes a field takes, its tag included. Raises ValueError for an unknown wire type."""
    if wire_type in FIXED_LENGTHS:
        return value_start + FIXED_LENGTHS[wire_type]
    if wire_type not in (NUMBER, LENGTH):
        raise ValueError
    value, end = _varint(beginning, value_start)
    return end + value if wire_type == LENGTH else end


def _varint(data: bytes, start: int) -> tuple[int, int]:
    """Return the number that begins at `start`, seven bits a byte, and where it ends. Raises ValueError."""
    value = 0
    for k, byte in enumerate(data[start : start + 10]):
        value |= (byte & 127) << (7 * k)
        if byte < 128:  # noqa: PLR2004 - the bit that says that more follows
            return value, start + k + 1
    raise ValueError


def _message(types: Mapping[int, int], needed: Collection[int]) -> Callable[[Sample], bool]:
    """Return a test for a protocol buffer with only fields of `types` (number -> wire type), number 1 first.

    All `needed` fields must occur. Of a file with more than MOST_FIELDS fields, the first ones decide.
    """

    def holds(sample: Sample) -> bool:
        found: list[int] = []
        try:
            for number, wire_type in _fields(sample):
                if types.get(number) != wire_type:
                    return False
                found.append(number)
                if len(found) == MOST_FIELDS:
                    break
        except ValueError:
            return False
        return found[:1] == [1] and set(needed) <= set(found)

    return holds


def _is_graph(sample: Sample) -> bool:
    """Return True for a frozen graph: nodes, the first of which begins with its name."""
    with suppress(ValueError):
        _, start = _varint(sample.start, 1)
        return sample.start[start : start + 1] == b"\n" and _message(GRAPH, (1,))(sample)
    return False


def _is_core_ml(sample: Sample) -> bool:
    """Return True for version and description, then one field, the number of which is the kind of model."""
    try:
        numbers = [number for number, _ in _fields(sample)]
    except ValueError:
        return False
    return (
        numbers[:2] == [1, 2]
        and max(numbers) >= CORE_ML_KINDS
        and set(numbers) <= {1, 2, 10, max(numbers)}
    )


CORE_ML_KINDS = 200
#: Wire types of fields: a length with so many bytes behind it, and a number.
LENGTH, NUMBER = 2, 0
#: Wire type -> bytes of its values, which all take as many.
FIXED_LENGTHS = {1: 8, 5: 4}
#: (Source: onnx.proto, ModelProto.)
ONNX = {1: NUMBER, 2: LENGTH, 3: LENGTH, 4: LENGTH, 5: NUMBER, 6: LENGTH, 7: LENGTH, 8: LENGTH, 14: LENGTH, 20: LENGTH,
        25: LENGTH, 26: LENGTH}  # fmt: skip
#: (Source: graph.proto, GraphDef.)
GRAPH = {1: LENGTH, 2: LENGTH, 3: NUMBER, 4: LENGTH, 5: LENGTH}
#: (Source: saved_model.proto.)
SAVED_MODEL = {1: NUMBER, 2: LENGTH}


# ---- pickles: named by what they name, never loaded ----

#: A pickle of protocol 2 to 5; those before are text, of which the first instruction and a stored name are asked for.
PICKLE = re.compile(rb"\x80[\x02-\x05]|[(\]}c].{0,4000}?\n(?:[pc]|.{0,4000}?\np?\d)", re.DOTALL)
OF_KERAS = re.compile(
    rb"(?:tf_keras|\bkeras|[\n\x00-\x1f(]keras|tensorflow\.python\.keras)\.[a-z_]+"
)
#: What `torch.save` wrote before PyTorch 1.6. (Source: MAGIC_NUMBER of torch/serialization.py.)
OLD_PYTORCH = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
JOBLIB = b"joblib.numpy_pickle"


def _is_pickle(sample: Sample) -> bool:
    """Return True for a whole pickle, whose last instruction is a dot."""
    if not PICKLE.match(sample.start):
        return False
    sample.file.seek(max(sample.size - 1, 0))
    return sample.file.read(1) == b"."


def _unpacked(sample: Sample) -> bytes:
    """Return the beginning of a joblib file, unpacked by zlib; b"" for others."""
    if sample.start[:1] != b"x":
        return b""
    with suppress(zlib.error):
        return zlib.decompressobj().decompress(sample.start, BEGINNING)
    return b""


def _is_joblib(sample: Sample) -> bool:
    unpacked = _unpacked(sample)
    return JOBLIB in sample.start or JOBLIB in unpacked or bool(unpacked and PICKLE.match(unpacked))


def _is_keras_pickle(sample: Sample) -> bool:
    return _is_pickle(sample) and OF_KERAS.search(sample.start) is not None


def _is_safetensors(sample: Sample) -> bool:
    """Return True for safetensors: the length of a JSON header, little-endian, then the header.

    (Source: the README of safetensors.)
    """
    length = int.from_bytes(sample.start[:8], "little")
    if not 2 <= length <= sample.size - 8 or sample.start[8:9] != b"{":  # noqa: PLR2004 - `{}`
        return False
    sample.file.seek(8 + length - 1)
    return sample.file.read(1) in (b"}", b" ")


UNPACK = "unpack it first, and pass the model in it"
NO_UNPICKLING = "unnest unpickles nothing, since that runs code"

#: The first that holds counts.
FILE_SIGNATURES: tuple[FileSignature, ...] = (
    FileSignature(
        "packed by gzip", "unpack it first (gunzip)", _begins(b"\x1f\x8b"), "compression"
    ),
    FileSignature("packed by bzip2", UNPACK, _begins(b"BZh"), "compression"),
    FileSignature("packed by xz", UNPACK, _begins(b"\xfd7zXZ\0"), "compression"),
    FileSignature("packed by zstd", UNPACK, _begins(b"\x28\xb5\x2f\xfd"), "compression"),
    FileSignature("a 7z archive", UNPACK, _begins(b"7z\xbc\xaf\x27\x1c"), "compression"),
    FileSignature("a RAR archive", UNPACK, _begins(b"Rar!\x1a\x07"), "compression"),
    FileSignature("a tar archive", UNPACK, _begins(b"ustar", at=257), "compression"),
    FileSignature("a GGUF file of llama.cpp", OTHER_FRAMEWORK, _begins(b"GGUF")),
    FileSignature("a TensorFlow Lite model", CONVERTED, _begins(b"TFL3", at=4)),
    FileSignature("a PyTorch checkpoint", OTHER_FRAMEWORK, _begins(OLD_PYTORCH)),
    FileSignature(
        "a NumPy array", f"it does not say what it is of; {KERAS_FILE}", _begins(b"\x93NUMPY")
    ),
    FileSignature(
        "a pickled Keras model",
        f"{NO_UNPICKLING}: load it in the program that wrote it, and call model.save('model.keras')",
        _is_keras_pickle,
    ),
    FileSignature("a joblib file", f"{NO_UNPICKLING}; {KERAS_FILE}", _is_joblib),
    FileSignature("a Python pickle", f"{NO_UNPICKLING}; {KERAS_FILE}", _is_pickle),
    FileSignature(
        "a safetensors file", f"it holds weights without layers: {KERAS_FILE}", _is_safetensors
    ),
    FileSignature("an ONNX model", CONVERTED, _message(ONNX, (1, 7))),
    FileSignature("a Core ML model", CONVERTED, _is_core_ml),
    FileSignature("a TensorFlow graph (a frozen .pb)", CONVERTED, _is_graph),
    FileSignature(
        "the graph of a SavedModel",
        "pass its whole folder, variables included",
        _message(SAVED_MODEL, (1, 2)),
    ),
)


def foreign(path: str) -> Foreign | None:
    """Return the format of a file; None if it is unknown.

    Raises:
        OSError: the file cannot be read.

    """
    with open(path, "rb") as file:
        sample = Sample(file.read(BEGINNING), os.fstat(file.fileno()).st_size, file)
        if sample.start.startswith(b"PK\3\4"):
            with suppress(zipfile.BadZipFile, ValueError, NotImplementedError):
                return foreign_zip(zipfile.ZipFile(file).namelist())
        for signature in FILE_SIGNATURES:
            if signature.holds(sample):
                return Foreign(signature.code, signature.name, signature.advice)
    return None


def foreign_in(folder: str) -> str:
    """Return a clause that names the content of a folder without a Keras model; "" if it is unknown."""
    paths = (
        os.path.join(parent, name) for parent, _, names in os.walk(folder) for name in sorted(names)
    )
    found: dict[str, list[str]] = {}
    for path in islice(paths, MOST_FILES):
        with suppress(OSError):
            other = foreign(path) if os.path.isfile(path) else None
            if other is not None:
                found.setdefault(other.name, []).append(os.path.relpath(path, folder))
    named = [
        f"{files[0]} is {what}" + (f", and {len(files) - 1} more" if files[1:] else "")
        for what, files in found.items()
    ]
    return "; ".join(named[:3])


# ---- zip files, by their members ----

#: Members of a zip -> what it is; the first that is in it counts. (Source: torch.save, numpy.savez.)
MEMBERS: tuple[tuple[Callable[[str], bool], Callable[[Sequence[object]], bool], Foreign], ...] = (
    (
        lambda name: name.endswith("/data.pkl"),
        any,
        Foreign(OTHER, "a PyTorch checkpoint", OTHER_FRAMEWORK),
    ),
    (
        lambda name: name.endswith(".npy"),
        all,
        Foreign(
            OTHER, "an .npz, arrays of NumPy", f"they do not say what they are of; {KERAS_FILE}"
        ),
    ),
)


def foreign_zip(members: Sequence[str]) -> Foreign | None:
    """Return the format of a zip file with these members; None if it is unknown."""
    for is_sign, among, what in MEMBERS:
        if members and among([is_sign(name) for name in members]):
            return what
    return None


# ---- JSON, by its keys ----


def foreign_json(value: Json) -> Foreign | None:
    """Return the format of JSON that is not an architecture; None if it is unknown.

    (Source: keras_preprocessing 1.1, text.py; files of transformers.)
    """
    if not isinstance(value, Mapping):
        return None
    config, known = value.get("config"), partial(Foreign, OTHER_JSON)
    if (
        isinstance(config, Mapping)
        and {"word_counts", "word_index", "document_count"} <= config.keys()
    ):
        what = "the JSON of a Tokenizer, which prepares texts, and not of a model"
        return known(what, "keras.preprocessing.text.tokenizer_from_json reads it")
    if "model_type" in value and ("architectures" in value or "transformers_version" in value):
        return known("the configuration of a Hugging Face transformer", OTHER_FRAMEWORK)
    if isinstance(value.get("model"), Mapping) and "added_tokens" in value:
        return known("a tokenizer of Hugging Face", OTHER_FRAMEWORK)
    return None
