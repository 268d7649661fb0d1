"""Calls in stored code that is traced: of Python, of TensorFlow, Keras and NumPy, and of custom functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from unnest.core.frontends.library_calls_as_op_calls import SCOPES, library_call
from unnest.core.frontends.python_builtins import BUILTIN_FUNCTIONS, LISTS_OF_PYTHON_2
from unnest.core.frontends.python_values import (
    UNKNOWN,
    Method,
    Name,
    NameScope,
    Once,
    PythonFunction,
    PythonValue,
    every,
    lists_in,
)
from unnest.core.frontends.stored_code_tracer.tracer_base import TracerBase, static_shape
from unnest.core.interpreters.trace import (
    FLOATX,
    TracedTensor,
)
from unnest.core.model import Unknown
from unnest.core.ops.registry import COMPUTING_MODULES, OPERATIONS


class FunctionCalls(TracerBase):
    """Calls of functions; those of libraries are operations of the trace."""

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
            # NumPy may shuffle them.
            self._given_away += lists_in([*positional, *keywords.values()])
        if operation is None and path.split(".")[-2] not in COMPUTING_MODULES:
            return UNKNOWN
        return self._apply(call.name, call.args, call.kwargs, f"calls {path}")
