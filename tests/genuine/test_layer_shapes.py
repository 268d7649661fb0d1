"""Every shape that recognition works out is the one that the model's own stack predicted."""

from __future__ import annotations

import io
import json
from pathlib import Path

import h5py
import numpy as np
import pytest

from tests.layer_cases import LayerCase, cases, members, stacks, unpacked
from unnest.core.architecture import read
from unnest.core.model import Shape
from unnest.core.wrappers.layer_graph.layer_tensor_graph import LayerTensors

#: Of the outputs of models of one layer, those whose shape is known: the others hold recurrent layers that are called
#: with states, layers that hold others, or operations.
LEAST_KNOWN = 0.65


def shapes(case: LayerCase) -> list[tuple[Shape | None, Shape]]:
    """The shape of each output by the graph alone, and that of what the stack predicted for it."""
    archive = unpacked(case.pack)
    (path,) = (name for name in members(case.pack)[case.name] if Path(name).stem == "model")
    with h5py.File(io.BytesIO(archive.read(path))) as file:
        graph = read(json.loads(file.attrs["model_config"]))
    predicted = np.load(io.BytesIO(archive.read(f"{case.name}/io.npz")))
    outputs = [predicted[key].shape for key in predicted.files if key.startswith("y")]
    tensors = LayerTensors(graph)
    return [(tensors.shape(ref), shape) for ref, shape in zip(graph.outputs, outputs, strict=True)]


@pytest.mark.parametrize("stack", stacks())
def test_shapes_of_single_layers(stack: str) -> None:
    """An axis of unknown size is None; a shape without a known number of axes is no answer."""
    answers = [(case.name, *both) for case in cases(stack) if case.has_io for both in shapes(case)]
    known = [(name, shape, predicted) for name, shape, predicted in answers if shape is not None]
    assert [
        (name, shape, predicted)
        for name, shape, predicted in known
        if len(shape) != len(predicted)
        or any(a not in (None, b) for a, b in zip(shape[1:], predicted[1:], strict=True))
    ] == []
    assert len(known) >= LEAST_KNOWN * len(answers)
