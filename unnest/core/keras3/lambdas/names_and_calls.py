"""Names and calls in stored code: globals, attributes, and known functions with their arguments."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from unnest.core.keras3.lambdas import operators, tensor_nodes
from unnest.core.keras3_op_node import UNKNOWN_DTYPE, Operand
from unnest.core.model import Json, Unknown
from unnest.core.ops.keras3_nodes import constant_array_arithmetic
from unnest.core.ops.keras3_nodes.expression_values import (
    ATOM,
    LAYERS,
    ArrayKind,
    BoundMethod,
    CallArguments,
    Const,
    ConstantArray,
    Items,
    Libraries,
    LibraryName,
    ShapeTuple,
    Size,
    SymbolicTensor,
    SymbolicValue,
    constant,
    items,
    kind,
    number,
    of_readable_length,
)
from unnest.core.ops.keras3_nodes.function_arguments import ARRAY_KINDS
from unnest.core.ops.keras3_nodes.function_call import (
    Argument,
    FunctionCall,
    Key,
    shape_of,
)
from unnest.core.ops.keras3_nodes.function_registry import (
    Function,
    known_functions,
    parse_signature,
)
from unnest.core.ops.operation_entry import Operation, Theano
from unnest.core.ops.operation_kinds import Kind

ROOTS: Mapping[str, str] = {
    "K": "keras.backend",
    "tf": "tensorflow",
    "keras": "keras",
    "np": "numpy",
    "math": "math",
}
"""What a bare name is taken for; besides these only the builtins in the table."""

SHORT_MODULE_NAMES: Mapping[str, str] = {
    "tensorflow": "tf",
    "tf.keras": "keras",
    "keras.backend": "K",
    "K.tf": "tf",
    "numpy": "np",
}
"""Spellings of one module, replaced one after the other; the table has the short ones."""

CONSTANTS: Mapping[str, float | None] = {
    "np.pi": math.pi,
    "math.pi": math.pi,
    "np.e": math.e,
    "math.e": math.e,
    "tf.newaxis": None,
    "np.newaxis": None,
}

SHAPES: Mapping[str, Literal["shape", "tuple"]] = {"shape": "shape", "_keras_shape": "tuple"}
"""Attributes of tensors that are shapes; the second is of Keras's own of before 2.3."""

#: What draws random numbers, in the latent layer of autoencoders above all.
RANDOM = re.compile(r"(K|tf)\.(random|truncated)_\w+|(tf|keras|np)\.random\.\w+")


def global_value(text: str, dialect: Libraries) -> SymbolicValue:
    """Return the value of a global.

    Raises:
        Unknown: For every name but a few: globals are not stored.

    """
    if text in ROOTS:
        dialect.taken[text] = ROOTS[text]
        return LibraryName(_short(ROOTS[text]), text)
    if text in known_functions() and "." not in text:
        dialect.taken[text] = "the builtin"
        return LibraryName(text, text)
    raise Unknown(f"`{text}`, a name whose value is not stored")


def module(path: str) -> LibraryName:
    """Return the value of `import path` inside of the function."""
    return LibraryName(_short(path), _short(path))


def _short(path: str) -> str:
    for long, short in SHORT_MODULE_NAMES.items():
        if path == long or path.startswith(f"{long}."):
            path = short + path.removeprefix(long)
    return path


def attribute(of: SymbolicValue, field: str) -> SymbolicValue:
    """Return the value of `of.field`. Raises Unknown."""
    text = of_readable_length(f"{of.text}.{field}")
    if isinstance(of, LibraryName):
        path = _short(f"{of.path}.{field}")
        return Const(CONSTANTS[path], text) if path in CONSTANTS else LibraryName(path, text)
    if isinstance(of, Items) and field in of.fields:
        return of.items[of.fields.index(field)]
    if isinstance(of, SymbolicTensor) and field in SHAPES:
        return replace(shape_of(of), kind=SHAPES[field], text=text)
    if isinstance(of, SymbolicTensor) and field == "get_shape":
        return BoundMethod(of, field, text)
    if isinstance(of, ShapeTuple) and of.kind == "shape" and field == "as_list":
        return BoundMethod(of, field, text)
    if (
        isinstance(of, ConstantArray)
        and of.numbers not in {None, "tensor"}
        and field in {"astype", "reshape"}
    ):
        return BoundMethod(of, field, text)
    raise Unknown(f"`.{field}` of {kind(of)}")


