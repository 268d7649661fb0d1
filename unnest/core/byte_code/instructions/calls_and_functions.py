"""Instructions that make functions and call them, as each Python compiles them: arguments, names, the object's slot."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from unnest.core.byte_code.instructions.jumps_and_loops import JumpsAndLoops
from unnest.core.byte_code.machine_errors_and_run_cost import Impossible, entry
from unnest.core.byte_code.runtime_values import (
    Cells,
    CommonConstant,
    Entrance,
    Exit,
    InnerCode,
    InnerFunction,
    Null,
    StackValue,
)
from unnest.core.byte_code.value_domain import BEYOND_EXPRESSIONS, DomainValue
from unnest.core.model import Unknown

DEFAULTS, CLOSURE = 1, 8
"""Bits of the argument of MAKE_FUNCTION since 3.6, arguments of SET_FUNCTION_ATTRIBUTE since 3.13."""

WITH_KEYWORDS = 1
"""The bit of CALL_FUNCTION_EX's argument for a dictionary of keywords on top."""

ANNOTATIONS = {4, 16}
"""The argument of SET_FUNCTION_ATTRIBUTE for annotations: their values, or since 3.14 the function of them."""

COMMON_CONSTANTS = {2: CommonConstant.TUPLE, 3: CommonConstant.ALL, 4: CommonConstant.ANY}
"""By the argument of LOAD_COMMON_CONSTANT; the first two are exceptions."""

UNARY_POSITIVE, LIST_TO_TUPLE = 5, 6
"""The argument of CALL_INTRINSIC_1 for `+value`, and for the tuple of a list."""


