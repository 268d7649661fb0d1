"""The values that the machine is working on, as CPython's own stack holds them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic

from unnest.core.byte_code.machine_errors_and_run_cost import Impossible, RunCost
from unnest.core.byte_code.runtime_values import (
    Exit,
    InnerCode,
    InnerFunction,
    Internal,
    Iteration,
    Null,
    StackValue,
)
from unnest.core.byte_code.value_domain import INNER_FUNCTION, DomainValue
from unnest.core.model import Unknown


class OperandStack(Generic[DomainValue]):
    """At most `limit` values; `size` gives the cost of handling each, which is counted in `work`.

    `function_value` makes a value of an inner function that is used as one. Methods raise Impossible where no compiler
    writes such code, Unknown where it is more work than anyone's.
    """

    def __init__(
        self,
        limit: int,
        size: Callable[[DomainValue], int],
        work: RunCost,
        function_value: Callable[[InnerFunction[DomainValue]], DomainValue] | None = None,
    ) -> None:
        self._limit, self._size, self._work = limit, size, work
        self._function_value = function_value
        self._held: list[StackValue[DomainValue]] = []
        self._new_lists: set[int] = set()  # where lists are that nothing else holds

    def __len__(self) -> int:
        """Return the depth of the stack, internal values included."""
        return len(self._held)

    @property
    def values(self) -> list[DomainValue]:
        """The values on the stack, the last on top."""
        return [value for value in self._held if not isinstance(value, Internal)]

    @property
    def iteration(self) -> Iteration[DomainValue] | None:
        """The iteration on top of the stack; None if something else is."""
        top = self._held[-1] if self._held else None
        return top if isinstance(top, Iteration) else None

    @property
    def may_repeat(self) -> bool:
        """True if the top of the stack is a loop's iteration, or the exit of a block around one."""
        return bool(self._held) and (self.iteration is not None or self._held[-1] is Exit.EXIT)

    def push(self, *values: StackValue[DomainValue]) -> None:
        """Push values, the last on top. Raises Impossible."""
        self._held += values
        if len(self._held) > self._limit:
            raise Impossible

    def take(self, count: int) -> list[StackValue[DomainValue]]:
        """Pop `count` entries, returned in the order they were pushed. Raises Impossible."""
        start = len(self._held) - count
        if start < 0:
            raise Impossible
        if self._new_lists:
            self._new_lists = {place for place in self._new_lists if place < start}
        taken = self._held[start:]
        del self._held[start:]
        work = 0
        for value in taken:
            work += 1 if isinstance(value, Internal) else self._size(value)
        self._work.handle(work)
        return taken

    def pop_many(self, count: int) -> list[DomainValue]:
        """The last `count`, all of them values."""
        return self.only_values(self.take(count))

    def only_values(self, held: Sequence[StackValue[DomainValue]]) -> list[DomainValue]:
        """Return `held` as values, inner functions among them. Raises Impossible for anything else."""
        to_value = self._function_value
        if to_value is not None:
            held = [to_value(each) if isinstance(each, InnerFunction) else each for each in held]
        return only_values(held)

    def pop(self) -> DomainValue:
        """Remove and return the value on top."""
        return self.pop_many(1)[0]

    def rotate(self, count: int) -> None:
        """Move the top entry below the `count` - 1 entries under it."""
        *lower, top = self.take(count)
        self.push(top, *lower)

    def copy(self, depth: int) -> None:
        """Push the value at a depth once more; depth 1 is the top."""
        place = self._place(depth)
        self._new_lists.discard(place)
        self.push(self._held[place])

    def swap(self, depth: int) -> None:
        """Exchange the top with the value at a depth."""
        last, place = len(self._held) - 1, self._place(depth)
        self._held[last], self._held[place] = self._held[place], self._held[last]
        others = {last: place, place: last}
        self._new_lists = {others.get(each, each) for each in self._new_lists}

    def _place(self, depth: int) -> int:
        if not 1 <= depth <= len(self._held):
            raise Impossible
        return len(self._held) - depth

    def push_new_list(self, value: DomainValue) -> None:
        """Push a list that nothing else refers to yet."""
        self.push(value)
        self._new_lists.add(len(self._held) - 1)

    def extend_new_list(
        self, depth: int, extended: Callable[[DomainValue, DomainValue], DomainValue]
    ) -> None:
        """Extend the list at a depth below the top by the value on top, if nothing else refers to that list.

        Raises Impossible, Unknown.
        """
        more = self.pop()
        place = self._place(depth)
        parts = self._held[place]
        if isinstance(parts, Null):
            raise Impossible
        if place not in self._new_lists or isinstance(parts, Internal):
            raise Unknown("a list that grows")
        self._work.handle(self._size(parts))
        self._held[place] = extended(parts, more)


def only_values(held: Sequence[StackValue[DomainValue]]) -> list[DomainValue]:
    """Return `held`, if it is all values.

    Raises:
        Impossible: a null or an iteration is among them.
        Unknown: an inner function is among them.

    """
    values = [value for value in held if not isinstance(value, Internal)]
    if len(values) < len(held):
        if all(
            isinstance(value, (InnerFunction, InnerCode))
            for value in held
            if isinstance(value, Internal)
        ):
            raise Unknown(INNER_FUNCTION)
        raise Impossible
    return values
