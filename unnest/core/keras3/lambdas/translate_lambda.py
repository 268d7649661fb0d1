"""A stored Lambda as Keras 3 operations: what it computes, or why that is not known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from unnest.core import json_tree
from unnest.core.byte_code.argument_binding import arguments_of
from unnest.core.byte_code.candidate_decodings import readings
from unnest.core.byte_code.machine import Machine
from unnest.core.byte_code.machine_errors_and_run_cost import Impossible
from unnest.core.byte_code.opcode_tables import Python
from unnest.core.byte_code.read_code_objects import CodeObject, CodeSlice, Constant, Opaque
from unnest.core.json_tree import is_list
from unnest.core.keras3.lambdas import names_and_calls
from unnest.core.keras3.lambdas.expression_domain import Expressions
from unnest.core.keras3.lambdas.tensor_nodes import calculation
from unnest.core.keras3_op_node import Input, Operand, OpNode
from unnest.core.layers.read_config_values import function_parts
from unnest.core.model import Json, JsonObject, Unknown, release_of
from unnest.core.ops.keras3_nodes.expression_values import (
    FLOAT,
    LAYERS,
    NUMPY,
    CallArguments,
    ConstantArray,
    Items,
    Libraries,
    LibraryName,
    SymbolicTensor,
    SymbolicValue,
    constant,
    items,
    nested_numbers,
    of_readable_length,
)

FED_BY_KERAS = frozenset({"mask", "training"})
"""Arguments that a Lambda is handed when its function has them."""

OF_MASK = "an argument that depends on the mask or on training"


@dataclass(frozen=True, slots=True)
class Translation:
    """The computation of a Lambda.

    `outputs` has one operand for each tensor that it gives, `several` whether it gives a list even of one;
    `expression` is Python for people, `taken` what bare names were taken for, `pythons` those under which the bytes
    mean this.
    """

    outputs: tuple[Operand, ...]
    several: bool
    expression: str
    taken: Mapping[str, str]
    pythons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Untranslatable:
    """The reason for no translation, and what could be read: names, constants, the expression so far."""

    reason: str
    names: tuple[str, ...] = ()
    constants: tuple[str, ...] = ()
    expression: str = ""


@dataclass(frozen=True, slots=True)
class LambdaCall:
    """How the layer was called, and by whom: what its config does not say.

    `shapes` and `dtypes` are of its inputs, the batch first; None stands for unknown shapes and for float32.
    `masked`: one of the inputs may carry a mask, which a Lambda stops and some layers of Keras 3 pass on.
    `keras_version` and `backend` as the file has them, `data_format` as the other layers do, None where none does.
    """

    inputs: int = 1
    shapes: Sequence[Sequence[int | None] | None] | None = None
    dtypes: Sequence[str] | None = None
    masked: bool = False
    keras_version: str | None = None
    backend: str | None = None
    data_format: str | None = None


def translate(config: JsonObject, called: LambdaCall) -> Translation | Untranslatable:
    """Translate a Lambda's stored config to operations of Keras 3; never raises."""
    try:
        stored = _stored(config)
    except Unknown as reason:
        return Untranslatable(str(reason))
    if isinstance(stored, LibraryName):
        return _translate_name(stored, config, called)
    if called.backend == "cntk":
        return Untranslatable("its backend is CNTK")
    candidates = readings(stored.code)
    if not candidates:
        return Untranslatable("its code is not in a known form")
    return _agreed(candidates, stored, called)


@dataclass(frozen=True, slots=True)
class _StoredFunction:
    """Code with the values that are stored beside it; `arguments` are the layer's, by name."""

    code: str
    defaults: tuple[SymbolicValue, ...]
    closure: tuple[SymbolicValue, ...]
    arguments: Mapping[str, SymbolicValue]


