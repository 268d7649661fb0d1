"""Styles that an output keeps of its input, though Keras reads them alike: JSON's layout, types of HDF5 attributes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from unnest.core.model import Json
from unnest.formats.parse_json import dump


class JsonStyle(NamedTuple):
    """The layout of JSON text.

    `encodings`: how often it is JSON in JSON; `end`: the text behind the last character; `has_mark`: whether it begins
    with a byte-order mark, which is not written.
    """

    indent: int | str | None = None
    separators: tuple[str, str] = (", ", ": ")
    ensure_ascii: bool = True
    encodings: int = 1
    end: str = ""
    has_mark: bool = False

    @staticmethod
    def of(text: str, innermost: str, encodings: int) -> JsonStyle:
        """Read off the first few characters; whitespace inside strings may mislead, and only the looks suffer."""
        indented = re.match(r"\s*\{\r?\n([ \t]+)", innermost)
        indent: int | str | None = None
        if indented:
            indent = indented[1] if "\t" in indented[1] else len(indented[1])
        colon = ": " if re.search(r'":\s', innermost) else ":"
        comma = "," if indented or not re.search(r'[\]}"\d],\s', innermost) else ", "
        return JsonStyle(
            indent, (comma, colon), text.isascii(), encodings, text[len(text.rstrip()) :]
        )

    def code_that_reads(self, path: str) -> str:
        """Return the Python expression for the JSON text in a file of this style, as Keras takes it."""
        encoding = ", encoding='utf-8-sig'" if self.has_mark else ""
        code = f"open({path!r}{encoding}).read()"
        for _ in range(self.encodings - 1):
            code = f"json.loads({code})"
        return code

    def dump(self, value: Json) -> bytes:
        """Return the value as JSON in this style, as it goes into the file."""
        text = dump(
            value, indent=self.indent, separators=self.separators, ensure_ascii=self.ensure_ascii
        )
        for _ in range(self.encodings - 1):
            text = dump(text, ensure_ascii=self.ensure_ascii)
        return (text + self.end).encode("utf-8", "surrogatepass")


class H5Style(NamedTuple):
    """The storage of attributes in Keras's HDF5.

    `top` and `layers`: the attributes of the root and of the group that holds the layers (in a file of weights the root
    again), by name. `weight_names` and `optimizer_names`: how the lists of those names are stored (an h5py dtype, None
    for bytes of a fixed length). `has_top_level`: the group of what belongs to no layer exists.
    """

    top: Mapping[str, Any] = MappingProxyType({})
    layers: Mapping[str, Any] = MappingProxyType({})
    weight_names: Any = None
    optimizer_names: Any = None
    has_top_level: bool = False
