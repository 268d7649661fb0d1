"""The functions that stored code may call, and what they compute: one entry a function, exact or absent.

An entry's signature is the original's. `x|input_tensor` are two names of one argument (Keras's and TensorFlow's);
defaults are JSON; behind `*` arguments count by name alone, where versions differ in their order. What a function does
not take here it is not understood with.
"""

from __future__ import annotations

from unnest.core.keras3.lambdas.functions.constants import OF_CONSTANTS
from unnest.core.keras3.lambdas.functions.dtypes import CASTS
from unnest.core.keras3.lambdas.functions.elementwise import ELEMENTWISE
from unnest.core.keras3.lambdas.functions.images import IMAGES
from unnest.core.keras3.lambdas.functions.of_several import OF_SEVERAL
from unnest.core.keras3.lambdas.functions.padding import PADDING
from unnest.core.keras3.lambdas.functions.reductions import REDUCTIONS
from unnest.core.keras3.lambdas.functions.sequences import SEQUENCES
from unnest.core.keras3.lambdas.functions.shapes import SHAPES
from unnest.core.keras3.lambdas.functions.signatures import KnownFunction

FUNCTIONS: dict[str, KnownFunction] = {
    **ELEMENTWISE, **OF_SEVERAL, **REDUCTIONS, **SHAPES, **PADDING, **CASTS, **IMAGES, **OF_CONSTANTS,
    **SEQUENCES,
}  # fmt: skip
"""Name -> the function; `tensorflow` is spelt `tf`, `keras.backend` `K`, `numpy` `np`."""
