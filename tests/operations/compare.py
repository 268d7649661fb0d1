"""Each operation's NumPy function, shape and Keras 3 nodes against what the real functions give for the same call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np

from tests.operations.real import named, real_functions, spellings
from tests.operations.samples import samples_of, samples_of_function
from unnest.core.interpreters.shapes import result_shape
from unnest.core.keras3.lambdas import calls
from unnest.core.model import Unknown
from unnest.core.ops.apply import apply
from unnest.core.ops.call import OpCall, plain_name
from unnest.core.ops.keras3_nodes import Input, Operand, OpNode, Part
from unnest.core.ops.numbered_elements import NOT_COMPUTED
from unnest.core.ops.registry import FUNCTIONS, OPERATIONS, Kind, Operation
from unnest.core.ops.symbolic_shapes import Sized
from unnest.core.ops.symbolic_values import (
    CallArguments,
    Const,
    ConstantArray,
    Items,
    Libraries,
    LibraryName,
    ShapeTuple,
    SymbolicTensor,
    SymbolicValue,
    constant,
    items,
)

TOLERANCE = 1e-5
"""Of 32 bits; sums of some ten numbers come in another order."""


@dataclass
class Compared:
    """One operation: the real functions that it was held against, and the outcomes of the calls."""

    operation: Operation
    references: list[str] = field(default_factory=list)
    kernel: int = 0
    shape: int = 0
    nodes: dict[str, int] = field(default_factory=dict)
    differences: list[str] = field(default_factory=list)


def compare(operation: Operation) -> Compared:
    """Call an operation as a script does, here and there."""
    done = Compared(operation)
    for args, kwargs in samples_of(operation):
        for name, result in _real_result(operation, args, kwargs):
            if name not in done.references:
                done.references.append(name)
            _compare_kernel(done, args, kwargs, result)
            _compare_shape(done, args, kwargs, result)
            break
    for path in FUNCTIONS:
        if OPERATIONS.get(plain_name(path)) is operation:
            for args, kwargs in samples_of_function(path):
                _compare_nodes(done, path, args, kwargs)
    return done


def compare_functions() -> Compared:
    """Call the functions that are no registered operation's."""
    done = Compared(Operation("", (), Kind.OPAQUE))
    for path in FUNCTIONS:
        if plain_name(path) not in OPERATIONS:
            for args, kwargs in samples_of_function(path):
                _compare_nodes(done, path, args, kwargs)
    return done


