"""Tensors that are computed from stored ones while they are written; nothing here touches a number.

Each function gives the handle of the result: its shape and dtype follow from the operands', its `ref` spells the
computation, so that equal computations are equal handles.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from unnest.core.model import Recipe, Tensor


def scaled(tensor: Tensor, *factors: float) -> Tensor:
    """Multiply equal blocks of the last axis, as many as there are factors, each by its own; the dtype stays."""
    return _derived("scale", (tensor,), tensor.shape, *factors)


def transposed(tensor: Tensor, *axes: int) -> Tensor:
    """Permute the axes: axis k of the result is axis `axes[k]` of the tensor."""
    return _derived("transpose", (tensor,), tuple(tensor.shape[a] for a in axes), *axes)


def reshaped(tensor: Tensor, *shape: int) -> Tensor:
    """Return the tensor's elements, in row-major order, in another shape."""
    return tensor if shape == tensor.shape else _derived("reshape", (tensor,), shape, *shape)


def flipped(tensor: Tensor, *axes: int) -> Tensor:
    """Reverse the elements along the axes."""
    return _derived("flip", (tensor,), tensor.shape, *axes)


def part(tensor: Tensor, axis: int, start: int, stop: int) -> Tensor:
    """Return elements `start` to `stop` of one axis."""
    axis %= len(tensor.shape)
    shape = (*tensor.shape[:axis], stop - start, *tensor.shape[axis + 1 :])
    return _derived("part", (tensor,), shape, axis, start, stop)


def blocks(tensor: Tensor, axis: int, count: int) -> list[Tensor]:
    """Split one axis into `count` equal parts."""
    size = tensor.shape[axis] // count
    return [part(tensor, axis, k * size, (k + 1) * size) for k in range(count)]


def concatenated(tensors: Sequence[Tensor], axis: int) -> Tensor:
    """Concatenate tensors along an axis."""
    first = tensors[0]
    axis %= len(first.shape)
    total = sum(t.shape[axis] for t in tensors)
    return _derived(
        "concatenate", tuple(tensors), (*first.shape[:axis], total, *first.shape[axis + 1 :]), axis
    )


def added(left: Tensor, right: Tensor) -> Tensor:
    """Return the sum of two tensors, element by element."""
    return _derived("add", (left, right), left.shape)


def constant(name: str, value: float, shape: tuple[int, ...], dtype: str) -> Tensor:
    """Return a tensor of one value, which no file holds."""
    return Tensor(name, shape, dtype, f"constant {name}", recipe=Recipe("constant", (), (value,)))


def cast(tensor: Tensor, dtype: str) -> Tensor:
    """Return the tensor's numbers in another dtype."""
    if tensor.dtype == dtype:
        return tensor
    return _derived("reshape", (tensor,), tensor.shape, *tensor.shape)._replace(
        dtype=dtype, ref=f"{dtype}({tensor.ref})"
    )


def with_step_applied(recipe: Recipe, of: Sequence[Tensor], shape: tuple[int, ...]) -> Tensor:
    """Return a recipe's step applied to other tensors of the same shapes."""
    return _derived(recipe.step, tuple(of), shape, *recipe.arguments)


def stored_operands(tensor: Tensor) -> list[Tensor]:
    """Return the stored tensors that a handle is computed from; the handle itself if it is copied."""
    if tensor.recipe is None:
        return [tensor]
    return [leaf for operand in tensor.recipe.of for leaf in stored_operands(operand)]


def stored_refs(tensors: Iterable[Tensor]) -> frozenset[str]:
    """Return the refs of all stored tensors that these are, or are computed from."""
    return frozenset(leaf.ref for tensor in tensors for leaf in stored_operands(tensor))


def _derived(
    step: str, of: tuple[Tensor, ...], shape: tuple[int, ...], *arguments: float
) -> Tensor:
    spelt = ", ".join([*(t.ref for t in of), *map(str, arguments)])
    return of[0]._replace(shape=shape, ref=f"{step}({spelt})", recipe=Recipe(step, of, arguments))