def call(function: SymbolicValue, arguments: CallArguments, dialect: Libraries) -> SymbolicValue:
    """Return the value of `function(arguments)`. Raises Unknown."""
    text = of_readable_length(f"{function.text}({arguments.text})")
    if isinstance(function, BoundMethod) and isinstance(function.of, ConstantArray):
        return replace(_array_method(function.of, function.name, arguments), text=text)
    if isinstance(function, BoundMethod):
        if arguments.positional or arguments.keywords:
            raise Unknown(f"arguments of `{function.text}`")
        if isinstance(function.of, ShapeTuple):
            return replace(function.of, kind="list", text=text)
        assert isinstance(function.of, SymbolicTensor)
        return replace(shape_of(function.of), text=text)
    if isinstance(function, LibraryName) and RANDOM.fullmatch(function.path):
        raise Unknown(
            f"`{function.text}`: no layer or operation of Keras 3's own draws random numbers at inference"
        )
    if not isinstance(function, LibraryName) or function.path not in known_functions():
        raise Unknown(f"a call of {kind(function)}")
    known = known_functions()[function.path]
    _check_backend(function, known, arguments, dialect)
    called = Keras3Call(_bound(function, known, arguments), dialect)
    if known.nodes is not None:
        value = known.nodes(called)
    else:
        assert known.operation is not None
        value = _nodes_of_kind(known.operation, called)
    if isinstance(value, Items) and value.kind == "stored":
        return replace(value, spelt=text)
    if isinstance(value, Items):
        parts = [each for each in value.items if isinstance(each, SymbolicTensor)]
        parts = [replace(each, text=f"{text}[{place}]") for place, each in enumerate(parts)]
        return replace(items("list", parts), spelt=text, fields=value.fields)
    return (
        replace(value, text=text, precedence=ATOM)
        if isinstance(value, (SymbolicTensor, ConstantArray, Const, ShapeTuple))
        else value
    )


def _check_backend(
    function: LibraryName, known: Function, arguments: CallArguments, dialect: Libraries
) -> None:
    """Raise Unknown for a function of Keras's that computes something else in another backend, or in Keras 3."""
    is_of_backend = function.path.startswith("K.")
    if is_of_backend and known.theano is Theano.SAME:
        return
    if is_of_backend and dialect.backend != "tensorflow":
        is_unknown = dialect.backend is None and dialect.release[:1] == (1,)
        has_one = len(arguments.positional) + len(arguments.keywords) == 1
        is_usual = known.theano is Theano.USUALLY or (
            known.theano is Theano.USUALLY_OF_ONE and has_one
        )
        if not is_unknown or not is_usual:
            raise Unknown(f"`{function.text}`, which depends on the backend")
        dialect.taken[function.text] = "what Theano and TensorFlow both compute"
    if function.path.startswith(("K.", "keras.")) and dialect.keras_3:
        raise Unknown(f"`{function.text}` of Keras 3")


class Keras3Call(FunctionCall):
    """One call, with nodes of Keras 3's operations."""

    __slots__ = ()

    def op(self, class_name: str, *args: Argument, **config: Json) -> SymbolicTensor:
        """Return a call of a Keras 3 operation with these constructor arguments; its dtype is the first tensor's."""
        tensors = [*_tensors_in(args)]
        return tensor_nodes.node(class_name, config, [_operand_of(arg) for arg in args], tensors)

    def layer(self, class_name: str, x: SymbolicTensor, **config: Json) -> SymbolicTensor:
        """Return a call of a Keras 3 layer in place of an operation."""
        return tensor_nodes.node(class_name, config, [x.operand], [x], module=LAYERS)

    def calculate(self, class_name: str, *sides: SymbolicValue | float) -> SymbolicTensor:
        """Return an elementwise operation on tensors of one dtype, numbers and constant arrays."""
        return tensor_nodes.calculation(
            class_name,
            *(constant(side) if isinstance(side, int | float) else side for side in sides),
        )

    def subscript(self, x: SymbolicTensor, *keys: Key) -> SymbolicTensor:
        """Return `x[keys]`."""
        parts = [_key(key) for key in keys]
        made = operators.subscript(x, items("tuple", parts))
        assert isinstance(made, SymbolicTensor)
        return made

    def zeros_along(self, x: SymbolicTensor, axis: int) -> SymbolicTensor:
        """Return a vector of float32 zeros, as long as an axis of a tensor."""
        return tensor_nodes.zeros_along(x, axis)

    def number_of(self, size: Size) -> SymbolicTensor:
        """Return a size as an int32 scalar."""
        return tensor_nodes.number_of(size)

    def sum(self, name: str) -> SymbolicValue:
        """Return the sum of a list's items. Raises Unknown."""
        value = self[name]
        if not isinstance(value, Items) or not value.items:
            raise Unknown(f"the sum of {kind(value)}")
        total: SymbolicValue = constant(0)
        for item in value.items:
            total = operators.binary("+", total, item)
        return total

    def rounded(self, nested: object, array_kind: ArrayKind) -> ConstantArray:
        """Return an array of known numbers, rounded as its dtype rounds them."""
        return constant_array_arithmetic.rounded_array(nested, array_kind)

    def array(self, name: str, array_kind: ArrayKind | None = None) -> ConstantArray:
        """Return a list or array of numbers as an array; if no dtype is named, NumPy's choice."""
        return constant_array_arithmetic.of_value(self[name], array_kind, self[name].text)

    def array_reshaped(self, made: ConstantArray, shape: Sequence[int]) -> ConstantArray:
        """Return the numbers of an array, in row-major order, in another shape."""
        return constant_array_arithmetic.reshaped(made, shape)

    def array_with_axis(self, made: ConstantArray, axis: int) -> ConstantArray:
        """Return an array with one more axis, of size 1."""
        return constant_array_arithmetic.widened(made, axis)


