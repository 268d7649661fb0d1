"""In which order Keras saves the state of an optimizer whose slots are stored by name: facts of Keras 2.0 to 2.10."""

from __future__ import annotations

from collections.abc import Collection

#: What an optimizer saves beside the slots; its other variables are settings.
COUNTS = ("iter", "momentum_cache")
#: The slots of the optimizers that have several: all of a kind, then all of the next, each in the weights' order ...
SLOT_BY_SLOT = frozenset({("m", "v"), ("m", "v", "vhat"), ("rms", "momentum"), ("rms", "mg"), ("rms", "momentum", "mg"),
                          ("accum_grad", "accum_var")})  # fmt: skip
#: ... or all of a weight.
WEIGHT_BY_WEIGHT = frozenset({("accumulator", "linear")})


def slot_order(kinds: Collection[str]) -> tuple[str, ...] | None:
    """The kinds of an optimizer's slots in the order in which it makes them; None for an optimizer not known."""
    if len(kinds) < 2:  # noqa: PLR2004 - one has any order
        return tuple(kinds)
    return next((known for known in SLOT_BY_SLOT | WEIGHT_BY_WEIGHT if set(known) == set(kinds)), None)
