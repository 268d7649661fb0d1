"""What one owner's weights belong to, where names are all there is."""

from __future__ import annotations

import pytest

from tests.unit.core.build import tensors
from unnest.core.assign.flat_layers import layers_of
from unnest.core.assign.shares import Ambiguous


def layers(names: dict[str, list[str]], *, is_standalone: bool = True) -> dict[str, list[str]]:
    """The names of weights by layer, out of those by owner."""
    found = {owner: tuple(tensors(*own)) for owner, own in names.items()}
    return {name: [t.name for t in own] for name, own in layers_of(found, is_standalone=is_standalone).items()}


@pytest.mark.parametrize("is_standalone", [True, False])
@pytest.mark.parametrize(
    "names",
    [
        {"dense": ["dense/kernel:0", "dense/bias:0"]},
        {"mha": ["mha/query/kernel:0", "mha/key/kernel:0", "mha/attention_output/kernel:0"]},
        {"two": ["two/forward_lstm_1/kernel:0", "two/backward_lstm_1/kernel:0"]},
    ],
    ids=["plain", "attention", "bidirectional"],
)
def test_parts_of_keras_stay_together(names: dict[str, list[str]], is_standalone: bool) -> None:
    assert layers(names, is_standalone=is_standalone) == names


def test_layers_whose_names_hold_a_slash() -> None:
    """Of Keras of its own; TensorFlow's may be the parts of one layer."""
    names = {"conv1": ["conv1/conv/kernel:0", "conv1/bn/gamma:0", "conv1/bn/beta:0"]}
    assert layers(names) == {"conv1/conv": ["conv1/conv/kernel:0"], "conv1/bn": ["conv1/bn/gamma:0", "conv1/bn/beta:0"]}
    with pytest.raises(Ambiguous, match="conv1/conv, conv1/bn are layers, or parts of one that is called conv1"):
        layers(names, is_standalone=False)


def test_a_bidirectional_layer_of_keras_1() -> None:
    sides = {"forward_lstm_1": ["forward_lstm_1_W:0"], "backward_lstm_1": ["backward_lstm_1_W:0"]}
    assert layers(sides) == {"bidirectional_1": ["forward_lstm_1_W:0", "backward_lstm_1_W:0"]}
    with pytest.raises(Ambiguous, match="are two layers, or one Bidirectional"):
        layers({"forward_mine": ["forward_mine_W:0"], "backward_mine": ["backward_mine_W:0"]})
