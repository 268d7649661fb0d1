"""The rows that a layer graph computes, derived without the code under test.

A batch of n rows goes in, each row a symbol of its own. Slices pick rows by the arithmetic of the function that they
are (`{i, parts}` and its relatives), merges line rows up, and every other layer makes of a row another symbol: of its
own name, its config and the rows that it reads. Two models compute the same where they come to the same symbols.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

Rows: TypeAlias = tuple[int, ...]
"""One tensor: the symbol of each row."""

Entry: TypeAlias = dict[str, Any]

#: Names under which slices keep which part they take, and of how many.
PARTS = {"i": "parts", "idx": "parts", "index": "count", "part": "ngpus"}
MODELS = frozenset({"Model", "Functional", "Sequential"})
SLICES = frozenset({"SliceBatch", "DeviceSlice"})


class Meaningless(Exception):
    """No model: a reference that leads nowhere, a circle, rows that do not line up."""


class Symbols:
    """Numbers for symbols: equal ones have the same."""

    def __init__(self) -> None:
        self._known: dict[Any, int] = {}

    def of(self, *parts: Any) -> int:
        """The number of a symbol."""
        return self._known.setdefault(parts, len(self._known))


def outputs(model: Entry, symbols: Symbols, rows: int) -> list[Rows]:
    """Return the rows of each output of a model for a batch. Raises Meaningless."""
    count = len(_inputs(model))
    given: list[Rows] = [
        tuple(symbols.of("input", j, r) for r in range(rows)) for j in range(count)
    ]
    return _Graph(model, given, symbols).outputs()


def fixed_batch(model: Entry) -> int | None:
    """The batch that a model's inputs declare, if they do."""
    for entry in _layers(model):
        config = entry["config"]
        shape = (
            config.get("batch_shape", config.get("batch_input_shape"))
            if isinstance(config, Mapping)
            else None
        )
        if shape:
            return None if shape[0] is None else int(shape[0])
    return None


def refs_of(node: Any) -> list[list[Any]]:
    """The references of a call, as lists `[layer, call, output, ..]` that may be changed in place."""
    if isinstance(node, Mapping):
        return [
            t["config"]["keras_history"] for t in _tensors([node.get("args"), node.get("kwargs")])
        ]
    return [ref for ref in node if isinstance(ref, list) and ref and ref[0] != "_CONSTANT_VALUE"]


def _tensors(value: Any) -> list[Entry]:
    if isinstance(value, Mapping):
        if value.get("class_name") == "__keras_tensor__":
            return [dict(value)]
        value = list(value.values())
    return [t for part in value for t in _tensors(part)] if isinstance(value, list) else []


def ends(model: Entry, key: str) -> list[list[Any]]:
    """`input_layers` or `output_layers`, as lists that may be changed in place."""
    listed = model["config"][key]
    if isinstance(listed, Mapping):
        raise Meaningless("named ends")
    return [listed] if listed and isinstance(listed[0], str) else list(listed)


def _layers(model: Entry) -> list[Entry]:
    config = model["config"]
    return list(config if isinstance(config, list) else config["layers"])


def is_model(entry: Entry) -> bool:
    """Return True if a layer is a model, whatever its class."""
    config = entry["config"]
    return isinstance(config, list) or (
        isinstance(config, Mapping) and isinstance(config.get("layers"), list)
    )


def is_graph(model: Entry) -> bool:
    """Return True if a model lists calls; a Sequential does not."""
    return isinstance(model["config"], Mapping) and "output_layers" in model["config"]


def _inputs(model: Entry) -> list[str]:
    return [str(ref[0]) for ref in ends(model, "input_layers")] if is_graph(model) else ["first"]


