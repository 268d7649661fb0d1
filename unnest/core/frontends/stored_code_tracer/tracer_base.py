"""The base class of `Tracer`: the trace of one run, the lists that must not change, operations applied to tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from unnest.core.byte_code.opcode_tables import Python
from unnest.core.byte_code.value_domain import PlainValue, ValueDomain
from unnest.core.frontends.python_values import (
    MAX_BITS,
    MAX_ENTRIES,
    UNKNOWN,
    Method,
    Name,
    NameScope,
    Once,
    PythonFunction,
    PythonValue,
    UnknownValue,
    lists_in,
    parts_of,
    share_a_list,
)
from unnest.core.interpreters.trace import (
    Effect,
    Trace,
    TracedTensor,
)
from unnest.core.model import Unknown
from unnest.core.ops.call import OpCall


class TracerBase(ValueDomain[PythonValue]):
    """The state of a trace, which all modules of this package read and add to; `trace_stored_code.Tracer` joins them.

    `shared` are values that other calls of the function see as well: lists in them may not be changed.
    `has_dynamic_shape`: whether `x.shape` holds the number of rows, as with Theano and JAX; in TensorFlow it is not
    known when a model is made.
    """

    branches = True

    def __init__(
        self,
        trace: Trace,
        shared: Sequence[PythonValue],
        python: Python,
        *,
        has_dynamic_shape: bool = False,
    ) -> None:
        self._trace = trace
        self._shared = lists_in(shared)
        self._given_away: list[list[PythonValue]] = []
        self._python = python
        self._has_dynamic_shape = has_dynamic_shape

    def constant(self, value: PlainValue) -> PythonValue:
        """Return a constant unchanged."""
        return value

    def plain(self, value: PythonValue) -> object:
        """Return a constant unchanged."""
        return value

    def size(self, value: PythonValue) -> int:
        """Return how many entries a value has, lists in lists counted each time that they occur.

        Raises:
            Unknown: If there are too many, or for a list that a custom function was given and may have changed.

        """
        entries, pending = 1, [value]
        while pending:
            part = pending.pop()
            if isinstance(part, (list, tuple, dict)):
                entries += len(part)
                pending += parts_of(part)
            if entries > MAX_ENTRIES or (isinstance(part, int) and part.bit_length() > MAX_BITS):
                raise Unknown("more entries, or longer numbers, than layers compute with")
        if self._given_away and share_a_list(lists_in([value]), self._given_away):
            raise Unknown("a list that a custom function may have changed")
        return entries

    def function(
        self, call: Callable[[Sequence[PythonValue], Mapping[str, PythonValue]], PythonValue]
    ) -> PythonValue:
        """Return a PythonFunction."""
        return PythonFunction(call)

    def is_unknown(self, value: PythonValue) -> bool:
        """Return True for UNKNOWN."""
        return value is UNKNOWN

    def is_builtin(self, value: PythonValue, name: str) -> bool:
        """Compare by name. Raises Unknown for a value that may be anything."""
        if value is UNKNOWN:
            raise Unknown("a function that may be a builtin")
        return isinstance(value, Name) and value.path == name

    def number(self, value: PythonValue) -> float:
        """Return a Python number; that of a tensor leaves the trace, which is noted. Raises Unknown."""
        if (
            isinstance(value, TracedTensor)
            and value.arrays
            and not value.holds_elements
            and not value.shape
        ):
            self._trace.leaves_trace = True
            value = value.arrays[0].item()
        if isinstance(value, (int, float)):
            return value
        raise Unknown("no number")

    def whole(self, value: PythonValue) -> int:
        """Return a whole Python number. Raises Unknown."""
        number = self.number(value)
        if number != int(number):
            raise Unknown("no whole number")
        return int(number)

    def _dtype(self, tensor: TracedTensor) -> PythonValue:
        """Return a tensor's dtype, for casts; not a string, as it cannot be compared."""
        dtype = self._trace.dtype_of(tensor)
        return UNKNOWN if dtype is None else Name(dtype)

    def _check_unshared(self, value: list[PythonValue]) -> None:
        """Raise Unknown for a list that other calls see as well."""
        if share_a_list([value], self._shared):
            raise Unknown("a list that other calls see as well")

    def _of_python(
        self,
        function: Callable[..., PythonValue],
        positional: Sequence[PythonValue],
        keywords: Mapping[str, PythonValue],
    ) -> PythonValue:
        """Call a function on plain values. Raises Unknown where Python would raise."""
        try:
            return function(*positional, **keywords)
        except (TypeError, ValueError, LookupError, ArithmeticError) as error:
            raise Unknown(str(error)) from error

    def _apply(
        self,
        name: str,
        args: Sequence[PythonValue],
        kwargs: Mapping[str, PythonValue],
        words: str,
        effect: Effect = Effect.MOVES,
    ) -> PythonValue:
        """Apply one operation to tensors and plain values; UNKNOWN if nothing is known of its result.

        `words` is the call as a reason names it. `effect`: what the operation does to its tensors' rows; a call that
        computes, whatever is said here, is noted as computing by the trace.
        """
        call = OpCall(
            name,
            [self._argument(each) for each in args],
            {k: self._argument(v) for k, v in kwargs.items()},
        )
        made = self._trace.apply(call, words, effect)
        return UNKNOWN if made is None else made

    def _argument(self, value: PythonValue) -> PythonValue:
        """Return an argument as operations take it: a Ref for a tensor, a list for a tuple."""
        if isinstance(value, TracedTensor):
            return value.ref
        if isinstance(value, slice):
            return slice(*(self._argument(end) for end in (value.start, value.stop, value.step)))
        if isinstance(value, (list, tuple)):
            return [self._argument(part) for part in value]
        return (
            self._trace.unknown().ref
            if isinstance(
                value, (UnknownValue, Name, Once, Method, NameScope, PythonFunction, dict)
            )
            else value
        )


def static_shape(tensor: TracedTensor) -> tuple[int | None, ...]:
    """Return a tensor's shape as known when the model is built: None rows. Raises Unknown for a scalar."""
    if not tensor.shape:
        raise Unknown("the shape of a number")
    return (None, *tensor.shape[1:])
