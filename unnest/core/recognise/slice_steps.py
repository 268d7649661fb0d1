"""What slices made of operations say by themselves of axis 0, before anything is computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum

from unnest.core.architecture.graph import Call, Layer
from unnest.core.recognise import layer_facts
from unnest.core.recognise.operations import operation
from unnest.core.recognise.slice_claims import Slice


class Step(Enum):
    """What one step from a source to the towers does with axis 0."""

    CUTS = "cuts it in consecutive parts"
    INDEXES = "takes it apart: every tower gets one entry, and the axis is gone"
    CANNOT = "cuts another axis, or nothing at all"
    UNKNOWN = "does not say"


def step(slices: Sequence[Slice]) -> Step:
    """What an operation per tower, or one operation with an output per tower, does with the batch."""
    if any(layer_facts.keeps_rows(s.layer) for s in slices if operation(s.layer, s.call) is None):
        return Step.CANNOT
    if len({s.layer.name for s in slices}) == 1 and len(slices) > 1:
        return _split(slices[0].layer, slices[0].call, [s.output for s in slices])
    answers = {_cut(s.layer, s.call) for s in slices}
    for answer in (Step.CANNOT, Step.UNKNOWN):
        if answer in answers:
            return answer
    return answers.pop() if len(answers) == 1 else Step.CANNOT


def _split(layer: Layer, call: Call, parts: Sequence[int]) -> Step:
    """One operation gives every tower its part."""
    known = operation(layer, call)
    axes = list(known.find("axis")) if known else []
    if known is None or any(axis not in (0, None) for axis in axes):
        return Step.CANNOT
    if "unstack" in known.name:
        return Step.INDEXES
    return Step.CUTS if list(parts) == list(range(len(parts))) and axes else Step.UNKNOWN


def _cut(layer: Layer, call: Call) -> Step:
    """One operation gives one tower its part."""
    known = operation(layer, call)
    if known is None:
        return Step.UNKNOWN
    for spec in (*known.find("slice_spec"), *known.find("__slice__")):
        first = spec[0] if isinstance(spec, list) and spec else spec
        if isinstance(first, int):
            return Step.INDEXES
        if isinstance(first, Mapping):
            open_ended = first.get("start") is None and first.get("stop") is None
            return Step.CANNOT if open_ended and first.get("step") in (None, 1) else Step.CUTS
        return Step.UNKNOWN
    return Step.CANNOT if layer_facts.moves(known.name) else Step.UNKNOWN
