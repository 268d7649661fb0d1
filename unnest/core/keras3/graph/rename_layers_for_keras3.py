"""Names in Keras 3 for the layers of an older model, and for the operations that stand in their place.

Keras 3 refuses slashes, and names that its own operations on masks take.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from unnest.core.architecture.graph import Layer
from unnest.core.keras3.conversion_context import Context

#: What Keras 3 calls the operations that it puts into a graph to compute masks: no layer may be called so.
MASK_OPERATION_NAMES = (
    r"(concatenate|any|all|expand_dims|not_equal|equal"
    r"|logical_(and|or)|ones_like|broadcast_to|cast|where)(_\d+)?"
)


def keras_3_names(layers: Mapping[str, Layer], context: Context) -> dict[str, str]:
    """Layer -> its name in Keras 3, which refuses slashes and the names of its own operations."""

    def is_masking(name: str) -> bool:
        return context.masks and re.fullmatch(MASK_OPERATION_NAMES, name) is not None

    taken = {name: "/" in name or is_masking(name) for name in layers}
    names: dict[str, str] = {name: name for name in layers if not taken[name]}
    for name in layers:
        if taken[name]:
            stem = name.replace("/", "_") if "/" in name else f"{name}_layer"
            new, number = stem, 0
            while new in names.values() or is_masking(new):
                number += 1
                new = f"{stem}_{number}"
            names[name] = new
            context.note("layer-name", name)
    return names


def operation_name(stem: str, class_name: str) -> str:
    """Return the name of an operation that stands for a part of the layer `stem`: the class in snake case behind it."""
    kind = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", class_name).lower()
    return f"{stem}_{kind}"
