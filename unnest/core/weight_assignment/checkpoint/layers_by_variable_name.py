"""Find the layer, or the optimizer's slot, that a checkpoint's variable is named after.

A variable has its layer's name as a scope around its own (`conv/kernel`, `person/conv/kernel`), or in front of it
(`conv_W`, Keras 1); the name of a layer in a layer's config occurs too (`bi/forward_lstm/kernel`). A variable whose
name begins with another one's whole name is that one's satellite: a slot, a debiased mean. (Source: files of Keras 1.2
to 2.3 and tf.keras 1.8 to 2.15.)
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from typing import NamedTuple

from unnest.core.architecture import is_input
from unnest.core.architecture.graph import Layer
from unnest.core.keras_facts.optimizer_classes import COUNTER_NAMES, WEIGHT_BY_WEIGHT, slot_order
from unnest.core.model import Group, Tensor
from unnest.core.weight_assignment.weight_order_within_layer import (
    NamedWeight,
    Variable,
    layers_with_weights,
)

NAME_AND_NUMBER = re.compile(r"(.+)_(\d{1,9})")
#: Most scopes of a variable's name; longer names match no layer.
MAX_SCOPES = 40


class Bearing(NamedTuple):
    """A variable that bears a layer's name: `family` is the path up to that name, `named_weight` which weight it is."""

    layer: str
    family: str
    named_weight: NamedWeight


class Bearers:
    """The layers' names, and those that layers in their configs lend them."""

    def __init__(self, leaves: Sequence[Layer]) -> None:
        self._layer_names = {layer.name for layer in leaves if not is_input(layer.stored)}
        self._layer_of_inner_name: dict[str, str] = {}
        self._inner_names: dict[str, set[str]] = {}
        for layer in leaves:
            names = {
                name for _, name, _ in layers_with_weights(layer) if name and name != layer.name
            }
            self._inner_names[layer.name] = names
            for name in names - self._layer_names:
                self._layer_of_inner_name.setdefault(name, layer.name)

    def find(self, variable: Variable) -> Bearing | None:
        """Return the layer that a variable is named after, or None."""
        parts = variable.name.split("/")
        if len(parts) > MAX_SCOPES:
            return None
        ways = (self._by_scope, self._by_beginning, self._by_lent_scope, self._by_numbered_scope)
        return next((bearing for way in ways if (bearing := way(variable, parts))), None)

    def _by_scope(self, variable: Variable, parts: Sequence[str]) -> Bearing | None:
        """Match a variable's name `conv/kernel` by its scope."""
        span = self._scoped(parts, self._layer_names)
        if span is None:
            return None
        start, stop = span
        layer = "/".join(parts[start:stop])
        return self._bearing(
            variable, layer, "/".join(parts[:stop]), tuple(parts[stop:-1]), parts[-1]
        )

    def _by_beginning(self, variable: Variable, parts: Sequence[str]) -> Bearing | None:
        """Return the layer whose name, or whose inner layer's name, a variable begins with: `conv` of `conv_W`."""
        *scope, last = parts
        # The longest first.
        beginnings = [last[:index] for index in range(len(last) - 1, 0, -1) if last[index] == "_"]
        name = next((each for names in (self._layer_names, self._layer_of_inner_name)
                     for each in beginnings if each in names), None)  # fmt: skip
        if name is None:
            return None
        is_own = name in self._layer_names
        layer, rest = (
            name if is_own else self._layer_of_inner_name[name],
            last.removeprefix(name + "_"),
        )
        match = NAME_AND_NUMBER.fullmatch(rest)
        family = "/".join((*scope, layer)) + (f"_{match[2]}" if match else "")
        return self._bearing(
            variable,
            layer,
            family,
            () if is_own else (name,),
            match[1] if match else rest,
            numbered=False,
        )

    def _by_lent_scope(self, variable: Variable, parts: Sequence[str]) -> Bearing | None:
        """Return the layer for `forward_lstm/kernel`, the scope of a layer in its config."""
        span = self._scoped(parts, self._layer_of_inner_name)
        if span is None:
            return None
        start, stop = span
        layer = self._layer_of_inner_name["/".join(parts[start:stop])]
        return self._bearing(
            variable, layer, "/".join(parts[:start]), tuple(parts[start:-1]), parts[-1]
        )

    def _by_numbered_scope(self, variable: Variable, parts: Sequence[str]) -> Bearing | None:
        """Return the layer for `conv_1/kernel`, the scope that TensorFlow numbers if `conv` is taken."""
        *scope, last = parts
        for index in range(len(scope) - 1, -1, -1):
            match = NAME_AND_NUMBER.fullmatch(scope[index])
            if match and match[1] in self._layer_names:
                return self._bearing(
                    variable,
                    match[1],
                    "/".join(parts[: index + 1]),
                    tuple(scope[index + 1 :]),
                    last,
                )
        return None

    def _scoped(self, parts: Sequence[str], names: Container[str]) -> tuple[int, int] | None:
        """Return the span of scopes that is one of these names: longest, innermost, not one within another's."""
        spans = [
            (start, start + length)
            for length in range(len(parts) - 1, 0, -1)
            for start in range(len(parts) - 1 - length, -1, -1)
            if "/".join(parts[start : start + length]) in names
        ]
        for start, stop in spans:
            name = "/".join(parts[start:stop])
            names_before = ("/".join(parts[a:b]) for a, b in spans if b <= start)
            if not any(name in self._inner_names.get(outer, ()) for outer in names_before):
                return start, stop
        return None

    @staticmethod
    def _bearing(
        variable: Variable,
        layer_name: str,
        family: str,
        inner: tuple[str, ...],
        weight: str,
        *,
        numbered: bool = True,
    ) -> Bearing:
        match = NAME_AND_NUMBER.fullmatch(weight) if numbered else None
        named_weight = NamedWeight(
            variable, inner, match[1] if match else weight, int(match[2]) if match else 0
        )
        return Bearing(layer_name, family, named_weight)


