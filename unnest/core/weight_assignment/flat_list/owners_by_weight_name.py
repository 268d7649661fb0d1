"""The owners and layers of a flat list of weights where names are all there is.

A name may hold an owner, its parts, and the weight's own name: `mha/query/kernel:0`. The parts are layers in a layer,
or they belong to the layer's name: `conv1/bn/gamma:0` is the weight of a layer `conv1/bn` in DenseNet.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from unnest.core.keras_facts.stored_class_names import automatic_stems
from unnest.core.model import Tensor
from unnest.core.weight_assignment.layer_weights_record import Ambiguous

Layers: TypeAlias = "Mapping[str, tuple[Tensor, ...]]"


def weights_by_layer(found: Layers, *, is_standalone: bool) -> Layers:
    """Return the weights by layer, from those by owner (`weights_by_owner`).

    `is_standalone`: they were written by a Keras outside TensorFlow, in which a custom layer may hold layers that it
    names.

    Raises:
        Ambiguous: the names fit different layers.

    """
    return _with_bidirectional(_apart(found, is_standalone=is_standalone))


def _apart(found: Layers, *, is_standalone: bool) -> Layers:
    """Divide owners into layers; standalone ones may have a `/` in their names. Raises Ambiguous."""
    apart: dict[str, tuple[Tensor, ...]] = {}
    for owner, own in found.items():
        parts = {tensor: _parts(owner, tensor) for tensor in own}
        # Attention, say, or a model that is built when called.
        is_one = all(map(_is_keras_part, parts.values()))
        if is_one or _is_bidirectional(parts):
            apart[owner] = own
        elif is_standalone:
            for tensor in own:
                layer = "/".join((owner, *parts[tensor]))
                apart[layer] = (*apart.get(layer, ()), tensor)
        elif len(set(parts.values())) > 1:
            names = ", ".join(
                "/".join((owner, *inner)) for inner in list(dict.fromkeys(parts.values()))[:3]
            )
            raise Ambiguous(f"{names} are layers, or parts of one that is called {owner}")
        else:
            apart[owner] = own
    return apart


def _parts(owner: str, tensor: Tensor) -> tuple[str, ...]:
    """Return the parts of a weight's name between its owner and its own name."""
    parts = tensor.name.split("/")
    return tuple(parts[parts.index(owner) + 1 : -1]) if owner in parts else ()


def _is_bidirectional(parts: Mapping[Tensor, tuple[str, ...]]) -> bool:
    """Return True for the two layers of a Bidirectional, under any name: both recurrent, one in each direction."""
    if not all(parts.values()):
        return False
    ways = [inner[0].partition("_") for inner in parts.values()]
    recurrent = {parts[tensor][0] for tensor in parts if "/recurrent_kernel" in tensor.name}
    is_one_layer = len({name for _, _, name in ways}) == 1
    return (
        is_one_layer
        and {way for way, _, _ in ways} == set(OTHER_SIDE)
        and len(recurrent) == len(OTHER_SIDE)
    )


def _is_keras_part(parts: Sequence[str]) -> bool:
    """Return True if Keras itself gives such names to parts of its layers, or to layers without a name."""
    bare = [re.sub(r"^(forward|backward)_|_\d+$", "", part) for part in parts]
    return all(
        part in SUBLAYER_NAMES or part.endswith("cell") or part in automatic_stems()
        for part in bare
    )


SUBLAYER_NAMES = frozenset({"attention_output", "key", "query", "stacked_rnn_cells", "value"})
"""(Source: the weights of Keras's own layers in files of Keras 2.0 to 2.3 and tf.keras 1.13 to 2.15.)"""


def _with_bidirectional(found: Layers) -> Layers:
    """Merge the two owners of each Keras 1 Bidirectional, whose weights bear the names of the layers in it.

    Its own name is stored nowhere; they get those that Keras gives to the first ones of a process. Raises Ambiguous
    where two layers of a model may have been called so.
    """
    together: dict[str, tuple[Tensor, ...]] = {}
    number = 0
    for owner, own in found.items():
        side, _, inner = owner.partition("_")
        twin = found.get(f"{OTHER_SIDE.get(side)}_{inner}", ())
        if "/" in own[0].name or [t.shape for t in twin] != [t.shape for t in own]:
            together[owner] = own
        elif not RECURRENT_OF_KERAS_1.fullmatch(inner):
            raise Ambiguous(
                f"forward_{inner} and backward_{inner} are two layers, or one Bidirectional"
            )
        elif side == "forward":
            number += 1
            together[f"bidirectional_{number}"] = (*own, *twin)
    return together


OTHER_SIDE = {"forward": "backward", "backward": "forward"}
RECURRENT_OF_KERAS_1 = re.compile(r"(lstm|gru|simplernn)_\d+")
"""Keras 1's names of the layers in a Bidirectional, if they were given none."""


#: A weight's name in Keras 1: its layer's, and behind it the weight's own, which may hold an underscore itself.
#: (Source: the layers of Keras 1.2.2.)
KERAS_1_WEIGHT_NAME = (
    r"(.+?)_(?:(?:[WUb]_(?:[icfozrh]|carry)|[at]_(?:left|right)|(?:depth|point)wise_kernel|running_(?:mean|std))(?::\d+)?"
    r"|[^_]*)"
)


def weights_by_owner(tensors: Iterable[Tensor]) -> dict[str, tuple[Tensor, ...]]:
    """Owner that the weight names bear -> its tensors, in order of first appearance.

    The owner is what stands before the first `/` (`dense_1` of `dense_1/kernel:0`) after a scope that
    all share; in Keras 1's spelling what stands before the weight's own name (`lstm_1` of `lstm_1_W_i`).
    """
    tensors = list(tensors)
    parts = [t.name.split("/") for t in tensors]
    while all(p[0] == parts[0][0] and p[2:] for p in parts) and len({p[1] for p in parts}) > 1:
        parts = [p[1:] for p in parts]
    found: dict[str, list[Tensor]] = {}
    for tensor, (owner, *rest) in zip(tensors, parts, strict=True):
        of_keras_1 = None if rest else re.fullmatch(KERAS_1_WEIGHT_NAME, owner)
        found.setdefault(of_keras_1[1] if of_keras_1 else owner, []).append(tensor)
    for longer in [o for o in found if _belongs_to_shorter(o, found)]:
        found[_belongs_to_shorter(longer, found) or longer] += found.pop(longer)
    return {owner: tuple(own) for owner, own in found.items()}


def _belongs_to_shorter(owner: str, found: Mapping[str, Sequence[Tensor]]) -> str | None:
    """Return the other owner of the weights of `owner`, which has a shorter name; None if there is no other.

    Keras 1 writes `bn_1_gamma` and `bn_1_running_mean`: the second looks as if its owner were `bn_1_running`. All are
    of `bn_1` if they have one shape.
    """
    for at in (at for at, letter in enumerate(owner) if letter == "_"):
        other, rest = owner[:at], owner[at + 1 :]
        own = found.get(other)
        if own and not rest.isdigit() and "/" not in own[0].name:
            shapes = {t.shape for t in (*own, *found[owner])}
            if len(shapes) == 1:
                return other
    return None
