"""Signatures of functions that stored code calls, and where Keras 3 computes the same.

Full names are short ones of modules and the function's own: `tensorflow` is `tf`, `keras.backend` `K`, `numpy` `np`.
A signature is the original's: `x|input` are two names of one argument (Keras's and TensorFlow's), defaults are JSON,
behind `*` arguments count by name alone, where versions differ in their order. Nodes compute exactly what the function
did, in every version that had it; what they do not take raises `Unknown`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from unnest.core.model import Json


class Theano(Enum):
    """Where a function of Keras's backend computes the same on Theano, whose files do not always say so."""

    SAME = "for all numbers"
    USUALLY = (
        "for floats of usual size: files of Keras 1, which do not tell their backend, are read with this assumption"
    )
    USUALLY_OF_ONE = "for floats of usual size, where it is called with one argument"


class Signature(NamedTuple):
    """The arguments of a function, each with all its names, how many count by their place, and defaults by name."""

    parameters: tuple[tuple[str, ...], ...]
    positional: int
    defaults: Mapping[str, Json]


@lru_cache(maxsize=512)
def parse_signature(signature: str) -> Signature:
    """Return a signature taken apart; a parameter goes by its first name."""
    parameters, defaults = list[tuple[str, ...]](), dict[str, Json]()
    positional, _, by_name = signature.partition(" * ")
    for spelled in (*positional.split(), *by_name.split()):
        names, _, default = spelled.partition("=")
        parameters.append(tuple(names.split("|")))
        if default:
            defaults[parameters[-1][0]] = json.loads(default)
    return Signature(tuple(parameters), len(positional.split()), defaults)
