"""Weights without a graph: what the names and order of layer groups tell of a wrapper.

The layers of a parallel model are stored inputs first, then slices, the template, merges: n + n*k + 1 + m
of them for n inputs, k towers and m outputs, and only the template has weights. Without an
architecture that order is the structure, and names may decide between readings.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from unnest.core.model import Group, Tensor
from unnest.core.weight_assignment.flat_list.owners_by_weight_name import (
    weights_by_layer,
    weights_by_owner,
)
from unnest.core.weight_assignment.layer_weights_record import Ambiguous


class WrapperByNames(NamedTuple):
    """A wrapper seen in layer names alone; `head` are the layers with weights that follow it."""

    template: str
    inputs: int
    towers: int | None
    merge: tuple[str, ...]
    tensors: tuple[Tensor, ...]
    head: tuple[Group, ...]
    evidence: tuple[str, ...]

    @property
    def has_own_merge_names(self) -> bool:
        """Return True if a merge is called after no layer with weights of the template: a layer of any model may be."""
        own = _owner_names(self.tensors)
        return any(name not in own and _stem(name) not in own for name in self.merge)


SLICE_WORDS = ("lambda", "slice", "split", "getitem")
INDEXING_WORDS = ("getitem", "strided_slice")
"""How TensorFlow calls `x[...]`."""

OP_LAYER = "tf."
"""How TensorFlow 2.4 and later begin the names of layers made from operations."""

ALL_EVIDENCE = 3
"""Names of slices, names of merges, and a template with several layers' weights."""

MERGE_WORDS = ("concat", "merge")

COMBINING_NAMES = frozenset(
    {"dot", "add", "average", "maximum", "minimum", "multiply", "subtract", "lambda"}
)
"""What Keras calls the layers, numbers aside, that compare or combine outputs as often as a Lambda joins them."""