def _real_result(
    operation: Operation, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Iterator[tuple[str, list[np.ndarray[Any, Any]]]]:
    """Yield what each of the real functions gives, which take these arguments."""
    for name, function in real_functions(operation):
        result = _called(function, args, kwargs)
        if result is not None:
            yield name, result


def _called(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> list[np.ndarray[Any, Any]] | None:
    """The tensors that a function gives, None where it takes no such arguments."""
    try:
        with np.errstate(all="ignore"):
            return _arrays(function(*args, **kwargs))
    except Exception:  # noqa: BLE001 - libraries refuse arguments in many ways
        return None


def _arrays(result: Any) -> list[np.ndarray[Any, Any]]:
    if isinstance(result, list | tuple):
        return [np.asarray(each) for each in result]
    return [np.asarray(result)]


def _differ(ours: Sequence[Any], theirs: Sequence[np.ndarray[Any, Any]]) -> str | None:
    """How results differ: in number, shape or values."""
    if len(ours) != len(theirs):
        return f"{len(ours)} results for {len(theirs)}"
    for one, other in zip(map(np.asarray, ours), theirs, strict=True):
        if one.shape != other.shape:
            return f"shape {one.shape} for {other.shape}"
        if other.dtype.kind in "OSU":
            return "no numbers"
        numbers = one.astype(np.complex128), other.astype(np.complex128)
        if not np.allclose(*numbers, TOLERANCE, TOLERANCE, equal_nan=True):
            return f"values, by {np.nanmax(np.abs(one.astype(float) - other.astype(float))):.2g}"
    return None


def _told(args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    """A call in short, for a line about it."""
    parts = [*map(_short, args), *(f"{key}={_short(value)}" for key, value in kwargs.items())]
    return f"({', '.join(parts)})"


def _short(value: Any) -> str:
    return f"{value.dtype}{list(value.shape)}" if isinstance(value, np.ndarray) else str(value)[:40]


def _compare_kernel(
    done: Compared, args: Sequence[Any], kwargs: Mapping[str, Any], real: list[Any]
) -> None:
    if done.operation.compute is None:
        return
    try:
        ours = apply(OpCall(done.operation.name, args, kwargs), lambda ref: ref)  # type: ignore[arg-type, return-value]  # no Refs
    except NOT_COMPUTED:
        return
    if (difference := _differ(ours, real)) is None:
        done.kernel += 1
    else:
        done.differences.append(f"NumPy {_told(args, kwargs)}: {difference}")


def _compare_shape(
    done: Compared, args: Sequence[Any], kwargs: Mapping[str, Any], real: list[Any]
) -> None:
    """With all sizes, and with an unknown batch."""

    def sized(value: Any, batch: int | None) -> Any:
        if isinstance(value, np.ndarray):
            return Sized((batch, *value.shape[1:]) if batch is None and value.ndim else value.shape)
        return [sized(each, batch) for each in value] if isinstance(value, list) else value

    for batch in (0, None):
        call = OpCall(
            done.operation.name,
            [sized(value, batch) for value in args],
            {key: sized(value, batch) for key, value in kwargs.items()},
        )
        told = result_shape(call)
        if told is None:
            return
        shape = real[0].shape
        fits = len(told) == len(shape) and all(
            one in (None, other) for one, other in zip(told, shape, strict=True)
        )
        if len(real) > 1 or not fits or (batch == 0 and None in told and -1 not in _numbers(args)):
            done.differences.append(f"shape {_told(args, kwargs)}: {told} for {shape}")
            return
    done.shape += 1


def _numbers(args: Sequence[Any]) -> list[Any]:
    return [
        each for value in args if isinstance(value, list) for each in value if isinstance(each, int)
    ]


def _compare_nodes(
    done: Compared, path: str, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> None:
    """The nodes that a function becomes, run by Keras 3, against the function itself."""
    function, prepared = named(path), (args, kwargs)
    if path.startswith(("K.", "keras.")):
        prepared = _as_tensors([*args]), {key: _as_tensors(value) for key, value in kwargs.items()}
    real = None if function is None else _called(function, *prepared)
    if real is None:
        return
    tensors: list[np.ndarray[Any, Any]] = []
    dialect = Libraries("tensorflow", "2", release=(2, 15), data_format="channels_last")
    try:
        given = CallArguments(
            tuple(_value(value, tensors) for value in args),
            {key: _value(v, tensors) for key, v in kwargs.items()},
        )
        made = calls.call(LibraryName(path, path), given, dialect)
        ours = [
            _run(value, tensors) for value in (made.items if isinstance(made, Items) else [made])
        ]
    except Unknown:
        return
    if (difference := _differ(ours, real)) is None:
        done.nodes[path] = done.nodes.get(path, 0) + 1
    else:
        done.differences.append(f"Keras 3, {path}{_told(args, kwargs)}: {difference}")


def _as_tensors(value: Any) -> Any:
    """Arrays as TensorFlow's tensors, which Keras 2 asks more of."""
    if isinstance(value, np.ndarray):
        return import_module("tensorflow").constant(value)
    return [_as_tensors(each) for each in value] if isinstance(value, list) else value


def _value(value: Any, tensors: list[np.ndarray[Any, Any]]) -> SymbolicValue:
    """An argument as stored code has it; tensors are inputs."""
    if isinstance(value, np.ndarray):
        tensors.append(value)
        shape = (None, *value.shape[1:])
        return SymbolicTensor(
            Input(len(tensors) - 1), str(value.dtype), "x", shape=shape, rows=len(tensors) - 1
        )
    if isinstance(value, list):
        return items("list", [_value(each, tensors) for each in value])
    return constant(value)


def _run(value: SymbolicValue, tensors: Sequence[np.ndarray[Any, Any]]) -> Any:
    if isinstance(value, ConstantArray | Const):
        return np.asarray(value.value)
    if isinstance(value, ShapeTuple):
        return np.asarray(
            [tensors[0].shape[0] if size is None else size for size in value.dimensions]
        )
    assert isinstance(value, SymbolicTensor)
    return np.asarray(run_node(value.operand, tensors, {}))


def run_node(
    operand: Operand, tensors: Sequence[np.ndarray[Any, Any]], made: dict[int, Any]
) -> Any:
    """An operand as Keras 3 computes it from its JSON."""
    keras = import_module("keras")
    if isinstance(operand, Input):
        return tensors[operand.index]
    if isinstance(operand, Part):
        return run_node(operand.of, tensors, made)[operand.index]
    if isinstance(operand, OpNode):
        if id(operand) not in made:
            config = {
                "module": operand.module,
                "class_name": operand.class_name,
                "config": dict(operand.config),
            }
            real = keras.saving.deserialize_keras_object({**config, "registered_name": None})
            args = [run_node(arg, tensors, made) for arg in operand.args]
            made[id(operand)] = real(
                *args, **{k: run_node(arg, tensors, made) for k, arg in operand.kwargs.items()}
            )
        return made[id(operand)]
    if isinstance(operand, dict):
        return keras.saving.deserialize_keras_object(operand)
    if isinstance(operand, list | tuple):
        parts = [run_node(part, tensors, made) for part in operand]
        is_key = any(part is None or isinstance(part, slice | type(...) | int) for part in parts)
        return tuple(parts) if is_key else parts
    return operand


def compare_all() -> list[Compared]:
    """Every operation, by its first name, and behind them the functions that are none."""
    return [*(compare(OPERATIONS[name]) for name in sorted(spellings())), compare_functions()]