def _key(key: Key) -> SymbolicValue:
    if isinstance(key, slice):
        return operators.slice_of([constant(end) for end in (key.start, key.stop, key.step)])
    return constant(key)


def _tensors_in(args: Sequence[Argument]) -> Iterator[SymbolicTensor]:
    for arg in args:
        if isinstance(arg, SymbolicTensor):
            yield arg
        elif isinstance(arg, list):
            yield from (each for each in arg if isinstance(each, SymbolicTensor))


def _operand_of(arg: Argument) -> Operand:
    if isinstance(arg, SymbolicTensor):
        return arg.operand
    if isinstance(arg, list):
        return [each.operand if isinstance(each, SymbolicTensor) else each for each in arg]
    return arg  # type: ignore[return-value]  # what is no tensor and no list of them is JSON


def _nodes_of_kind(operation: Operation, call: FunctionCall) -> SymbolicValue:
    """Return nodes of one Keras 3 class, called as operations of that kind are. Raises Unknown."""
    class_name, config = operation.keras3_class, operation.keras3_config
    if operation.kind is Kind.REDUCTION:
        x = call.tensor("x")
        is_exact = operation.same_on_integers and x.dtype in ("int32", "int64")
        if not is_exact and x.dtype != ("bool" if operation.takes_booleans else "float32"):
            raise Unknown(f"a reduction of {x.dtype}")
        return call.op(class_name, x, axis=call.axis(), keepdims=call.flag("keepdims"), **config)
    if operation.kind is Kind.ELEMENTWISE:
        symbol = operation.python_operator.removeprefix("classic ")
        if symbol in operators.ARITHMETIC and not (call.is_tensor("x") or call.is_tensor("y")):
            return operators.binary(symbol, call["x"], call["y"])
        made = call.calculate(class_name, call["x"], call["y"])
    elif operation.takes_booleans:
        made = call.calculate(class_name, call["x"])
    else:
        made = call.each_number(class_name, _operand_of_each(operation, call), **config)
    return replace(made, dtype=operation.result_dtype) if operation.result_dtype else made


def _operand_of_each(operation: Operation, call: FunctionCall) -> SymbolicTensor:
    """Return the tensor that an operation on each number is called on. Raises Unknown for a dtype it is not sure of."""
    x = call.tensor("x")
    if operation.floats_alone and x.dtype == UNKNOWN_DTYPE:
        return replace(x, dtype="float32")  # TensorFlow would have refused others
    is_same = operation.same_on_integers and x.dtype in tensor_nodes.INTEGERS
    return x if is_same else call.floats("x")


def _array_method(value: ConstantArray, method: str, arguments: CallArguments) -> ConstantArray:
    """Return `value.reshape(...)` or `value.astype(...)` of a NumPy array. Raises Unknown."""
    given = arguments.positional
    if method == "reshape" and not arguments.keywords:
        sizes = given[0].items if len(given) == 1 and isinstance(given[0], Items) else given
        numbers = [number(size) for size in sizes]
        whole = [size for size in numbers if isinstance(size, int)]
        if whole and len(whole) == len(numbers):
            return constant_array_arithmetic.reshaped(value, whole)
    if method == "astype" and len(given) == 1 and not arguments.keywords:
        written = given[0]
        spelt = (
            written.path
            if isinstance(written, LibraryName)
            else written.value
            if isinstance(written, Const)
            else None
        )
        if isinstance(spelt, str) and spelt in ARRAY_KINDS:
            return constant_array_arithmetic.rounded_array(value.value, ARRAY_KINDS[spelt])
    raise Unknown(f"arguments of `.{method}`")


def _bound(
    function: LibraryName, known: Function, arguments: CallArguments
) -> dict[str, SymbolicValue]:
    """Bind the arguments of a call to the function's first names for them. Raises Unknown."""
    signature = parse_signature(known.signature)
    if len(arguments.positional) > signature.positional:
        raise Unknown(f"the arguments of `{function.text}`")
    values = {
        names[0]: value
        for names, value in zip(signature.parameters, arguments.positional, strict=False)
    }
    first = {name: names[0] for names in signature.parameters for name in names}
    for name, value in arguments.keywords.items():
        if name == "name" and name not in first and function.path.startswith("tf."):
            continue
        if name not in first or first[name] in values:
            raise Unknown(f"`{name}=` of `{function.text}`")
        values[first[name]] = value
    for name, default in signature.defaults.items():
        assert default is None or isinstance(default, bool | int | float | str)
        values.setdefault(name, constant(default))
    if len(values) < len(signature.parameters):
        raise Unknown(f"the arguments of `{function.text}`")
    return values
