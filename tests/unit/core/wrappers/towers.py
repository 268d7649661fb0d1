"""Small layer graphs with towers in them, written as Keras 2 and Keras 3 store them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

Entry: TypeAlias = "dict[str, Any]"
Told: TypeAlias = Mapping[str, Any]
"""The arguments of one slice, by name."""

CODE = "not code"


def arguments(name: str, told: Told) -> Entry:
    """A Lambda with arguments."""
    return {
        "class_name": "Lambda",
        "config": {"name": name, "function": [CODE, None, None], "arguments": dict(told)},
    }


def defaults(name: str, told: Told) -> Entry:
    """A Lambda whose function has defaults."""
    return {
        "class_name": "Lambda",
        "config": {"name": name, "function": [CODE, [*told.values()], None]},
    }


def cells(name: str, told: Told) -> Entry:
    """A Lambda that captures its numbers."""
    return {
        "class_name": "Lambda",
        "config": {"name": name, "function": [CODE, None, [*told.values()]]},
    }


def keras_3_cells(name: str, told: Told) -> Entry:
    """The same, as Keras 3 stores a function."""
    function = {
        "class_name": "__lambda__",
        "config": {"code": CODE, "defaults": None, "closure": [*told.values()]},
    }
    return {"class_name": "Lambda", "config": {"name": name, "function": function, "arguments": {}}}


def keras_3_arguments(name: str, told: Told) -> Entry:
    """A Lambda of a function by name, as Keras 3 stores it."""
    function = {
        "module": "builtins",
        "class_name": "function",
        "config": "part",
        "registered_name": "function",
    }
    return {
        "class_name": "Lambda",
        "config": {"name": name, "function": function, "arguments": dict(told)},
    }


def config(name: str, told: Told) -> Entry:
    """A custom layer."""
    return {"class_name": "Rows", "config": {"name": name, "trainable": True, **told}}


def call(name: str, told: Told) -> Entry:
    """A custom layer with its numbers in the call."""
    return {"class_name": "Rows", "config": {"name": name, "trainable": True}, "call": dict(told)}


STORED: Mapping[str, Callable[[str, Told], Entry]] = {
    "arguments": arguments, "defaults": defaults, "cells": cells, "config": config, "call": call,
    "keras 3 cells": keras_3_cells, "keras 3 arguments": keras_3_arguments,
}  # fmt: skip
"""The places in which the stacks keep the arguments of a slice."""


def model(
    lanes: Sequence[Sequence[Entry]], merge: Entry | None = None, batch: int | None = None
) -> Entry:
    """A parallel model: `lanes` are the slices of each input, tower by tower, without their calls."""
    inputs = [f"x{j}" for j in range(len(lanes))]
    layers = [_input(name, batch) for name in inputs]
    for source, lane in zip(inputs, lanes, strict=True):
        layers += [_called(entry, source) for entry in lane]
    towers = len(lanes[0])
    nodes = [[[lane[t]["config"]["name"], 0, 0, {}] for lane in lanes] for t in range(towers)]
    layers.append({**_template(len(inputs)), "name": "net", "inbound_nodes": nodes})
    merge = merge or {
        "class_name": "Concatenate",
        "config": {"name": "merge", "trainable": True, "axis": 0},
    }
    joined = [["net", 1 + t, 0, {}] for t in range(towers)]
    layers.append({**merge, "name": "merge", "inbound_nodes": [joined]})
    ends = {"input_layers": [[n, 0, 0] for n in inputs], "output_layers": [["merge", 0, 0]]}
    return {"class_name": "Model", "config": {"name": "parallel", "layers": layers, **ends}}


def _input(name: str, batch: int | None) -> Entry:
    settings = {"name": name, "batch_input_shape": [batch, 3], "dtype": "float32", "sparse": False}
    return {"class_name": "InputLayer", "name": name, "config": settings, "inbound_nodes": []}


def _called(entry: Entry, source: str) -> Entry:
    told = entry.get("call", {})
    rest = {k: v for k, v in entry.items() if k != "call"}
    return {**rest, "name": entry["config"]["name"], "inbound_nodes": [[[source, 0, 0, told]]]}


def _template(inputs: int) -> Entry:
    own = [_input(f"t{j}", None) for j in range(inputs)]
    reads = [[f"t{j}", 0, 0, {}] for j in range(inputs)]
    add = {
        "class_name": "Rows2",
        "name": "f",
        "config": {"name": "f", "trainable": True},
        "inbound_nodes": [reads],
    }
    ends = {
        "input_layers": [[f"t{j}", 0, 0] for j in range(inputs)],
        "output_layers": [["f", 0, 0]],
    }
    return {"class_name": "Model", "config": {"name": "net", "layers": [*own, add], **ends}}
