"""An architecture in a file of its own: what `model.to_json()` or `to_yaml()` returned. JSON is what is written."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import ClassVar

from unnest.core.model import Json, JsonObject, Stored, Tensor
from unnest.core.plan import Output
from unnest.errors import Unreadable
from unnest.files.portable_file_operations import write_all
from unnest.files.write_errors import write_failed
from unnest.formats.container_interface import Container, OnBytes, Source, check_same_model
from unnest.formats.foreign_formats import foreign_json
from unnest.formats.parse_json import is_architecture, parse, read_bytes
from unnest.formats.preserved_style import JsonStyle

#: Bytes of JSON. The largest known architecture is below 20 MB; Python needs some twenty times that.
MAX_JSON = 64 << 20

#: How often text may be JSON in JSON: `json.dump(model.to_json(), f)` makes two.
MAX_ENCODINGS = 3


class JsonSource(Source):
    """A JSON file, read as a whole."""

    container: ClassVar = "json"

    def __init__(self, path: str) -> None:
        text, has_mark = read_text(path)
        innermost = text
        #: YAML is read, and never written.
        self.reformed = JsonContainer.suffix if is_yaml(text) else None
        value = _from_yaml(text, path) if self.reformed else parse(text, path)
        encodings = 1
        while isinstance(value, str) and encodings < MAX_ENCODINGS:
            innermost, encodings = value, encodings + 1
            value = parse(innermost, path)
        style = JsonStyle() if self.reformed else JsonStyle.of(text, innermost, encodings)
        self._style = style._replace(has_mark=has_mark)
        super().__init__(path, _stored(value, path))
        if self.reformed:
            self.not_in_place = "is YAML, and what is written is JSON"

    @property
    def form(self) -> str:
        """YAML, or JSON."""
        return "yaml" if self.reformed else self.container

    @property
    def json_style(self) -> JsonStyle:
        """The style in which the JSON was read."""
        return self._style

    def blocks(self, tensor: Tensor) -> Iterator[bytes]:
        """Raise KeyError: an architecture holds no tensors."""
        raise KeyError(tensor.name)


def is_yaml(text: str) -> bool:
    """True if an architecture's text is YAML.

    JSON starts with a quote if it is encoded twice, else with a brace and the quote of a key; YAML may have a key
    without quotes there.
    """
    start = text.lstrip("\ufeff \t\r\n")
    return start[:1] not in ("{", '"') or re.match(r"\{\s*\w+\s*:", start) is not None


def _from_yaml(text: str, path: str) -> Json:
    # Another library, for a file in a hundred.
    from unnest.formats.parse_yaml import parse as parse_yaml

    return parse_yaml(text, path)


def read_text(path: str) -> tuple[str, bool]:
    """Return the file's text, and True if a byte-order mark stands before it. Raises Unreadable."""
    data = read_bytes(path, MAX_JSON, "architecture")
    try:
        return data.decode("utf-8-sig"), data.startswith(codecs.BOM_UTF8)
    except UnicodeDecodeError as e:
        raise Unreadable("bad-json", f"{path}: is not UTF-8 text, so no architecture JSON") from e


def read_architecture(path: str) -> JsonObject:
    """Read the architecture at the path given by --architecture: JSON or YAML, with or without a wrapper."""
    architecture = JsonSource(path).stored.architecture
    assert architecture is not None
    return architecture


def _stored(value: Json, path: str) -> Stored:
    """Return the architecture in a JSON value. Raises Unreadable for other JSON."""
    foreign = foreign_json(value)
    if foreign is not None:
        raise foreign.error(path)
    if not is_architecture(value):
        raise Unreadable(
            "not-keras",
            f"{path}: is JSON or YAML, but not of a model; pass what model.to_json() wrote",
        )
    architecture = value
    return Stored(
        "architecture",
        architecture,
        keras_version=_text_at(architecture, "keras_version"),
        backend=_text_at(architecture, "backend"),
    )


def _text_at(architecture: JsonObject, key: str) -> str | None:
    value = architecture.get(key)
    return value if isinstance(value, str) else None


class JsonContainer(Container):
    """Reads and writes architecture JSON."""

    name: ClassVar = "json"
    suffix: ClassVar = ".json"

    def open(self, path: str) -> JsonSource:
        """Read and parse the file."""
        return JsonSource(path)

    def write(self, output: Output, source: Source, path: str, progress: OnBytes) -> None:
        """Write the architecture alone, in the source's style."""
        assert output.model.architecture is not None
        data = source.json_style.dump(output.model.architecture)
        try:
            with open(path, "xb", buffering=0) as file:
                write_all(file, data)
        except OSError as e:
            raise write_failed(path, e) from e
        progress(len(data))

    def verify(
        self, output: Output, source: Source, path: str, progress: OnBytes
    ) -> tuple[str, ...]:
        """Compare the parsed JSON with the output's architecture."""
        written = self.open(path).stored
        check_same_model(written._replace(architecture=output.model.architecture), written, path)
        return ("architecture",)