class CallInstructions(JumpsAndLoops[DomainValue]):
    """A frame that makes and calls functions; a subclass gives the results of inner functions (`_inner`)."""

    @abstractmethod
    def _inner(
        self,
        function: InnerFunction[DomainValue],
        positional: Sequence[StackValue[DomainValue]],
        keywords: Mapping[str, StackValue[DomainValue]],
    ) -> DomainValue:
        """Return the value of a call of an inner function."""

    # Inner functions

    def _make_function(self, argument: int) -> None:
        """From its code, and what it captures; since 3.5 beside its name, until 3.10.

        Before 3.6 `argument` counts its defaults; later its bits say whether it has some, in a tuple.
        """
        if self._python.wide:
            self._push_function(captures=False, defaults=argument)
            return
        if argument & ~(DEFAULTS | CLOSURE) or (argument and self._since_313):
            raise Unknown("an inner function with defaults of keywords")
        has_defaults = bool(argument & DEFAULTS)
        self._push_function(captures=bool(argument & CLOSURE), defaults=has_defaults)

    def _push_function(self, *, captures: bool, defaults: int) -> None:
        """Push a function; `defaults` counts what stands for its defaults on the stack."""
        if self._code.layout in {"3", "3.8", "3.10"}:
            self._stack.pop()
        (code,) = self._stack.take(1)
        (cells,) = self._stack.take(1) if captures else (Cells[DomainValue](),)
        if not isinstance(code, InnerCode) or not isinstance(cells, Cells):
            raise Impossible
        held = self._stack.pop_many(defaults)
        values = held if self._python.wide or not held else self._entries(held[0])
        self._stack.push(InnerFunction(code.code, cells.cells, tuple(values)))

    def _set_function_attribute(self, argument: int) -> None:
        """SET_FUNCTION_ATTRIBUTE of Python 3.13: give the function on the stack its closure, or annotations.

        Raises Impossible, Unknown.
        """
        attribute, function = self._stack.take(2)
        if argument not in {DEFAULTS, CLOSURE, *ANNOTATIONS}:
            raise Unknown("an inner function with defaults of keywords")
        if not isinstance(function, InnerFunction):
            raise Impossible
        if argument == CLOSURE:
            if not isinstance(attribute, Cells):
                raise Impossible
            function = InnerFunction(function.code, attribute.cells, function.defaults)
        elif argument == DEFAULTS:
            (defaults,) = self._stack.only_values([attribute])
            function = InnerFunction(
                function.code, function.captured, tuple(self._entries(defaults))
            )
        self._stack.push(function)  # its annotations are read by no call

    def _call_intrinsic(self, which: int) -> None:
        if which == UNARY_POSITIVE:
            self._stack.push(self._domain.unary("+", self._stack.pop()))
        elif which == LIST_TO_TUPLE:
            self._stack.push(self._as_tuple(self._stack.pop()))
        else:
            raise Unknown(BEYOND_EXPRESSIONS)

    def _load_common_constant(self, which: int) -> None:
        if which not in COMMON_CONSTANTS:
            raise Unknown("an exception that is raised")
        self._stack.push(COMMON_CONSTANTS[which])

    def _is(self, inverted: int) -> None:
        """Push `a is b`, or whether a name means the builtin that 3.14 computes in place, on a generator.

        Raises Unknown.
        """
        value, other = self._stack.take(2)
        if not isinstance(other, CommonConstant):
            sides = self._stack.only_values([value, other])
            self._stack.push(self._domain.compare("is not" if inverted else "is", *sides))
            return
        if inverted:
            raise Unknown("an identity test")
        is_builtin = not isinstance(value, InnerFunction) and self._domain.is_builtin(
            self._stack.only_values([value])[0], other.value
        )
        self._stack.push(self._domain.constant(is_builtin))

    # Calls

    def _call_function(self, argument: int) -> None:
        """Call with positional arguments; before 3.6 (name, value) pairs follow, counted in the high byte."""
        count, named = (argument & 0xFF, argument >> 8) if self._python.wide else (argument, 0)
        pairs = self._stack.pop_many(2 * named)
        names = _texts(tuple(map(self._domain.plain, pairs[::2])))
        held = self._stack.take(count)
        self._call_with([*held, *pairs[1::2]], names, *self._stack.take(1))

    def _call_with_rest(self, argument: int) -> None:
        """`f(a, *rest)` before 3.6; with keywords it is not followed."""
        if argument >> 8:
            raise Unknown("keywords beside any number of arguments")
        rest = self._entries(self._stack.pop())
        held = self._stack.take(argument)
        self._call_with([*held, *rest], (), *self._stack.take(1))

    def _call_function_ex(self, argument: int) -> None:
        """`f(*arguments)`, which are one sequence since 3.6."""
        if argument & WITH_KEYWORDS:
            raise Unknown("keywords of any name")
        if self._python.release >= (3, 14) and self._stack.take(1) != [Null.NULL]:
            raise Unknown("keywords of any name")
        arguments = self._entries(self._stack.pop())
        if not self._since_311:
            self._call_with(arguments, (), *self._stack.take(1))
            return
        null, function = self._stack.take(2)
        if self._since_313:
            null, function = function, null
        if null is not Null.NULL:
            raise Impossible
        self._call_with(arguments, (), function)

    def _call_function_kw(self, count: int) -> None:
        names = self._names_on_top()
        self._call_with(self._stack.take(count), names, *self._stack.take(1))

    def _kw_names(self, index: int) -> None:
        self._keywords = _texts(entry(self._code.constants, index))

    def _call(self, count: int) -> None:
        names, self._keywords = self._keywords, ()
        self._call_beside_null(count, names)

    def _call_kw(self, count: int) -> None:
        names = self._names_on_top()
        self._call_beside_null(count, names)

    def _names_on_top(self) -> tuple[str, ...]:
        return _texts(self._domain.plain(self._stack.pop()))

    def _call_beside_null(self, count: int, names: Sequence[str] = ()) -> None:
        """Call a function beside the NULL in the slot for its object; for a comprehension the two are exchanged.

        Raises Unknown.
        """
        held = self._stack.take(count)
        null, function = self._stack.take(2)
        if null is Exit.EXIT and not names:
            self._skip_exit(held if function is Exit.EXIT else [function, *held])
            return
        if isinstance(null, Entrance) and function is Null.NULL and not held:
            self._stack.push(self._domain.entered(null.value))
            return
        if isinstance(null, InnerFunction) and not isinstance(function, Null):
            self._call_with([function, *held], names, null)
            return
        if self._since_313:
            null, function = function, null
        if not isinstance(null, Null):
            raise Unknown("a call in an unusual form")
        self._call_with(held, names, function)

    def _call_with(
        self,
        held: Sequence[StackValue[DomainValue]],
        names: Sequence[str],
        function: StackValue[DomainValue],
    ) -> None:
        """Call with values, the last of which have names. Raises Impossible."""
        first = len(held) - len(names)
        if first < 0:
            raise Impossible
        if function is Exit.EXIT and not names:
            # The end of a `with` block, which calls its __exit__.
            self._skip_exit(held)
            return
        if isinstance(function, InnerFunction):
            self._stack.push(
                self._inner(function, held[:first], dict(zip(names, held[first:], strict=True)))
            )
            return
        (called,) = self._stack.only_values([function])
        values = self._stack.only_values(held)
        result = self._domain.call(
            called, values[:first], dict(zip(names, values[first:], strict=True))
        )
        if self._work.has_handlers and self._domain.is_unknown(result):
            raise Unknown("a function that may raise an exception")
        self._stack.push(result)

    CALLS: ClassVar[Mapping[str, Callable[[CallInstructions[Any], int], object]]] = {
        "PRECALL": lambda _self, _: None,
        "MAKE_FUNCTION": _make_function,
        "MAKE_CLOSURE": lambda self, count: self._push_function(captures=True, defaults=count),
        "SET_FUNCTION_ATTRIBUTE": _set_function_attribute,
        "CALL_FUNCTION": _call_function,
        "CALL_FUNCTION_VAR": _call_with_rest,
        "CALL_FUNCTION_EX": _call_function_ex,
        "LIST_TO_TUPLE": lambda self, _: self._stack.push(self._as_tuple(self._stack.pop())),
        "CALL_FUNCTION_KW": _call_function_kw,
        "CALL_METHOD": _call_beside_null,
        "KW_NAMES": _kw_names,
        "CALL": _call,
        "CALL_KW": _call_kw,
        "CALL_INTRINSIC_1": _call_intrinsic,
        "LOAD_COMMON_CONSTANT": _load_common_constant,
        "IS_OP": _is,
    }
    """Instructions that make functions or call them, by name -> the method that carries them out."""


def _texts(names: object) -> tuple[str, ...]:
    """Return the names of keyword arguments, a tuple of distinct strings. Raises Impossible for anything else."""
    if type(names) is not tuple:
        raise Impossible
    texts = tuple(name for name in names if isinstance(name, str))
    if len(set(texts)) != len(names):
        raise Impossible
    return texts
