"""An operation of Keras 3, stored as a layer, as the call of an operation.

Its arguments stand in the config of its class, and in the call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from unnest.core.json_tree import is_list
from unnest.core.model import Json
from unnest.core.ops.call import OpCall, Value, plain_name
from unnest.core.ops.registry import OPERATIONS


def keras3_call(
    class_name: str,
    args: Sequence[Value],
    config: Mapping[str, Value],
    kwargs: Mapping[str, Value] | None = None,
) -> OpCall:
    """Return the call of an operation by its class.

    An operation called `k3...` is a class whose arguments are not those of TensorFlow's function of that name.
    """
    name = plain_name(class_name)
    own = f"k3{name}"
    return OpCall(own if own in OPERATIONS else name, args, {**config, **(kwargs or {})})


def plain_argument(stored: Json) -> Value:
    """Return a constant of Keras 3's JSON as Python has it: a slice, dots, nested lists for an array or a tuple."""
    if isinstance(stored, Mapping):
        kind, config = stored.get("class_name"), stored.get("config")
        if kind == "__ellipsis__":
            return ...
        if kind == "__slice__" and isinstance(config, Mapping):
            return slice(*(config.get(end) for end in ("start", "stop", "step")))
        return (
            config.get("value")
            if kind in ("__numpy__", "__tensor__") and isinstance(config, Mapping)
            else stored
        )
    if is_list(stored):
        return [plain_argument(each) for each in stored]
    return stored