def find(groups: Sequence[Group]) -> WrapperByNames | None:
    """The wrapper that these layer groups belong to; None if they do not show one."""
    at = next((index for index, group in enumerate(groups) if group.tensors), None)
    if at is None:
        return None
    template, before, after = groups[at], groups[:at], groups[at + 1 :]
    head = next((index for index, group in enumerate(after) if group.tensors), len(after))
    slices = _slices([group.name for group in before])
    if slices is None or not after[:head]:
        return None
    if any(_stem(group.name) in COMBINING_NAMES for group in after[:head]):
        return None  # pairs, triplets and bags end so
    inputs, towers = slices
    cut = before[inputs].name
    merge, evidence = _evidence(template, cut, [group.name for group in after[:head]])
    under_a_head = head < len(after)
    if towers == 1 or not evidence or (under_a_head and len(evidence) < ALL_EVIDENCE):
        return None
    number = len(before) - inputs
    counted = (
        f"the file lists {_count(inputs, 'input layer')}, {_count(number, 'slice layer')} like {cut}, "
        f"{template.name}, {_count(len(merge), 'merge layer')}"
    )
    return WrapperByNames(
        template.name,
        inputs,
        towers,
        merge,
        template.tensors,
        tuple(group for group in after if group.tensors),
        (counted, *evidence),
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _stem(name: str) -> str:
    """Return a name without the number at its end; numbers in its middle (`In0_Dev1`) are replaced by one sign."""
    stem, _, number = name.rpartition("_")
    return re.sub(r"\d+", "0", stem if stem and number.isdigit() else name)


def is_doubtful(groups: Sequence[Group]) -> bool:
    """True if weights that show no wrapper may be a parallel model's all the same: one layer holds those of others.

    These are several layers, or one of another name, in a place that an input and a slice precede and a merge follows.
    """
    weighted = [index for index, group in enumerate(groups) if group.tensors]
    if len(weighted) != 1:
        return False
    at, template = weighted[0], groups[weighted[0]]
    by_owner = weights_by_owner(template.tensors)
    own = {
        t.name.rpartition("/")[0] or owner for owner, tensors in by_owner.items() for t in tensors
    }
    return len(by_owner) > 1 or (own != {template.name} and at > 1 and at + 1 < len(groups))


def _slices(names: Sequence[str]) -> tuple[int, int | None] | None:
    """Return how many inputs there are, and into how many slices each is cut, by the last names; None if unclear.

    Slicing operators leave a layer for every step of their arithmetic; then the number is not known.
    """
    if not names:
        return None
    plain = [name for name in names if not name.startswith(OP_LAYER)]
    operations = names[len(plain) :]
    if any(word in name for name in operations for word in SLICE_WORDS):
        # Parts of a batch need its size. Indexing alone takes the frames of a video, crops, or every k-th row.
        is_indexing = all(any(word in name for word in INDEXING_WORDS) for name in operations)
        return None if is_indexing else (len(plain), None)
    stem = _stem(names[-1])
    first = len(names)
    while first and _stem(names[first - 1]) == stem:
        first -= 1
    if not first or (len(names) - first) % first:
        return None
    return first, (len(names) - first) // first


def _evidence(
    template: Group, cut: str, after: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the merge layers among those after the template, and the evidence for a wrapper."""
    found = []
    own = _owner_names(template.tensors)
    if any(word in cut.lower() for word in SLICE_WORDS):
        found.append(f"{cut} is named like a slice layer")
    merge = tuple(name for name in after if name in own or _stem(name) in own)
    if merge:
        found.append(f"{merge[0]} bears the name of a layer in {template.name}")
    else:
        merge = tuple(name for name in after if any(word in name.lower() for word in MERGE_WORDS))
        if merge:
            found.append(f"{merge[0]} is named like a merge layer")
    if len(weights_by_owner(template.tensors)) > 1:
        found.append(f"{template.name} holds weights of several layers")
    return merge or tuple(after), tuple(found) if len(found) > 1 else ()


def _owner_names(tensors: Sequence[Tensor]) -> set[str]:
    """Return the parts of weight names, among them the names of the owning layers."""
    return {part for tensor in tensors for part in tensor.name.split("/")}


def groups_of(bare: WrapperByNames, *, is_standalone: bool) -> tuple[Group, ...]:
    """Return the weights as a flat model stores them: a group per layer, then those of the head.

    `is_standalone`: whether the Keras that wrote them is not TensorFlow's. Raises Ambiguous where two weights, or two
    layers, would bear one name, where the names fit different layers, and where one has no layer's name in it, as those
    of tf.keras's Normalization (`mean:0`).
    """
    by_owner = weights_by_owner(bare.tensors)
    ownerless = next(
        (t.name for owner, own in by_owner.items() for t in own if t.name == owner), None
    )
    if ownerless is not None:
        raise Ambiguous(f"{ownerless!r} of {bare.template} does not say which layer's weight it is")
    found = weights_by_layer(
        _without_clone_number(by_owner, bare.merge), is_standalone=is_standalone
    )
    names = [t.name for own in found.values() for t in own]
    clash = len(set(names)) < len(names) or any(group.name in found for group in bare.head)
    if clash or "" in found:
        raise Ambiguous(f"the weight names of {bare.template} are not those of a flat model")
    return (*(Group(owner, own) for owner, own in found.items()), *bare.head)


def unstored_names(groups: Sequence[Group]) -> list[str]:
    """Return the layers that no name of their weights contains: renamed since, or stored under another name."""
    return [
        group.name
        for group in groups
        if not any(group.name in tensor.name for tensor in group.tensors)
    ]


def _without_clone_number(
    found: Mapping[str, tuple[Tensor, ...]], merge: Sequence[str]
) -> Mapping[str, tuple[Tensor, ...]]:
    """Return owner -> weights with the names of the template's layers, where its weights are named for a clone's.

    All owners of a clone end in one number (`dense_1`, `score_1`); a merge layer (`score`) shows the name without it.
    """
    ends = {owner.rpartition("_")[2] for owner in found}
    if len(ends) > 1:
        return found
    number = "_" + "".join(ends)
    is_clone = number[1:].isdigit() and any(name + number in found for name in merge)
    return {owner.removesuffix(number): own for owner, own in found.items()} if is_clone else found
