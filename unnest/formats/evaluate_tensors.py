"""The bytes of a tensor: as they lie in the source, or computed by its recipe, one tensor in memory at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from unnest.core.model import Tensor
from unnest.formats.container_interface import TRANSFER_BLOCK, Source

if TYPE_CHECKING:
    import numpy.typing as npt

TensorData: TypeAlias = "npt.NDArray[np.generic]"
Arguments = Sequence[float]


def blocks_of(source: Source, tensor: Tensor) -> Iterator[bytes]:
    """Yield the tensor's bytes, row-major and in its dtype's byte order, at most TRANSFER_BLOCK at a time."""
    if tensor.recipe is None:
        yield from source.blocks(tensor)
        return
    data = array(source, tensor).tobytes()
    for start in range(0, len(data), TRANSFER_BLOCK):
        yield data[start : start + TRANSFER_BLOCK]


def array(source: Source, tensor: Tensor) -> TensorData:
    """Return the tensor as an array in memory, computed if it has a recipe."""
    dtype = np.dtype(tensor.dtype)
    if tensor.recipe is None:
        return np.frombuffer(b"".join(source.blocks(tensor)), dtype).reshape(tensor.shape)
    if tensor.recipe.step == "constant":
        return np.full(tensor.shape, tensor.recipe.arguments[0], dtype)
    operands = [array(source, operand) for operand in tensor.recipe.of]
    computed = RECIPE_STEPS[tensor.recipe.step](operands, tensor.recipe.arguments)
    return np.ascontiguousarray(computed, dtype).reshape(tensor.shape)


def _scale(operands: Sequence[TensorData], factors: Arguments) -> TensorData:
    # In double precision, rounded once: the nearest that the dtype has.
    doubles = operands[0].astype(np.float64)
    return doubles * (
        np.repeat(factors, doubles.shape[-1] // len(factors)) if doubles.ndim else factors[0]
    )


def _part(operands: Sequence[TensorData], arguments: Arguments) -> TensorData:
    axis, start, stop = map(int, arguments)
    return operands[0][(slice(None),) * axis + (slice(start, stop),)]


RECIPE_STEPS: dict[str, Callable[[Sequence[TensorData], Arguments], TensorData]] = {
    "scale": _scale,
    "part": _part,
    "transpose": lambda of, axes: of[0].transpose([int(a) for a in axes]),
    "reshape": lambda of, shape: of[0].reshape([int(n) for n in shape]),
    "flip": lambda of, axes: np.flip(of[0], tuple(int(a) for a in axes)),
    "concatenate": lambda of, axis: np.concatenate(of, int(axis[0])),
    "add": lambda of, _: np.add(of[0], of[1]),
}