def _stored(config: JsonObject) -> _StoredFunction | LibraryName:
    """Return a Lambda's function: code with its stored values, or a name. Raises Unknown."""
    if config.get("mask") is not None:
        raise Unknown("it computes a mask of its own")
    if _dtype(config.get("dtype")) not in {None, FLOAT}:
        raise Unknown("it computes in another dtype than float32")
    arguments = config.get("arguments")
    if not isinstance(arguments, Mapping | None):
        raise Unknown("its arguments are no names and values")
    known = {name: _json(value) for name, value in (arguments or {}).items()}
    function = config.get("function")
    code, defaults, closure = function_parts(function)
    if isinstance(function, str) and code is None:
        module = config.get("module")
        return LibraryName(_path(module if isinstance(module, str) else "", function), function)
    if isinstance(function, Mapping) and function.get("class_name") != "__lambda__":
        raise Unknown("its function is stored by name")
    if code is None:
        raise Unknown("its function is not stored")
    return _StoredFunction(code, _values(defaults), _values(closure), known)


def _dtype(stored: Json) -> Json:
    if isinstance(stored, Mapping):
        inner = stored.get("config")
        return inner.get("name") if isinstance(inner, Mapping) else "unknown"
    return stored


BACKEND_MODULES = (
    "keras.backend",
    "keras.backend.tensorflow_backend",
    "tensorflow.python.keras.backend",
    "keras.src.backend",
)
ACTIVATION_MODULES = (
    "keras.activations",
    "tensorflow.python.keras.activations",
    "keras.src.activations",
)


def _path(module: str, function_name: str) -> str:
    """Return a named function as a dotted path; its name alone if the file does not say which module has it."""
    if module in BACKEND_MODULES:
        return f"K.{function_name}"
    return f"keras.activations.{function_name}" if module in ACTIVATION_MODULES else function_name


def _values(stored: Json) -> tuple[SymbolicValue, ...]:
    if stored is None:
        return ()
    if isinstance(stored, Mapping) and stored.get("class_name") == "__tuple__":
        stored = stored.get("items")
    if not is_list(stored):
        raise Unknown("its stored values are in no known form")
    return tuple(_json(value) for value in stored)


def _json(stored: Json) -> SymbolicValue:
    """Return a stored value; tuples, lists and arrays cannot be told apart in JSON."""
    return json_tree.fold(stored, _leaf, _holder)


def _leaf(stored: Json) -> SymbolicValue:
    assert not isinstance(stored, (Mapping, Sequence)) or isinstance(stored, str)
    return constant(stored)


def _holder(stored: Sequence[Json] | JsonObject, parts: list[SymbolicValue]) -> SymbolicValue:
    if not isinstance(stored, Mapping):
        return items("stored", parts)
    values = dict(zip(stored, parts, strict=True))
    if (
        stored.get("type") == "ndarray"
        and "value" in values
        and nested_numbers(values["value"]) is not None
    ):
        return ConstantArray(nested_numbers(values["value"]), "array(...)")
    if stored.get("class_name") == "__tuple__":
        return values.get("items", constant(None))
    raise Unknown("a stored value of another kind")


def _inputs(called: LambdaCall, text: str) -> SymbolicValue:
    tensors = _tensors(called, text)
    return tensors[0] if called.inputs == 1 else items("list", tensors)


def _tensors(called: LambdaCall, text: str) -> list[SymbolicTensor]:
    return [
        SymbolicTensor(
            Input(index),
            called.dtypes[index] if called.dtypes else FLOAT,
            text if called.inputs == 1 else f"{text}[{index}]",
            shape=_shape(called, index),
            rows=index,
        )
        for index in range(called.inputs)
    ]


def _shape(called: LambdaCall, index: int) -> tuple[int | None, ...] | None:
    shape = called.shapes[index] if called.shapes else None
    return None if shape is None else (None, *shape[1:])


