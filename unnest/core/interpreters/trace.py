"""A trace: the operations that stored code applies to its tensors, each applied to numbered elements as it is met.

A tensor holds numbers, or elements of the inputs: then an array for each axis of an input, which holds in the place of
every element its index along that axis. Arrays that are alike along an axis are views, so that a batch of a thousand
images takes a thousand numbers. What moves elements (`core/ops`) is applied to each of these arrays; what computes
with them gives new elements, and the trace notes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from math import prod
from typing import Any, NamedTuple

import numpy as np

from unnest.budget import charge_steps
from unnest.core.byte_code.machine_errors_and_run_cost import Stopped, TooMuch
from unnest.core.interpreters.op_shapes import call_shape
from unnest.core.model import DataDependent, Ref, Unknown
from unnest.core.ops.apply_op_call_to_arrays import bind
from unnest.core.ops.call import OpCall, refs_in
from unnest.core.ops.element_dtype_and_checks import ELEMENT, MISFITS, Array, TooLarge, check_size
from unnest.core.ops.operation_kinds import COMPUTING, JOINS, SLICES, Kind
from unnest.core.ops.registry import argument, literal_axis, operation_of

MAX_TRACE_ELEMENTS = 20_000_000
"""Elements that all operations of one run may give."""

STEPS_AN_OPERATION = 20
"""What applying one operation costs, beside its elements."""

ELEMENTS_A_STEP = 1_000

ELEMENTS_AN_ARRAY = 100
"""What an array costs, however small."""

MAX_COUNTED = 1 << 62
"""Elements that a view may stand for."""


class OtherSizes(Stopped):
    """With other sizes of the axes after the batch the code may be followed: `sizes`, or smaller ones."""

    def __init__(self, sizes: tuple[int, ...] | None = None) -> None:
        super().__init__("other sizes")
        self.sizes = sizes


class TracedTensor:
    """A tensor of a trace.

    `arrays`: one array of numbers; or, of dtype ELEMENT, the indices of its elements along each axis of the inputs;
    or none, if neither its contents nor its shape are known. `is_unknown`: whether nothing in the file explains it.
    """

    def __init__(
        self, ref: Ref, arrays: tuple[Array, ...] = (), *, is_unknown: bool = False
    ) -> None:
        self.ref, self.arrays, self.is_unknown = ref, arrays, is_unknown

    @property
    def holds_elements(self) -> bool:
        """True if it is made of the inputs' elements, or computed of them."""
        return not self.is_unknown and (not self.arrays or self.arrays[0].dtype == ELEMENT)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the tensor, every size known. Raises Unknown if it is not."""
        if not self.arrays:
            raise Unknown("a tensor of unknown shape")
        shape: tuple[int, ...] = self.arrays[0].shape
        return shape


class Effect(Enum):
    """The effect of one step of a trace on its elements."""

    MOVES = "it moves them, or is given none"
    CUTS = "it takes a part along an axis after the batch, up to an unknown number"
    CASTS = "it may give them another type"
    COMPUTES = "it computes with them, or chooses by what they hold"


class Step(NamedTuple):
    """One operation; `words` say what the code does there, as in `calls tensorflow.roll`."""

    call: OpCall
    words: str = ""
    effect: Effect = Effect.MOVES


class TracedInput(NamedTuple):
    """One tensor that code is given: `rows` are the numbers of its rows, `sizes` those of the other axes.

    `is_sized`: whether these are its own; else they stand in for sizes that are not known.
    """

    rows: Array
    sizes: tuple[int, ...]
    is_sized: bool = True


SOURCE = OpCall("", (), {})
"""The call of an input's step."""

FLOATX = "float32"
"""The dtype of nearly every batch, and what `K.floatx()` is taken for: models of another one are cast to it before."""

INPUT_DTYPE = "dtype of its tensor"
"""Stand-in for the dtype of an input: a cast of that input's own elements to it changes nothing."""

COARSE = frozenset({"float16", "half", "bfloat16", "bool"})
"""Types that hold less than what nearly every batch is made of; another type may be the batch's own."""