class _Graph:
    """One model, called once on some tensors."""

    def __init__(self, model: Entry, given: Sequence[Rows], symbols: Symbols) -> None:
        self.model, self.symbols = model, symbols
        if len(given) != len(_inputs(model)):
            raise Meaningless("a model with another number of inputs")
        self.given = dict(zip(_inputs(model), given, strict=True))
        self.known: dict[tuple[str, int], list[Rows] | None] = {}
        self.by_name = (
            {str(e.get("name") or e["config"]["name"]): e for e in _layers(model)}
            if is_graph(model)
            else {}
        )
        self.first = self._first_calls()

    def _first_calls(self) -> dict[str, int]:
        """Layer name -> number of its first call: 1 for models up to Keras 2."""
        highest: dict[str, int] = {}
        nodes = [node for e in self.by_name.values() for node in e["inbound_nodes"]]
        refs = [ref for node in nodes for ref in refs_of(node)]
        for name, call, *_ in refs + (ends(self.model, "output_layers") if self.by_name else []):
            highest[name] = max(call, highest.get(name, 0))
        return {
            name: int(is_model(e) and highest.get(name, 0) >= len(e["inbound_nodes"]) > 0)
            for name, e in self.by_name.items()
        }

    def outputs(self) -> list[Rows]:
        if is_graph(self.model):
            return [self._tensor(ref) for ref in ends(self.model, "output_layers")]
        (rows,) = self.given.values()
        for entry in _layers(self.model):
            if entry["class_name"] != "InputLayer":
                (rows,) = self._applied(entry, [rows], None, 1)
        return [rows]

    def _tensor(self, ref: Sequence[Any]) -> Rows:
        name, call, output = ref[:3]
        if name in self.given and self.by_name.get(name, {}).get("class_name") == "InputLayer":
            if (call, output) != (0, 0):
                raise Meaningless(f"input {name} has one tensor")
            return self.given[name]
        if name not in self.by_name:
            raise Meaningless(f"no layer {name}")
        at = (name, call)
        if at not in self.known:
            self.known[at] = None
            self.known[at] = self._call(self.by_name[name], call - self.first[name], output + 1)
        made: list[Rows] | None = self.known[at]
        if made is None:
            raise Meaningless("a circle")
        if output >= len(made):
            entry = self.by_name[name]
            if is_model(entry) or entry["class_name"] in ("Split", "SplitBatch"):
                raise Meaningless(f"{name} has {len(made)} outputs")
            made = self.known[at] = self._call(entry, call - self.first[name], output + 1)
        rows: Rows = made[output]
        return rows

    def _call(self, entry: Entry, number: int, least: int) -> list[Rows]:
        nodes = entry["inbound_nodes"]
        if not 0 <= number < len(nodes):
            raise Meaningless(f"{entry['name']} is called {len(nodes)} times")
        reads = [self._tensor(ref) for ref in refs_of(nodes[number])]
        if not reads:
            raise Meaningless(f"{entry['name']} reads nothing")
        return self._applied(entry, reads, nodes[number], least)

    def _applied(self, entry: Entry, reads: list[Rows], node: Any, least: int) -> list[Rows]:
        if is_model(entry):
            return _Graph(entry, reads, self.symbols).outputs()
        kind, config = str(entry["class_name"]), entry["config"]
        if (kind, config.get("axis")) == ("Concatenate", 0) or _is_old_merge(kind, config):
            return [tuple(row for rows in reads for row in rows)]
        cut = _cut(kind, config, len(reads[0]))
        if cut is not None:
            return [tuple(reads[0][r] for r in part) for part in cut]
        if len({len(rows) for rows in reads}) > 1:
            raise Meaningless(f"{config.get('name')} reads tensors of different lengths")
        if kind == "Activation":  # has no weights: its name makes no difference
            config = {key: value for key, value in config.items() if key != "name"}
        said = json.dumps([kind, config, _said(node)], sort_keys=True, default=str)
        return [
            tuple(self.symbols.of(said, output, row) for row in zip(*reads, strict=True))
            for output in range(least)
        ]


def _is_old_merge(kind: str, config: Mapping[str, Any]) -> bool:
    return kind == "Merge" and config.get("mode") == "concat" and config.get("concat_axis") == 0


def _said(node: Any) -> Any:
    """The arguments of a call beside its tensors."""
    if isinstance(node, Mapping):
        return _without_tensors([node.get("args"), node.get("kwargs")])
    return [ref[3:] for ref in node or [] if isinstance(ref, list)]


def _without_tensors(value: Any) -> Any:
    if isinstance(value, Mapping):
        if value.get("class_name") == "__keras_tensor__":
            return None
        return {k: _without_tensors(v) for k, v in value.items() if k != "mask"}
    return [_without_tensors(v) for v in value] if isinstance(value, list) else value


def numbers_of(entry: Entry) -> tuple[Any, list[Any]] | None:
    """Return where a slice keeps its numbers: (holder, keys), index before count, or share, total, start; or None."""
    config = entry["config"]
    if not isinstance(config, Mapping):
        return None
    holder: Any = config.get("arguments") if entry["class_name"] == "Lambda" else config
    if entry["class_name"] == "Lambda" or entry["class_name"] in SLICES:
        for index, count in PARTS.items():
            if isinstance(holder, Mapping) and {index, count} <= holder.keys():
                return holder, [index, count]
        if isinstance(holder, Mapping) and {"share", "total", "start"} <= holder.keys():
            return holder, ["share", "total", "start"]
    function = config.get("function")
    for holder in function[1:] if isinstance(function, list) else ():
        if (
            isinstance(holder, list)
            and len(holder) == 2
            and all(isinstance(v, int) for v in holder)
        ):
            return holder, [0, 1]
    return None


def _cut(kind: str, config: Entry, n: int) -> list[range] | None:
    """The rows of each output of a slice; None for other layers."""
    if kind in ("SplitBatch", "Split"):
        key = "parts" if kind == "SplitBatch" else "indices_or_sections"
        if not isinstance(config[key], int) or config[key] < 1 or n % config[key]:
            raise Meaningless("parts that do not divide the batch")
        if config.get("axis", 0) != 0:
            return None
        step = n // config[key]
        return [range(k * step, (k + 1) * step) for k in range(config[key])]
    kept = numbers_of({"class_name": kind, "config": config})
    if kept is None:
        return None
    holder, keys = kept
    values = [holder[key] for key in keys]
    if not all(isinstance(v, int | float) for v in values):
        raise Meaningless("no number")
    if len(keys) == 3:
        share, total, start = values
        if total <= 0 or share <= 0 or start < 0 or start + share > total:
            raise Meaningless("shares that the batch does not have")
        return [range(int(start * n // total), int((start + share) * n // total))]
    index, count = values
    if count < 1 or index not in range(int(count)) or count != int(count):
        raise Meaningless("a part that there is not")
    return [range(int(index) * n // int(count), (int(index) + 1) * n // int(count))]