def is_satellite(name: str, names: Container[str]) -> bool:
    """Return True if a name continues another variable's whole name."""
    parts = name.split("/")
    if len(parts) > MAX_SCOPES:
        return False
    return any(
        "/".join(parts[start:stop]) in names
        for stop in range(1, len(parts))
        for start in range(stop)
    )


def without_numbers(name: str) -> str:
    """Return a name without the number behind it: `kernel` of `kernel_1`."""
    while match := NAME_AND_NUMBER.fullmatch(name):
        name = match[1]
    return name


def optimizer_state(
    variables: Iterable[Variable], groups: Iterable[Group]
) -> tuple[Tensor, ...] | None:
    """Return an optimizer's state of tf.keras in the order of Keras's .h5; None if names do not show it.

    Its slots are named after the optimizer, the weight, and their kind: `training/Adam/conv/kernel/m`.
    """
    stored = {v.name: v.tensor for v in variables if v.tensor is not None}
    weight_number = {
        t.name.removesuffix(":0"): k for k, t in enumerate(t for g in groups for t in g.tensors)
    }
    slots: dict[str, dict[tuple[int, str], Tensor]] = {}
    for name, tensor in stored.items():
        path, _, kind = name.rpartition("/")
        parts = path.split("/")[:MAX_SCOPES]
        position = next(
            (k for k in range(1, len(parts)) if "/".join(parts[k:]) in weight_number), None
        )
        if position is not None:
            slots.setdefault("/".join(parts[:position]), {})[
                weight_number["/".join(parts[position:])], kind
            ] = tensor
    if len(slots) != 1:
        return None
    ((optimizer, tensor_by_slot),) = slots.items()
    kinds = slot_order({kind for _, kind in tensor_by_slot})
    weight_ranks = sorted({weight for weight, _ in tensor_by_slot})
    if kinds is None or len(tensor_by_slot) != len(weight_ranks) * len(kinds):
        return None
    pairs = [(weight, kind) for weight in weight_ranks for kind in kinds]
    if kinds not in WEIGHT_BY_WEIGHT:
        pairs = [(weight, kind) for kind in kinds for weight in weight_ranks]
    counts = [stored[f"{optimizer}/{n}"] for n in COUNTER_NAMES if f"{optimizer}/{n}" in stored]
    return (*counts, *(tensor_by_slot[pair] for pair in pairs))