@dataclass(eq=False, repr=False)
class Trace:
    """The steps of one run of some code, the inputs first; `result` is what the code returns.

    `leaves_trace`: whether a number of a tensor became one of Python's, in a branch say. `assumed`: bare names
    that were taken for a library's functions; None where none may be.
    """

    inputs: Sequence[TracedInput]
    steps: list[Step] = field(default_factory=list)
    tensors: dict[Ref, TracedTensor] = field(default_factory=dict)
    result: object = None
    leaves_trace: bool = False
    assumed: set[str] | None = None
    work: int = 0

    def __post_init__(self) -> None:
        axes = max((len(each.sizes) for each in self.inputs), default=0) + 1
        for rows, sizes, _ in self.inputs:
            self._add(Step(SOURCE), elements((len(rows), *sizes), axes, rows))

    @property
    def input_tensors(self) -> list[TracedTensor]:
        """The tensors that the code is given."""
        return [self.tensors[Ref("", number, 0)] for number in range(len(self.inputs))]

    def unknown(self) -> TracedTensor:
        """Return a tensor that nothing in the file explains: of a custom function, or of a number."""
        (made,) = self._add(Step(OpCall("unknown", (), {})), ())
        made.is_unknown = True
        return made

    def steps_needed_for(self, end: Ref) -> list[Step]:
        """Return the steps that a tensor results from, in order."""
        found, pending = set[int](), [end.call_index]
        while pending:
            at = pending.pop()
            if at not in found:
                found.add(at)
                pending += (ref.call_index for ref in refs_in(arguments(self.steps[at].call)))
        return [self.steps[at] for at in sorted(found)]

    def dtype_of(self, tensor: TracedTensor) -> str | None:
        """Return a tensor's dtype: that of the inputs if elements are only moved, or that of its cast; else None."""
        changes = (
            step
            for step in reversed(self.steps_needed_for(tensor.ref))
            if step.effect in {Effect.CASTS, Effect.COMPUTES}
        )
        last = next(changes, None)
        if last is None or not tensor.holds_elements:
            return INPUT_DTYPE if tensor.holds_elements else None
        dtype = argument(last.call, "dtype") if last.effect is Effect.CASTS else None
        return dtype if isinstance(dtype, str) else None

    def apply(self, call: OpCall, words: str, effect: Effect = Effect.MOVES) -> Any:  # noqa: ANN401 - a code's value
        """Apply one operation, and note it: its tensors, a number where it is given no tensor, None for no answer.

        Raises:
            Unknown: If the operation does not take such arguments.
            OtherSizes: If an array would be too large, or the code names the sizes that its input must have.

        """
        tensors = [self.tensors[ref] for ref in refs_in(arguments(call))]
        held = [tensor for tensor in tensors if tensor.holds_elements]
        operation = operation_of(call)
        if not held and any(tensor.is_unknown for tensor in tensors):
            return None
        if not all(tensor.arrays for tensor in tensors):
            is_moved = (
                operation is not None
                and operation.kind not in COMPUTING
                and literal_axis(call) in (0, None)
            )
            is_open = is_moved and any(tensor.is_unknown for tensor in tensors)
            return None if is_open else self._computed(call, words, tensors)
        if operation is None or operation.compute is None:
            return self._computed(call, words, tensors) if held else None
        if held and operation.names_shape:
            self._check_sizes(argument(call, "shape"))
        try:
            return self._applied(
                Step(call, words, effect),
                axes=len(held[0].arrays) if held else 1,
                is_plain=not tensors,
            )
        except DataDependent:
            by_values = (
                f"{words}, which chooses rows by their values"
                if operation.kind in SLICES
                else words
            )
            return self._computed(call, by_values, tensors)
        except TooLarge as error:
            raise OtherSizes if held else Unknown(str(error)) from error
        except Stopped:
            raise
        except (Unknown, *MISFITS) as error:
            if (
                isinstance(error, Unknown)
                and operation.kind in JOINS
                and 0 < len(held) < len(tensors)
            ):
                return self._computed(call, words, tensors)  # rows beside other numbers
            raise Unknown(str(error)) from error

    def _check_sizes(self, shape: object) -> None:
        """Raise OtherSizes for a shape with sizes of its own, where those of the inputs are stand-ins."""
        stand_ins = {size for each in self.inputs if not each.is_sized for size in each.sizes}
        sizes = shape[1:] if isinstance(shape, list) else []
        is_literal = bool(sizes) and all(isinstance(size, int) and size > 0 for size in sizes)
        if stand_ins and is_literal and stand_ins.isdisjoint(sizes):
            raise OtherSizes(tuple(sizes))

    def _applied(self, step: Step, *, axes: int, is_plain: bool) -> Any:  # noqa: ANN401 - as `apply`
        """Apply an operation to arrays, once for each axis of the inputs that identifies its elements."""
        listed = (
            ref
            for value in arguments(step.call)
            if isinstance(value, list)
            for ref in refs_in(value)
        )
        # What stands in lists is copied.
        check_size(sum(prod(self.tensors[ref].shape) for ref in listed))
        by_axis: list[list[Array]] = []
        result_for = bind(step.call)
        with np.errstate(divide="raise", invalid="raise"):
            for axis in range(axes):
                result = result_for(lambda ref, axis=axis: self._array(ref, axis))  # type: ignore[misc]  # a lambda's default
                results = result if isinstance(result, list) else [result]
                self._charge(sum(stored_size(array) + ELEMENTS_AN_ARRAY for array in results))
                by_axis.append(results)
                if all(array.dtype != ELEMENT for array in results):
                    break
        if is_plain and not isinstance(result, list) and result.ndim == 0:
            return result.item()
        made = self._add(step, *zip(*by_axis, strict=True))
        return made if isinstance(result, list) else made[0]

    def _array(self, ref: Ref, axis: int) -> Array:
        arrays = self.tensors[ref].arrays
        return arrays[axis] if axis < len(arrays) else arrays[0]

    def _computed(self, call: OpCall, words: str, tensors: Sequence[TracedTensor]) -> TracedTensor:
        """Return the result of an operation that computes: new elements, if its shape follows."""
        self._charge(0)
        shape = call_shape(
            call,
            {tensor.ref: tensor.arrays[0].shape if tensor.arrays else None for tensor in tensors},
        )
        if _is_cast(call):
            dtype = argument(call, "dtype")
            words, before = f"casts the values to {dtype}", self.dtype_of(tensors[0]) or ""
            if dtype == before:
                return self._add(Step(call, words), tensors[0].arrays)[0]
            if "int" in before and "int" not in str(dtype):  # fractions are lost on the way
                words = f"casts the values to {before}"
            elif dtype not in COARSE:
                return self._add(Step(call, words, Effect.CASTS), tensors[0].arrays)[0]
        step = Step(call, words, Effect.COMPUTES)
        known = (
            None
            if shape is None or None in shape
            else tuple(size for size in shape if size is not None)
        )
        return self._add(step, () if known is None else elements(known, max(1, len(known))))[0]

    def _charge(self, count: int) -> None:
        """Charge one operation with so many elements: the only place where work on tensors is counted.

        Raises:
            TooMuch: If the run does more work than layers do.
            OverBudget: If the file does.

        """
        self.work += count
        if self.work > MAX_TRACE_ELEMENTS:
            raise TooMuch("more work than layers do")
        charge_steps(STEPS_AN_OPERATION + count // ELEMENTS_A_STEP)

    def _add(self, step: Step, *results: tuple[Array, ...]) -> list[TracedTensor]:
        made = [
            TracedTensor(Ref("", len(self.steps), number), arrays)
            for number, arrays in enumerate(results)
        ]
        self.steps.append(step)
        self.tensors.update((tensor.ref, tensor) for tensor in made)
        return made


def arguments(call: OpCall) -> list[Any]:
    """Return all arguments of a call, positional ones first."""
    return [*call.args, *call.kwargs.values()]


def _is_cast(call: OpCall) -> bool:
    """True for an operation that only gives numbers another dtype."""
    operation = operation_of(call)
    return (
        operation is not None
        and operation.kind is Kind.MAP
        and operation.position("dtype") is not None
    )


def elements(shape: tuple[int, ...], axes: int, rows: Array | None = None) -> tuple[Array, ...]:
    """Return each element's index along every axis, as views: each takes the memory of one axis.

    Raises:
        OtherSizes: If NumPy cannot count the elements.

    """
    if prod(shape) > MAX_COUNTED:
        raise OtherSizes

    def along(axis: int, numbers: Array) -> Array:
        """Return numbers along one axis as a view of `shape`, equal along all other axes."""
        strides = tuple(numbers.itemsize if at == axis else 0 for at in range(len(shape)))
        view = np.ndarray(shape, ELEMENT, numbers, strides=strides)
        view.flags.writeable = False
        return view

    alone = [np.arange(size, dtype=np.int32) for size in shape] + [np.zeros(1, np.int32)] * (
        axes - len(shape)
    )
    if rows is not None:
        alone[0] = np.ascontiguousarray(rows)
    return tuple(along(axis, numbers) for axis, numbers in enumerate(alone))


def stored_size(array: Array) -> int:
    """Return how many numbers an array keeps in memory; a view keeps the different ones."""
    return prod(size for size, stride in zip(array.shape, array.strides, strict=True) if stride)
