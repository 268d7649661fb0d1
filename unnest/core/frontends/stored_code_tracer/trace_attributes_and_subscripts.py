"""Names, attributes, subscripts and `with` blocks of stored code that is traced."""

from __future__ import annotations

from functools import partial

from unnest.core.frontends import python_containers
from unnest.core.frontends.library_calls_as_op_calls import MODULE_BY_ALIAS, is_assumable
from unnest.core.frontends.python_builtins import BUILTIN_FUNCTIONS
from unnest.core.frontends.python_values import (
    UNKNOWN,
    Method,
    Name,
    NameScope,
    PythonValue,
    flat,
)
from unnest.core.frontends.stored_code_tracer.tracer_base import TracerBase, static_shape
from unnest.core.interpreters.trace import (
    Effect,
    TracedTensor,
)
from unnest.core.model import Unknown


class AttributesAndSubscripts(TracerBase):
    """Globals and modules by name, attributes of tensors and lists, `x[key]`."""

    def global_value(self, name: str) -> PythonValue:
        """Return a global: a library by its customary alias, or a builtin; anything else is UNKNOWN.

        Where the trace may assume it, the name of an operation that cuts or measures is TensorFlow's function.
        """
        if name in MODULE_BY_ALIAS or name in BUILTIN_FUNCTIONS:
            return Name(MODULE_BY_ALIAS.get(name, name))
        if self._trace.assumed is None or not is_assumable(name):
            return UNKNOWN
        self._trace.assumed.add(name)
        return Name(f"tensorflow.{name}")

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

    def entered(self, value: PythonValue) -> PythonValue:
        """Return the value that a `with` block binds; devices and name scopes change nothing that is computed.

        Raises Unknown.
        """
        if not isinstance(value, NameScope):
            raise Unknown("a with statement")
        return UNKNOWN

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
