"""The words of a SavedModel's lookup layers, which lie in tables of TensorFlow and not in their configs.

From TensorFlow 2.6 on, a function of the graph fills each table when the model is loaded: from constants that it
captures, or from a file among the assets. Up to 2.5 the bundle holds a table's keys and values.
(Source: SavedModels of TensorFlow 2.3, 2.7, 2.10 and 2.15.)
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from unnest.budget import charge_memory, charge_steps
from unnest.core.keras_facts.vocabularies_and_bin_boundaries import (
    layers_without_vocabulary,
    vocabulary_in_order,
    with_vocabularies,
)
from unnest.core.model import Json, JsonObject
from unnest.files.file_reading import read_plain_file
from unnest.formats.parse_json import parse_object
from unnest.formats.tensorflow import graphdef_to_op_graph
from unnest.formats.tensorflow.keras_metadata_json import METADATA, metadata_by_node
from unnest.formats.tensorflow.protobuf_messages import Message
from unnest.formats.tensorflow.read_tensor_bundle import Bundle

#: Attributes that lead from a layer to the one in it that has the table, and to the table.
HOLDERS, TABLES = ("_lookup_layer", "_index_lookup_layer"), ("lookup_table", "_table")
#: An operation that fills a table from keys and values, and one that reads a file of a word in each line.
FROM_CONSTANTS, FROM_FILE = "LookupTableImportV2", "InitializeTableFromTextFileV2"
#: What a file's line and its number are to FROM_FILE, which may also split lines.
WHOLE_LINE, LINE_NUMBER = -2, -1
BYTES_A_WORD = 100
#: Bytes of a file of words.
MAX_WORDS = 64 << 20
#: The elements of a constant or of a tensor in the bundle.
Elements: TypeAlias = "Sequence[Json]"


def with_tables(
    architecture: JsonObject, model: Message, bundle: Bundle | None, path: str, files: Sequence[str]
) -> tuple[JsonObject, frozenset[str]]:
    """Return the architecture with the words of its lookup layers, and the files that some were read from.

    `model`: the SavedModel at `path`, which has these `files`.
    """
    missing = layers_without_vocabulary(architecture)
    if not missing:
        return architecture, frozenset()
    meta = next((m for m in model.meta_graphs if m.objects.nodes), model.meta_graphs[0])
    if METADATA in files:
        metadata = metadata_by_node(os.path.join(path, METADATA))
    else:
        metadata = {
            k: str(n.user.metadata) for k, n in enumerate(meta.objects.nodes) if n.user.metadata
        }
    tables = Tables(meta, bundle, path, files)
    return with_vocabularies(architecture, missing, tables.words(missing, metadata)), tables.assets


class TableContent(NamedTuple):
    """The keys and the values of a table, as many of each."""

    keys: Elements
    values: Elements


@dataclass
class Tables:
    """The tables of one MetaGraph of the SavedModel at `path`, which has these files.

    `assets`: the files that words were read from.
    """

    meta: Message
    bundle: Bundle | None
    path: str
    files: Sequence[str]
    assets: frozenset[str] = frozenset()

    def words(
        self, missing: Mapping[str, JsonObject], metadata: Mapping[int, str]
    ) -> dict[str, list[Json]]:
        """Return the words of lookup layers by the layers' names, of those layers alone that lack them.

        `metadata`: node of an object -> its Keras metadata, as text.
        """
        found: dict[str, list[Json]] = {}
        for node, text in metadata.items():
            if not any(f'"{name}"' in text for name in missing) or not 0 <= node < len(
                self.meta.objects.nodes
            ):
                continue
            name = str(parse_object(text, "Keras metadata").get("name"))
            table = self._table(node) if name in missing else None
            config = missing[name].get("config") if table is not None else None
            if table is None or not isinstance(config, Mapping):
                continue
            content = self._content_of_initializer(table) or self._content_in_bundle(table, node)
            if content is None:
                continue
            by_index = _by_index(content, inverted=config.get("invert") is True)
            words = vocabulary_in_order(str(missing[name]["class_name"]), config, by_index)
            found |= {} if words is None else {name: words}
        return found

    def _children(self, node: int) -> dict[str, int]:
        count = len(self.meta.objects.nodes)
        return {
            c.local_name: c.node_id
            for c in self.meta.objects.nodes[node].children
            if 0 <= c.node_id < count
        }

    def _table(self, node: int) -> int | None:
        """Return the object of a layer's table."""
        children = self._children(node)
        holder = next((children[name] for name in HOLDERS if name in children), node)
        held = self._children(holder)
        return next((held[name] for name in TABLES if name in held), None)

    # ---- tables that a function fills ----

    def _content_of_initializer(self, table: int) -> TableContent | None:
        """Return the keys and the values that a table is filled with when the model is loaded."""
        initializer = self._children(table).get("_initialize")
        names = (
            [*self.meta.objects.nodes[initializer].function.names]
            if initializer is not None
            else []
        )
        function = next(
            (f for f in self.meta.graph.library.function if f.signature.name in names[:1]), None
        )
        if function is None or names[0] not in self.meta.objects.functions:
            return None
        arguments = [argument.name for argument in function.signature.input_arg]
        captured = dict(zip(arguments, self.meta.objects.functions[names[0]].bound, strict=False))
        for op in function.node_def:
            objects = [captured.get(name) for name in op.input]
            if op.op == FROM_CONSTANTS and len(objects) == 3 and objects[0] == table:  # noqa: PLR2004 - table, keys, values
                keys, values = self._constant(objects[1]), self._constant(objects[2])
                return None if keys is None or values is None else TableContent(keys, values)
            if op.op == FROM_FILE and objects and objects[0] == table:
                return self._content_of_file(op, objects[1])
        return None

    def _constant(self, node: int | None) -> Elements | None:
        """Return the elements of a constant of the graph, one axis."""
        captured = self.meta.objects.nodes[node].constant.operation if node is not None else ""
        op = next(
            (
                n
                for n in self.meta.graph.node
                if captured and n.name == captured and n.op == "Const"
            ),
            None,
        )
        if op is None:
            return None
        array = op.attr["value"].tensor
        if array.string_val:
            return _texts(array.string_val) if len(array.shape.dim) == 1 else None
        value = graphdef_to_op_graph.constant(array)
        return [int(v) for v in value] if value.ndim == 1 and value.dtype.kind == "i" else None

    def _content_of_file(self, op: Message, node: int | None) -> TableContent | None:
        """Return the lines of an asset and their numbers, as a table is filled with them."""
        columns = (op.attr["key_index"].i, op.attr["value_index"].i)
        asset = self.meta.objects.nodes[node] if node is not None else None
        if (
            columns != (WHOLE_LINE, LINE_NUMBER)
            or asset is None
            or asset.WhichOneof("kind") != "asset"
        ):
            return None
        if not 0 <= asset.asset.index < len(self.meta.assets):
            return None
        name = f"assets/{self.meta.assets[asset.asset.index].filename}"
        if name not in self.files:
            return None
        lines = read_plain_file(os.path.join(self.path, name), MAX_WORDS).split(b"\n")
        self.assets |= {name}
        words = _texts(lines[:-1] if lines[-1] == b"" else lines)
        start = int(op.attr["offset"].i)
        return None if words is None else TableContent(words, range(start, start + len(words)))

    # ---- tables in the bundle ----

    def _content_in_bundle(self, table: int, layer: int) -> TableContent | None:
        """Return the keys and values of a table as the bundle holds them; None unless just one entry is the table's."""
        key = f"/{self._name_of(table, layer)}/.ATTRIBUTES/table-"
        entries = self.bundle.entries if self.bundle is not None else {}
        places = [name.removesuffix("keys") for name in entries if name.endswith(f"{key}keys")]
        prefixes = [
            place for place in places if self._path_leads_to(place.split("/.ATTRIBUTES")[0], table)
        ]
        if len(prefixes) != 1 or self.bundle is None or f"{prefixes[0]}values" not in entries:
            return None
        keys, values = (
            self._tensor(self.bundle, f"{prefixes[0]}{part}") for part in ("keys", "values")
        )
        return None if keys is None or values is None else TableContent(keys, values)

    def _name_of(self, table: int, layer: int) -> str:
        holders = [layer, *self._children(layer).values()]
        return next(
            name for holder in holders for name, n in self._children(holder).items() if n == table
        )

    def _path_leads_to(self, path: str, node: int) -> bool:
        """Return True if the names in a path (`layer/table`) lead from the root to the object `node`."""
        reached: int | None = 0
        for name in path.split("/"):
            reached = self._children(reached).get(name) if reached is not None else None
        return reached == node

    def _tensor(self, bundle: Bundle, key: str) -> Elements | None:
        entry = bundle.entries[key]
        if entry.dtype == "string":
            return _texts(bundle.strings(key))
        if entry.dtype not in ("<i8", "<i4") or len(entry.shape) != 1:
            return None
        charge_memory(BYTES_A_WORD * entry.shape[0])
        return [int(v) for v in np.frombuffer(b"".join(bundle.blocks(entry)), entry.dtype)]


def _texts(words: Sequence[bytes]) -> list[str] | None:
    """Return words as texts; None if one is not UTF-8, which JSON cannot hold."""
    charge_steps(len(words))
    charge_memory(sum(map(len, words)) + BYTES_A_WORD * len(words))
    try:
        return [word.decode() for word in words]
    except UnicodeDecodeError:
        return None


def _by_index(content: TableContent, *, inverted: bool) -> dict[int, Json]:
    """Return index -> word; of an inverted layer the keys are the indices."""
    words, indices = reversed(content) if inverted else content
    if len(words) != len(indices):
        return {}
    return {
        index: word for index, word in zip(indices, words, strict=True) if isinstance(index, int)
    }
