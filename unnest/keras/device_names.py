"""Names of devices: what a caller may write, what exists here, and who stands in for what does not."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np
import tensorflow as tf

_NAME = re.compile(r"/?(?:.*/)?(?:device:)?(?P<kind>[a-z_]+):(?P<index>\d+)", re.IGNORECASE)


def available() -> list[str]:
    """Return the logical devices of this process, GPUs first, as `GPU:0`. Asking initialises TensorFlow."""
    names = [canonical(d.name) for d in tf.config.list_logical_devices()]
    return sorted(
        names,
        key=lambda name: (not name.startswith("GPU"), name.split(":")[0], int(name.split(":")[1])),
    )


def canonical(name: str) -> str:
    """Return `GPU:1` for `/gpu:1`, `/device:GPU:1`, `/job:localhost/replica:0/...:GPU:1`. Raises ValueError."""
    match = _NAME.fullmatch(name.strip())
    if match is None:
        raise ValueError(f"{name!r} is not the name of a device, like 'GPU:0' or 'CPU:1'")
    return f"{match['kind'].upper()}:{int(match['index'])}"


def kind_of_numbers() -> str:
    """Return the kind of device that a bare number means: GPU, or logical CPU on a machine without GPUs."""
    return "GPU" if any(name.startswith("GPU") for name in available()) else "CPU"


def targets(gpus: int | Sequence[int | str] | None, least: int = 2) -> tuple[str, ...]:
    """Return the devices that `gpus` means: a count, indices or names; None or nothing: all there are.

    Raises ValueError for fewer than `least` devices and for devices that do not exist.
    """
    existing = available()
    requested = tuple(_requested(gpus, existing))
    if len(requested) < least:
        alone = (
            f"; on one, train the model itself: with tf.device('/{requested[0]}'): model.fit(...)"
            if requested
            else ""
        )
        gives = "" if gpus is None else f", gpus={gpus!r} gives {len(requested)}"
        raise ValueError(
            f"{least} devices are needed{gives}; this machine has {_listed(existing)}{alone}{_split_hint(existing)}"
        )
    missing = [name for name in requested if name not in existing]
    if missing:
        raise ValueError(
            f"gpus={gpus!r} asks for {_listed(missing)}; this machine has {_listed(existing)}{_split_hint(existing)}"
        )
    return requested


def _split_hint(existing: Sequence[str]) -> str:
    """Return how to try towers on a machine with a CPU alone; nothing where it has more."""
    if len(existing) > 1:
        return ""
    return "; to try towers, split the CPU with tf.config.set_logical_device_configuration before TensorFlow starts"


def _requested(gpus: Any, existing: Sequence[str]) -> Sequence[str]:
    """Return the names that `gpus` means, whether they exist or not; NumPy integers and arrays are accepted.

    Raises ValueError.
    """
    kind = kind_of_numbers()
    try:
        names = list(gpus) if np.ndim(gpus) else []
        if not names:
            takes_all = gpus is None or np.ndim(gpus)
            count = sum(name.startswith(kind) for name in existing) if takes_all else index(gpus)
            return [f"{kind}:{i}" for i in range(count)]
        return [canonical(g) if isinstance(g, str) else f"{kind}:{index(g)}" for g in names]
    except (TypeError, ValueError):
        raise ValueError(
            f"gpus={gpus!r}: give a number of devices, or a list of indices or of names like 'GPU:0'; "
            f"this machine has {_listed(existing)}"
        ) from None


def stand_ins(named: Sequence[str]) -> tuple[str, ...]:
    """Return a device of this machine for each that a saved model names.

    What exists stays. The others share, in turn, the devices of the same kind, or of the kind
    that numbers mean here, and a UserWarning says so.
    """
    existing = available()
    missing = [name for name in dict.fromkeys(named) if name not in existing]
    if not missing:
        return tuple(named)
    chosen = []
    for position, name in enumerate(named):
        kind = name.split(":")[0]
        pool = [d for d in existing if d.startswith(f"{kind}:")] or [
            d for d in existing if d.startswith(f"{kind_of_numbers()}:")
        ]
        chosen.append(name if name in existing else pool[position % len(pool)])
    warnings.warn(
        f"the model's towers were made for {_listed(named)}; {_listed(missing)} not being here, "
        f"they run on {_listed(chosen)}",
        UserWarning,
        stacklevel=3,
    )
    return tuple(chosen)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)