def _dialect(called: LambdaCall) -> Libraries:
    """Return backend and TensorFlow generation that a Lambda was written for; None if the version leaves them open."""
    version = called.keras_version or ""
    numbers = release_of(called.keras_version)
    tensorflow: Literal["1", "2"] | None = None
    # (Source: Keras 2.4 release notes: TensorFlow alone, until Keras 3; a `.keras` does not name it.)
    is_tensorflow = version.endswith("-tf") or (2, 4) <= numbers < (3,)
    if version.endswith("-tf") or numbers >= (2, 4):
        tensorflow = "2" if numbers >= (2, 3) else "1" if numbers < (2, 2, 4) else None
    elif numbers and numbers < (2, 3):
        tensorflow = "1"
    backend = called.backend or ("tensorflow" if is_tensorflow else None)
    return Libraries(
        backend,
        tensorflow,
        keras_3=numbers >= (3,),
        release=numbers,
        data_format=called.data_format,
        tensor_with_rows=lambda rows: next(
            (tensor for tensor in _tensors(called, "x") if rows in (tensor.rows, None)), None
        ),
    )


def _agreed(
    candidates: Sequence[tuple[CodeObject, Python]], stored: _StoredFunction, called: LambdaCall
) -> Translation | Untranslatable:
    """Return the answer of all Pythons that may have written the code; one without an answer overrules the rest."""
    agreed: Translation | None = None
    for code, python in candidates:
        try:
            result = _run(code, python, stored, called)
        except Impossible:
            continue
        if isinstance(result, Untranslatable):
            return result
        if agreed is not None and replace(result, pythons=agreed.pythons) != agreed:
            return _untranslatable(code, "its code means different things in different Pythons")
        agreed = replace(result, pythons=(*(agreed.pythons if agreed else ()), python.version))
    return agreed or _untranslatable(candidates[0][0], "its code is of no known Python")


def _run(
    code: CodeObject, python: Python, stored: _StoredFunction, called: LambdaCall
) -> Translation | Untranslatable:
    """Translate code as one Python reads it."""
    machine = None
    try:
        dialect = _dialect(called)
        local = _locals(code, stored, called)
        machine = Machine(python, code, Expressions(dialect), local, stored.closure)
        value = machine.run()
        if not FED_BY_KERAS.isdisjoint(local):
            _check_unread(
                Machine(python, code, Expressions(dialect), _unfed(local), stored.closure)
            )
        return _translation(value, dialect, called, python)
    except Unknown as reason:
        texts = [value.text for value in machine.values if value.text] if machine else []
        return _untranslatable(code, str(reason), texts[-1] if texts else "")


def _locals(
    code: CodeObject, stored: _StoredFunction, called: LambdaCall
) -> dict[str, SymbolicValue]:
    """Return the arguments' values; None for those of FED_BY_KERAS, which are translated only if nothing reads them."""
    names = code.locals[: code.arguments + code.keyword_only]
    if FED_BY_KERAS & set(names[:1]):
        raise Unknown(OF_MASK)
    fed = {name: constant(None) for name in names if name in FED_BY_KERAS}
    # Python 2's tuples of arguments have no name.
    first = names[0] if names and not names[0].startswith(".") else "x"
    given = {**stored.arguments, **fed}
    return arguments_of(code, _inputs(called, first), stored.defaults, given)


def _unfed(local: Mapping[str, SymbolicValue]) -> dict[str, SymbolicValue]:
    return {name: value for name, value in local.items() if name not in FED_BY_KERAS}


def _check_unread(machine: Machine[SymbolicValue]) -> None:
    """Run code that has run, without the arguments of FED_BY_KERAS.

    Raises:
        Unknown: one of them is read.

    """
    try:
        machine.run()
    except Impossible as unset:
        raise Unknown(OF_MASK) from unset


