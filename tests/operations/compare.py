"""Each operation's NumPy function, shape and Keras 3 nodes against what the real functions give for the same call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.operations.real import Function, call_real, named, real_functions, spellings
from tests.operations.rows import rows_differ
from tests.operations.run_op_nodes import run_node
from tests.operations.samples import Stored, samples_of, samples_of_function
from unnest.core.interpreters.numbered_rows import numbered
from unnest.core.interpreters.op_shapes import result_shape
from unnest.core.keras3.lambdas import names_and_calls
from unnest.core.keras3_op_node import Input
from unnest.core.model import DataDependent, Unknown
from unnest.core.ops.apply_op_call_to_arrays import apply
from unnest.core.ops.call import OpCall, plain_name
from unnest.core.ops.element_dtype_and_checks import ELEMENT, NOT_COMPUTED
from unnest.core.ops.keras3_nodes.expression_values import (
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
from unnest.core.ops.keras3_nodes.function_registry import known_functions
from unnest.core.ops.operation_entry import CONTENTS, Operation
from unnest.core.ops.operation_kinds import Kind
from unnest.core.ops.registry import OPERATIONS
from unnest.core.ops.shape_arithmetic import Sized

TOLERANCE = 1e-5
"""Of 32 bits; sums of some ten numbers come in another order."""


@dataclass
class Compared:
    """One operation: the real functions that it was held against, and the outcomes of the calls."""

    operation: Operation
    references: list[str] = field(default_factory=list)
    kernel: int = 0
    shape: int = 0
    rows: int = 0
    nodes: dict[str, int] = field(default_factory=dict)
    differences: list[str] = field(default_factory=list)


def compare(operation: Operation) -> Compared:
    """Call an operation as a script does, here and there."""
    done = Compared(operation)
    for args, kwargs in samples_of(operation):
        for name, function, result in _real_results(operation, args, kwargs):
            if name not in done.references:
                done.references.append(name)
            _compare_kernel(done, args, kwargs, result)
            _compare_shape(done, args, kwargs, result)
            _compare_rows(done, function, args, kwargs)
            break
    for path in known_functions():
        if OPERATIONS.get(plain_name(path)) is operation:
            for args, kwargs in samples_of_function(path):
                _compare_nodes(done, path, args, kwargs)
    return done


def compare_functions() -> Compared:
    """Call the functions that are no registered operation's."""
    done = Compared(Operation("", (), Kind.OPAQUE))
    for path in known_functions():
        if plain_name(path) not in OPERATIONS:
            for args, kwargs in samples_of_function(path):
                _compare_nodes(done, path, args, kwargs)
    return done


def _real_results(
    operation: Operation, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Iterator[tuple[str, Function, list[np.ndarray[Any, Any]]]]:
    """Yield the real functions that take these arguments, by their names, and what each gives."""
    for name, function in real_functions(operation):
        result = call_real(function, args, kwargs)
        if result is not None:
            yield name, function, result


def _differ(ours: Sequence[Any], theirs: Sequence[np.ndarray[Any, Any]]) -> str | None:
    """How results differ: in number, shape or values."""
    if len(ours) != len(theirs):
        return f"{len(ours)} results for {len(theirs)}"
    for one, other in zip(map(np.asarray, ours), theirs, strict=True):
        if one.shape != other.shape:
            return f"shape {one.shape} for {other.shape}"
        if other.dtype.kind in "OSU":
            return None if one.tolist() == other.tolist() else f"{one} for {other}"
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
    call = OpCall(done.operation.name, args, kwargs)
    try:
        ours = _of_elements(done.operation, call)
    except NOT_COMPUTED:
        try:
            ours = apply(call, lambda ref: ref)  # type: ignore[arg-type, return-value]  # no Refs
        except NOT_COMPUTED:
            return
    if (difference := _differ(ours, real)) is None:
        done.kernel += 1
    else:
        done.differences.append(f"NumPy {_told(args, kwargs)}: {difference}")


def _of_elements(operation: Operation, call: OpCall) -> Sequence[Any]:
    """Apply an operation that moves numbers to numbered elements, and put the numbers back. Raises NOT_COMPUTED."""
    numbers: list[Any] = []

    def number(value: Any) -> Any:
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            elements = numbered(value.shape, len(numbers))
            numbers.extend(value.reshape(-1))
            return elements
        return [number(each) for each in value] if isinstance(value, list) else value

    bound = operation.bind(call.args, call.kwargs)
    moved = {key: number(value) if key in CONTENTS else value for key, value in bound.items()}
    if not numbers:
        raise DataDependent
    args, kwargs = (moved["x"], {}) if operation.takes_all else ([], moved)
    made = apply(OpCall(operation.name, args, kwargs), lambda ref: ref)  # type: ignore[arg-type, return-value]  # no Refs
    whole = np.asarray([*numbers, 0.0], np.float32)
    return [whole[array["element"]] if array.dtype == ELEMENT else array for array in made]


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
        fits = all(
            len(told) == len(each.shape)
            and all(one in (None, other) for one, other in zip(told, each.shape, strict=True))
            for each in real
        )
        if not fits or (batch == 0 and None in told and -1 not in _numbers(args)):
            done.differences.append(f"shape {_told(args, kwargs)}: {told} for {shape}")
            return
    done.shape += 1


def _compare_rows(
    done: Compared, function: Function, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> None:
    """Compare the rows on which each row of the result depends."""
    differ = rows_differ(function, OpCall(done.operation.name, args, kwargs))
    if differ is None:
        return
    if differ:
        done.differences.append(f"rows {_told(args, kwargs)}: {differ}")
    else:
        done.rows += 1


def _numbers(args: Sequence[Any]) -> list[Any]:
    return [
        each for value in args if isinstance(value, list) for each in value if isinstance(each, int)
    ]


def _compare_nodes(
    done: Compared, path: str, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> None:
    """The nodes that a function becomes, run by Keras 3, against the function itself."""
    function = named(path)
    real = None if function is None else call_real(function, args, kwargs)
    if real is None:
        return
    tensors: list[np.ndarray[Any, Any]] = []
    dialect = Libraries("tensorflow", "2", release=(2, 15), data_format="channels_last")
    try:
        given = CallArguments(
            tuple(_value(value, tensors) for value in args),
            {key: _value(v, tensors) for key, v in kwargs.items()},
        )
        made = names_and_calls.call(LibraryName(path, path), given, dialect)
        ours = [
            _run(value, tensors) for value in (made.items if isinstance(made, Items) else [made])
        ]
    except Unknown:
        return
    if (difference := _differ(ours, real)) is None:
        done.nodes[path] = done.nodes.get(path, 0) + 1
    else:
        done.differences.append(f"Keras 3, {path}{_told(args, kwargs)}: {difference}")


def _value(value: Any, tensors: list[np.ndarray[Any, Any]]) -> SymbolicValue:
    """An argument as stored code has it; tensors are inputs."""
    if isinstance(value, Stored):
        return ConstantArray(value.tolist(), "numbers", numbers="float32")
    if isinstance(value, np.ndarray):
        tensors.append(value)
        shape = (None, *value.shape[1:])
        return SymbolicTensor(
            Input(len(tensors) - 1), str(value.dtype), "x", shape=shape, rows=len(tensors) - 1
        )
    if isinstance(value, list):
        return items("list", [_value(each, tensors) for each in value])
    if isinstance(value, tuple):
        return items("tuple", [_value(each, tensors) for each in value])
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


def compare_all() -> list[Compared]:
    """Every operation, by its first name, then functions that are no operations."""
    return [*(compare(OPERATIONS[name]) for name in sorted(spellings())), compare_functions()]
