"""Stored Python code as a trace: its byte code is followed, instruction by instruction, and never run.

The machine of `core/byte_code` has on its stack what Python has (numbers, lists), tensors of a `Trace`, and UNKNOWN.
Functions of TensorFlow, Keras and NumPy are the operations of the registry (`core/ops`), by their names there.
Branches are followed where their condition is known. What is not known ends it without an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice, product
from typing import Literal, TypeVar

from unnest.core.byte_code import value_domain
from unnest.core.byte_code.argument_binding import arguments_of
from unnest.core.byte_code.candidate_decodings import readings
from unnest.core.byte_code.machine import Machine
from unnest.core.byte_code.opcode_tables import Python
from unnest.core.byte_code.runtime_values import Impossible, Stopped
from unnest.core.byte_code.value_domain import PlainValue, TextConversion, ValueDomain
from unnest.core.frontends import python_containers
from unnest.core.frontends.library_functions_as_ops import (
    MODULE_BY_ALIAS,
    SCOPES,
    library_call,
    static_shape,
)
from unnest.core.frontends.python_builtins import BUILTIN_FUNCTIONS, LISTS_OF_PYTHON_2
from unnest.core.frontends.python_values import (
    MAX_BITS,
    MAX_ENTRIES,
    ON_NUMBERS,
    UNKNOWN,
    Method,
    Name,
    NameScope,
    Once,
    PythonFunction,
    PythonValue,
    UnknownValue,
    every,
    flat,
    lists_in,
    parts_of,
    share_a_list,
    stored_value,
)
from unnest.core.interpreters.trace import (
    FLOATX,
    Effect,
    OtherSizes,
    Trace,
    TracedInput,
    TracedTensor,
)
from unnest.core.layers.read_config_values import function_parts
from unnest.core.model import Json, Unknown
from unnest.core.ops.call import OpCall
from unnest.core.ops.registry import BY_OPERATOR, COMPUTING_MODULES, OPERATIONS

Answer = TypeVar("Answer")


def follow(
    function: Json,
    values: Mapping[str, Json],
    inputs: Callable[[int], Sequence[TracedInput]],
    ranks: Sequence[int],
    answer: Callable[[Trace], Answer | None],
) -> Answer | None:
    """Return the answer to a question about the traces of a stored function, None if it cannot be followed.

    `function` is `[code, defaults, closure]`, or what Keras 3 makes of it; `values` are the layer's arguments. The code
    is given `inputs(rank)`, in a list if there are several, for the first rank with an answer. Where several Pythons
    may have written it, they must agree.

    Raises:
        OtherSizes: If it may be followed with other sizes of the inputs.

    """
    text, defaults, closure = function_parts(function)
    if text is None:
        return None
    for has_dynamic_shape, rank in product((False, True), ranks):
        answers = []
        try:
            free = _stored_list(closure)
            for code, python in readings(text):
                trace = Trace(inputs(rank))
                given = (
                    trace.input_tensors[0] if len(trace.input_tensors) == 1 else trace.input_tensors
                )
                stored = {name: stored_value(value) for name, value in values.items()}
                local = arguments_of(code, given, _stored_list(defaults), stored)
                meaning = Tracer(
                    trace, [*local.values(), *free], python, has_dynamic_shape=has_dynamic_shape
                )
                with suppress(Impossible):
                    trace.result = Machine(python, code, meaning, local, free).run()
                    answers.append(answer(trace))
        except OtherSizes:
            raise
        except Stopped:
            return None
        except Unknown:
            pass
        if answers and answers[0] is not None and all(each == answers[0] for each in answers):
            return answers[0]
    return None


def _stored_list(stored: Json) -> list[PythonValue]:
    """Return the values of a stored list; [] for null. Raises Unknown for anything else."""
    values = stored_value(stored) if stored is not None else []
    if not isinstance(values, list):
        raise Unknown("no list")
    return values


class Tracer(ValueDomain[PythonValue]):
    """The meaning of byte code for one run, which `trace` keeps.

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

    # Plain values

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

    def sequence(self, kind: Literal["list", "tuple"], parts: Sequence[PythonValue]) -> PythonValue:
        """Return a Python list or tuple of the values."""
        return tuple(parts) if kind == "tuple" else list(parts)

    def mapping(
        self, entries: Sequence[tuple[PythonValue, PythonValue]], onto: PythonValue = None
    ) -> PythonValue:
        """Return a Python dictionary. Raises Unknown for keys that are no plain values."""
        if not all(isinstance(key, (bool, int, float, str, type(None))) for key, _ in entries):
            raise Unknown("a dictionary with keys that are not known")
        return {**(onto or {}), **dict(entries)}

    def function(
        self, call: Callable[[Sequence[PythonValue], Mapping[str, PythonValue]], PythonValue]
    ) -> PythonValue:
        """Return a PythonFunction."""
        return PythonFunction(call)

    def extended(self, parts: PythonValue, more: PythonValue) -> PythonValue:
        """Return a new list with the items at its end."""
        return [*self.iterator(parts), *self.iterator(more)]

    def unpacked(self, value: PythonValue, count: int) -> Sequence[PythonValue]:
        """Return the `count` entries of a list, or results of an operation that may have any number of them.

        Raises Unknown.
        """
        if value is UNKNOWN:
            return [value] * count
        if isinstance(value, TracedTensor) and not value.arrays:
            return [self.subscript(value, number) for number in range(count)]
        parts = list(islice(self.iterator(value), count + 1))
        if len(parts) != count:
            raise Unknown("another number of values")
        return parts

    def is_unknown(self, value: PythonValue) -> bool:
        """Return True for UNKNOWN."""
        return value is UNKNOWN

    def is_builtin(self, value: PythonValue, name: str) -> bool:
        """Compare by name. Raises Unknown for a value that may be anything."""
        if value is UNKNOWN:
            raise Unknown("a function that may be a builtin")
        return isinstance(value, Name) and value.path == name

    def slice_of(self, ends: Sequence[PythonValue]) -> PythonValue:
        """Return a Python slice of numbers, tensors and unknown values. Raises Unknown."""
        if any(
            not isinstance(end, (int, TracedTensor, UnknownValue, type(None))) for end in ends
        ) or ends[2:] == [0]:
            raise Unknown("a slice of other values than numbers")
        return slice(*ends)

    def truth(self, value: PythonValue) -> bool:
        """Return the truth of a plain value, or of a tensor of one number. Raises Unknown for others."""
        if isinstance(value, TracedTensor):
            value = self.number(value)
        if not isinstance(value, (bool, int, float, str, type(None), list)):
            raise Unknown("a branch on an unknown value")
        return bool(value)

    def iterator(self, value: PythonValue) -> Iterator[PythonValue]:
        """Return an iterator over a list, a tuple or an iterator. Raises Unknown for tensors."""
        return value.begin() if isinstance(value, Once) else python_containers.iterator(value)

    def generator(self, values: Iterator[PythonValue]) -> PythonValue:
        """Return an iterator over values, which can be read once."""
        return Once(values)

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

    # Names and attributes

    def global_value(self, name: str) -> PythonValue:
        """Return a global: a library by its customary alias, or a builtin; anything else is UNKNOWN."""
        return (
            Name(MODULE_BY_ALIAS.get(name, name))
            if name in MODULE_BY_ALIAS or name in BUILTIN_FUNCTIONS
            else UNKNOWN
        )

    def module(self, path: str) -> PythonValue:
        """Return a module, by its dotted path."""
        return Name(path)

    def attribute(self, of: PythonValue, name: str) -> PythonValue:
        """Return an attribute of a module, tensor, shape or list. Raises Unknown for others."""
        if of is UNKNOWN or (isinstance(of, str) and name == "format"):
            return UNKNOWN
        if isinstance(of, Name):
            return None if name == "newaxis" else Name(f"{of.path}.{name}")
        if isinstance(of, TracedTensor):
            return self._of_tensor(of, name)
        if isinstance(of, tuple) and name in ("ndims", "rank"):
            return len(of)
        if isinstance(of, (int, type(None))) and name == "value":  # of a size, until TensorFlow 2
            return of
        method = python_containers.READING.get(type(of), {}).get(name)
        if method is None and isinstance(of, list):
            method = python_containers.CHANGING.get(name)
            self._check_unshared(of)
        if method is None:
            raise Unknown(f"an attribute {name}")
        return Method(partial(method, self, of))

    def _of_tensor(self, tensor: TracedTensor, name: str) -> PythonValue:
        """Return an attribute of a tensor: its shape, under any of its names, or dtype. Raises Unknown."""
        if name == "shape" and self._has_dynamic_shape:
            return (self.subscript(self._apply("shape", [tensor], {}, ""), 0), *tensor.shape[1:])
        if name == "dtype":
            return self._dtype(tensor)
        if name == "__getitem__":
            return Method(partial(self.subscript, tensor))
        if name == "set_shape":
            return Method(lambda _: None)
        if name not in ("shape", "_keras_shape", "get_shape"):
            raise Unknown(f"an attribute {name}")
        shape = static_shape(tensor)
        return Method(lambda: shape) if name == "get_shape" else shape

    def _dtype(self, tensor: TracedTensor) -> PythonValue:
        """Return a tensor's dtype, for casts; not a string, as it cannot be compared."""
        dtype = self._trace.dtype_of(tensor)
        return UNKNOWN if dtype is None else Name(dtype)

    def entered(self, value: PythonValue) -> PythonValue:
        """Return the value that a `with` block binds; devices and name scopes change nothing that is computed.

        Raises Unknown.
        """
        if not isinstance(value, NameScope):
            raise Unknown("a with statement")
        return UNKNOWN

    # Operators

    def unary(self, symbol: Literal["+", "-", "~"], value: PythonValue) -> PythonValue:
        """Return `-value`. Raises Unknown for other operators."""
        if symbol != "-":
            raise Unknown(f"the operator {symbol}")
        if isinstance(value, TracedTensor):
            return self._apply("negative", [value], {}, "computes with the values (`-`)")
        return value if value is UNKNOWN else -self.number(value)

    def binary(self, symbol: str, left: PythonValue, right: PythonValue) -> PythonValue:
        """Return the result of arithmetic on tensors, lists or numbers. Raises Unknown."""
        sides = (left, right)
        if symbol in ("+", "%") and isinstance(left, str):
            return self.join_texts(sides) if symbol == "+" else UNKNOWN
        is_repeated = symbol == "*" and any(isinstance(side, (list, tuple)) for side in sides)
        if any(isinstance(side, TracedTensor) for side in sides) and not is_repeated:
            if symbol not in ON_NUMBERS:
                raise Unknown(f"the operator {symbol}")
            words = f"computes with the values (`{symbol.removeprefix('classic ')}`)"
            return self._apply(BY_OPERATOR[symbol].name, sides, {}, words)
        if UNKNOWN in sides:
            return UNKNOWN
        if any(isinstance(side, (list, tuple)) for side in sides):
            return python_containers.arithmetic(self, symbol, left, right)
        if symbol in ("==", "!=") and all(isinstance(side, (str, type(None))) for side in sides):
            return (left == right) is (symbol == "==")
        if symbol not in ON_NUMBERS:
            raise Unknown(f"the operator {symbol}")
        try:
            return ON_NUMBERS[symbol](self.number(left), self.number(right))
        except (ArithmeticError, ValueError) as error:
            raise Unknown(str(error)) from error

    def compare(self, symbol: str, left: PythonValue, right: PythonValue) -> PythonValue:
        """Return `left symbol right`; of identities only those with None are known. Raises Unknown."""
        if symbol not in {"is", "is not", "in", "not in"}:
            return self.binary(symbol, left, right)
        if left is UNKNOWN or right is UNKNOWN:
            return UNKNOWN
        if symbol.endswith("in"):
            is_true = python_containers.contains(right, left)
        elif left is None or right is None:
            is_true = left is right
        else:
            raise Unknown("an identity test")
        return is_true is not symbol.startswith(("not", "is not"))

    def in_place(self, symbol: str, left: PythonValue, right: PythonValue) -> PythonValue:
        """Return the result of `left += right`: a list that nothing else refers to grows, all else is a new value.

        Raises Unknown.
        """
        if not isinstance(left, list):
            return self.binary(symbol, left, right)
        self._check_unshared(left)
        if symbol != "+":
            raise Unknown(f"the operator {symbol}=")
        python_containers.extend(self, left, right)
        return left

    def format_text(
        self, value: PythonValue, conversion: TextConversion, spec: PythonValue | None
    ) -> PythonValue:
        """Return the formatted text; UNKNOWN unless all of it is known."""
        text = value_domain.format_text(value, conversion, spec)
        return UNKNOWN if text is None else text

    def join_texts(self, parts: Sequence[PythonValue]) -> PythonValue:
        """Return the parts as one text; UNKNOWN unless all of them are known."""
        text = value_domain.join_texts(parts)
        return UNKNOWN if text is None else text

    # Lists

    def _check_unshared(self, value: list[PythonValue]) -> None:
        """Raise Unknown for a list that other calls see as well."""
        if share_a_list([value], self._shared):
            raise Unknown("a list that other calls see as well")

    def subscript(self, of: PythonValue, key: PythonValue) -> PythonValue:
        """Return `of[key]`: elements of a tensor, entries of a list. Raises Unknown."""
        if of is UNKNOWN:
            return of
        if isinstance(of, TracedTensor):
            return self._part(of, key)
        return self._of_python(python_containers.entry, [self, of, key], {})

    def store_subscript(self, of: PythonValue, key: PythonValue, value: PythonValue) -> None:
        """Do `of[key] = value` for a list or dictionary that no other call sees. Raises Unknown."""
        if isinstance(of, list):
            self._check_unshared(of)
        self._of_python(python_containers.set_entry, [self, of, key, value], {})

    def _part(self, of: TracedTensor, key: PythonValue) -> PythonValue:
        """Return `of[key]`; an axis behind the batch that an unknown number cuts is taken whole, which is noted."""
        keys, effect = list(key) if isinstance(key, tuple) else [key], Effect.MOVES
        for axis, each in enumerate(keys):
            if UNKNOWN in flat([each]):
                if not axis or not of.holds_elements:
                    return UNKNOWN
                keys[axis], effect = slice(None), Effect.CUTS
        return self._apply("getitem", [of, keys], {}, "takes a part", effect)

    # Calls

    def call(
        self,
        function: PythonValue,
        positional: Sequence[PythonValue],
        keywords: Mapping[str, PythonValue],
    ) -> PythonValue:
        """Functions of Python, TensorFlow, Keras and NumPy; a custom function may do anything to the lists it gets."""
        if isinstance(function, PythonFunction):
            return function.call(positional, keywords)
        given = {key: value for key, value in keywords.items() if key != "name"}
        if isinstance(function, Method):
            return self._of_python(function.call, positional, given)
        if isinstance(function, Name) and function.path in BUILTIN_FUNCTIONS:
            return self._builtin(function.path, positional, given)
        values = [*positional, *keywords.values()]
        if any(isinstance(each, (PythonFunction, dict)) for each in every(values)):
            raise Unknown("a function or a dictionary that is handed on")
        if function is UNKNOWN:
            return self._custom(values)
        if not isinstance(function, Name):
            raise Unknown("a call")
        return self._of_name(function, positional, given)

    def _of_name(
        self, function: Name, positional: Sequence[PythonValue], given: Mapping[str, PythonValue]
    ) -> PythonValue:
        """The result of a function of a module."""
        module, _, name = function.path.rpartition(".")
        if module and name in SCOPES:
            return NameScope()
        if not module:
            raise Unknown("a module that is called")
        facts = self._facts(name, positional)
        if facts is not None:
            return facts
        return self._of_library(function.path, positional, given)

    def _facts(self, name: str, positional: Sequence[PythonValue]) -> PythonValue:
        """Return the answer of a backend function that makes no operation (`K.floatx`, `K.dtype`); None for others."""
        match name, positional:
            case "int_shape", [TracedTensor() as tensor]:
                return static_shape(tensor)
            case "dtype", [TracedTensor() as tensor]:
                return self._dtype(tensor)
            case "floatx", []:
                return FLOATX
        return None

    def _builtin(
        self, name: str, positional: Sequence[PythonValue], keywords: Mapping[str, PythonValue]
    ) -> PythonValue:
        values = [*positional, *keywords.values()]
        if UNKNOWN in values:
            return self._custom(values)
        result = self._of_python(BUILTIN_FUNCTIONS[name], [self, *positional], keywords)
        is_list = name in LISTS_OF_PYTHON_2 and self._python.version == "2.7"
        return list(self.iterator(result)) if is_list and isinstance(result, Once) else result

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

    def _custom(self, values: Sequence[PythonValue]) -> PythonValue:
        """Return the result of a custom function, which may change the lists and read the iterators that it gets."""
        self._given_away += lists_in(values)
        for value in values:
            if isinstance(value, Once):
                value.begin()
        return UNKNOWN

    def _of_library(
        self, path: str, positional: Sequence[PythonValue], keywords: Mapping[str, PythonValue]
    ) -> PythonValue:
        """Return the result of a function of TensorFlow, Keras or NumPy, by the operation behind its path."""
        call = library_call(path, positional, keywords)
        operation = OPERATIONS.get(call.name)
        if path.startswith("numpy.") and (operation is None or operation.compute is None):
            self._given_away += lists_in(
                [*positional, *keywords.values()]
            )  # NumPy may shuffle them
        if operation is None and path.split(".")[-2] not in COMPUTING_MODULES:
            return UNKNOWN
        return self._apply(call.name, call.args, call.kwargs, f"calls {path}")

    def _apply(
        self,
        name: str,
        args: Sequence[PythonValue],
        kwargs: Mapping[str, PythonValue],
        words: str,
        effect: Effect = Effect.MOVES,
    ) -> PythonValue:
        """Apply one operation to tensors and plain values."""
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