def _translate_name(
    function: LibraryName, config: JsonObject, called: LambdaCall
) -> Translation | Untranslatable:
    """Translate a function that is stored by name, if its module is stored too and is Keras's own."""
    dialect = _dialect(called)
    arguments = config.get("arguments")
    stored = arguments if isinstance(arguments, Mapping) else {}
    if function.path == function.text:
        return Untranslatable(
            f"`{function.text}`, a function that is stored by name", (function.text,)
        )
    try:
        keywords = {name: _json(value) for name, value in stored.items()}
        value = names_and_calls.call(
            function, CallArguments((_inputs(called, "x"),), keywords), dialect
        )
        return _translation(value, dialect, called, None)
    except Unknown as reason:
        return Untranslatable(str(reason), (function.text,))


def _translation(
    value: SymbolicValue, dialect: Libraries, called: LambdaCall, python: Python | None
) -> Translation:
    values = value.items if isinstance(value, Items) else (value,)
    tensors = [each for each in values if isinstance(each, SymbolicTensor)]
    if not tensors or len(tensors) != len(values):
        raise Unknown("a result that is no tensor")
    outputs = tuple(_output(tensor, called) for tensor in tensors)
    pythons = (python.version,) if python else ()
    return Translation(
        outputs,
        isinstance(value, Items),
        of_readable_length(value.text),
        dict(dialect.taken),
        pythons,
    )


def _output(tensor: SymbolicTensor, called: LambdaCall) -> Operand:
    if isinstance(tensor.operand, Input):
        # A new tensor: a Lambda stops the mask, which the input itself would carry on.
        return calculation("Multiply", tensor, constant(1)).operand
    # A layer would compute whole numbers in its own float32, which holds none beyond 24 bits exactly.
    is_rescaling = tensor.dtype == FLOAT and not called.masked
    scale_and_offset = _rescaling(tensor.operand) if is_rescaling else None
    if scale_and_offset is None:
        return tensor.operand
    index, scale, offset = scale_and_offset
    return OpNode(
        LAYERS, "Rescaling", {"scale": scale, "offset": offset, "dtype": FLOAT}, (Input(index),)
    )


def _rescaling(operand: Operand) -> tuple[int, float, float] | None:
    """Return input, scale and offset of `x * scale + offset` and of what equals it within rounding; else None."""
    match _sides(operand):
        case "Subtract", left, (int() | float()) as offset:
            return _scaled(left, -offset)
        case ("Add", left, (int() | float()) as offset) | (
            "Add",
            (int() | float()) as offset,
            left,
        ):
            return _scaled(left, offset)
    return _scaled(operand, 0)


def _scaled(operand: Operand, offset: float) -> tuple[int, float, float] | None:
    """Return input, scale and offset of `x`, `x * scale` or `x / divisor`; None for other expressions."""
    if isinstance(operand, Input):
        return operand.index, 1.0, offset
    match _sides(operand):
        case "Divide", Input(index), (int() | float()) as divisor if divisor:
            return index, 1 / divisor, offset
        case ("Multiply", Input(index), (int() | float()) as scale) | (
            "Multiply",
            (int() | float()) as scale,
            Input(index),
        ):
            return index, float(scale), offset
    return None


def _sides(operand: Operand) -> tuple[str, Operand, Operand] | None:
    if (
        isinstance(operand, OpNode)
        and operand.module == NUMPY
        and len(operand.args) == len(("left", "right"))
    ):
        return operand.class_name, operand.args[0], operand.args[1]
    return None


def _untranslatable(code: CodeObject, reason: str, expression: str = "") -> Untranslatable:
    constants = tuple(_written(value) for value in code.constants if value is not None)
    return Untranslatable(reason, code.names, constants, expression)


MAX_WRITTEN = 80
"""Characters of one constant in a report."""


def _written(constant: Constant) -> str:
    if isinstance(constant, (CodeObject, Opaque)):
        return "a function" if isinstance(constant, CodeObject) else "..."
    if isinstance(constant, (tuple, CodeSlice)):
        return "(...)" if isinstance(constant, tuple) else "a slice"
    text = repr(constant[:MAX_WRITTEN] if isinstance(constant, (str, bytes)) else constant)
    return text if len(text) <= MAX_WRITTEN else text[:MAX_WRITTEN] + "..."
