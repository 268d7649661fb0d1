"""The functions that stored code may call, and what they compute: one entry a function, exact or absent.

An entry's signature is the original's. `x|input_tensor` are two names of one argument (Keras's and TensorFlow's);
defaults are JSON; behind `*` arguments count by name alone, where versions differ in their order. What a function does
not take here it is not understood with.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from unnest.core.keras3.lambdas import operators
from unnest.core.keras3.lambdas.operators import FLOAT, calculation, kind
from unnest.core.keras3.lambdas.values import (
    ATOM,
    CORE,
    IMAGE,
    MATH,
    NN,
    NUMPY,
    Arguments,
    Array,
    Const,
    Dialect,
    Items,
    Method,
    Name,
    NotUnderstood,
    Shape,
    Tensor,
    Value,
    array,
    bounded,
    constant,
    items,
    number,
    operation,
    part,
    plain,
)
from unnest.core.keras3.op_nodes import OpNode
from unnest.core.model import Json

ROOTS: Mapping[str, str] = {"K": "keras.backend", "tf": "tensorflow", "keras": "keras", "np": "numpy", "math": "math"}
"""What a bare name is taken for; besides these only the builtins in the table."""

SHORT: Mapping[str, str] = {"tensorflow": "tf", "tf.keras": "keras", "keras.backend": "K", "numpy": "np"}
"""Spellings of one module, replaced one after the other; the table has the short ones."""

PAIR = MATRIX = 2

CONSTANTS: Mapping[str, float | None] = {
    "np.pi": math.pi,
    "math.pi": math.pi,
    "np.e": math.e,
    "math.e": math.e,
    "tf.newaxis": None,
    "np.newaxis": None,
}

DTYPES = ("float32", "int32", "int64", "uint8", "bool")
"""Those that a cast gives the same numbers in on all backends."""


@dataclass(frozen=True, slots=True)
class Bound:
    """The arguments of one call by their first names in the signature."""

    values: Mapping[str, Value]
    dialect: Dialect

    def __getitem__(self, name: str) -> Value:
        return self.values[name]

    def tensor(self, name: str) -> Tensor:
        """A tensor of whatever dtype."""
        value = self[name]
        if not isinstance(value, Tensor):
            raise NotUnderstood(f"{kind(value)} in a tensor's place")
        return value

    def floats(self, name: str) -> Tensor:
        """A tensor of floats."""
        value = self.tensor(name)
        if value.dtype != FLOAT:
            raise NotUnderstood(f"arithmetic on {value.dtype}")
        return value

    def tensors(self, name: str) -> list[Tensor]:
        """A list of tensors of one dtype."""
        value = self[name]
        if not isinstance(value, Items) or not value.items:
            raise NotUnderstood(f"{kind(value)} in the place of a list of tensors")
        parts = [part for part in value.items if isinstance(part, Tensor)]
        if len(parts) != len(value.items) or len({part.dtype for part in parts}) > 1:
            raise NotUnderstood("a list that holds more than tensors of one kind")
        return parts

    def number(self, name: str) -> int | float:
        """A plain number."""
        value = number(self[name])
        if value is None:
            raise NotUnderstood(f"{kind(self[name])} in a number's place")
        return value

    def integer(self, name: str) -> int:
        """A plain integer."""
        value = self.number(name)
        if not isinstance(value, int):
            raise NotUnderstood("a number in an integer's place")
        return value

    def integers(self, name: str) -> list[int]:
        """A list of plain integers."""
        value = self[name]
        numbers = [number(part) for part in value.items] if isinstance(value, Items) else [None]
        integers = [each for each in numbers if isinstance(each, int)]
        if len(integers) != len(numbers):
            raise NotUnderstood(f"{kind(value)} that should hold integers alone")
        return integers

    def axis(self, name: str = "axis") -> Json:
        """One axis, several, or all (null)."""
        value = self[name]
        if isinstance(value, Const) and value.value is None:
            return None
        return self.integers(name) if isinstance(value, Items) else self.integer(name)

    def flag(self, name: str) -> bool:
        """A truth value; None counts as false, as TensorFlow's old defaults have it."""
        value = self[name]
        if not isinstance(value, Const) or not (value.value is None or isinstance(value.value, bool)):
            raise NotUnderstood(f"{kind(value)} in the place of a truth value")
        return bool(value.value)

    def text(self, name: str) -> str:
        """A text."""
        value = self[name]
        if not isinstance(value, Const) or not isinstance(value.value, str):
            raise NotUnderstood(f"{kind(value)} in the place of text")
        return value.value

    def dtype(self, name: str) -> str:
        """A dtype by text or as a name of TensorFlow's or NumPy's."""
        value = self[name]
        text = value.path.rpartition(".")[2] if isinstance(value, Name) else self.text(name)
        if text not in DTYPES:
            raise NotUnderstood(f"dtype {text}")
        return text

    def only(self, **expected: Json) -> None:
        """Refuse where an argument has another value than the one that is understood."""
        for name, value in expected.items():
            given = self[name]
            if (
                not isinstance(given, Const)
                or given.value != value
                or isinstance(given.value, bool) != isinstance(value, bool)
            ):
                raise NotUnderstood(f"`{name}={given.text}`")


Handler = Callable[[Bound], Value]


@dataclass(frozen=True, slots=True)
class Function:
    """A known function: its arguments, each with all its names, their defaults, and what it computes."""

    parameters: tuple[tuple[str, ...], ...]
    positional: int
    defaults: Mapping[str, Const]
    compute: Handler


FUNCTIONS: dict[str, Function] = {}


def known(names: str, signature: str) -> Callable[[Handler], Handler]:
    """Enter a function under names apart by spaces."""
    parameters, defaults = [], {}
    positional, _, by_name = signature.partition(" * ")
    for parameter in (*positional.split(), *by_name.split()):
        spelt, _, default = parameter.partition("=")
        parameters.append(tuple(spelt.split("|")))
        if default:
            defaults[parameters[-1][0]] = constant(json.loads(default))

    def enter(compute: Handler) -> Handler:
        for name in names.split():
            assert name not in FUNCTIONS, name
            FUNCTIONS[name] = Function(tuple(parameters), len(positional.split()), defaults, compute)
        return compute

    return enter


def named(text: str, dialect: Dialect) -> Value:
    """What a global stands for.

    Raises:
        NotUnderstood: For every name but a few: globals are not stored.

    """
    if text in ROOTS:
        dialect.taken[text] = ROOTS[text]
        return Name(_short(ROOTS[text]), text)
    if text in FUNCTIONS and "." not in text:
        dialect.taken[text] = "the builtin"
        return Name(text, text)
    raise NotUnderstood(f"`{text}`, a name whose value is not stored")


def _short(path: str) -> str:
    for long, short in SHORT.items():
        if path == long or path.startswith(f"{long}."):
            path = short + path.removeprefix(long)
    return path


def attribute(of: Value, field: str) -> Value:
    """`of.field`."""
    text = bounded(f"{of.text}.{field}")
    if isinstance(of, Name):
        path = _short(f"{of.path}.{field}")
        return Const(CONSTANTS[path], text) if path in CONSTANTS else Name(path, text)
    if isinstance(of, Tensor) and field == "shape":
        return replace(_shape_of(of), text=text)
    if (isinstance(of, Tensor) and field == "get_shape") or (isinstance(of, Shape) and field == "as_list"):
        return Method(of, field, text)
    raise NotUnderstood(f"`.{field}` of {kind(of)}")


def call(function: Value, arguments: Arguments, dialect: Dialect) -> Value:
    """`function(arguments)`."""
    text = bounded(f"{function.text}({arguments.text})")
    if isinstance(function, Method):
        if arguments.positional or arguments.keywords:
            raise NotUnderstood(f"arguments of `{function.text}`")
        return replace(function.of if isinstance(function.of, Shape) else _shape_of(function.of), text=text)
    if not isinstance(function, Name) or function.path not in FUNCTIONS:
        raise NotUnderstood(f"a call of {kind(function)}")
    if function.path.startswith("K.") and dialect.backend != "tensorflow" and function.path not in ALIKE:
        raise NotUnderstood(f"`{function.text}`, which depends on the backend")
    if function.path.startswith(("K.", "keras.")) and dialect.keras_3 and function.path not in ALIKE:
        raise NotUnderstood(f"`{function.text}` of Keras 3")
    known = FUNCTIONS[function.path]
    value = known.compute(Bound(_bound(function, known, arguments), dialect))
    if isinstance(value, Items):
        parts = [each for each in value.items if isinstance(each, Tensor)]
        parts = [replace(each, text=f"{text}[{place}]") for place, each in enumerate(parts)]
        return replace(items("list", parts), spelt=text)
    return replace(value, text=text, rank=ATOM) if isinstance(value, (Tensor, Array, Const, Shape)) else value


def _bound(function: Name, known: Function, arguments: Arguments) -> dict[str, Value]:
    if len(arguments.positional) > known.positional:
        raise NotUnderstood(f"the arguments of `{function.text}`")
    values = {names[0]: value for names, value in zip(known.parameters, arguments.positional, strict=False)}
    first = {name: names[0] for names in known.parameters for name in names}
    for name, value in arguments.keywords.items():
        if name == "name" and name not in first and function.path.startswith("tf."):
            continue
        if name not in first or first[name] in values:
            raise NotUnderstood(f"`{name}=` of `{function.text}`")
        values[first[name]] = value
    values = {**known.defaults, **values}
    if len(values) < len(known.parameters):
        raise NotUnderstood(f"the arguments of `{function.text}`")
    return values


def _shape_of(tensor: Tensor) -> Shape:
    if tensor.shape is None:
        raise NotUnderstood("a shape that is not known")
    return Shape(tensor.shape, dynamic=False, text="")


def _op(module: str, class_name: str, *tensors: Tensor, **config: Json) -> Tensor:
    return operation(module, class_name, config, [tensor.operand for tensor in tensors], tensors)


# Elementwise


def _elementwise(names: str, module: str, class_name: str, **config: Json) -> None:
    @known(names, "x|features|tensor|logits|input|a")
    def compute(call: Bound) -> Value:
        x = call.floats("x")
        return replace(_op(module, class_name, x, **config), shape=x.shape)


_elementwise("K.exp tf.exp tf.math.exp", NUMPY, "Exp")
_elementwise("K.log tf.log tf.math.log", NUMPY, "Log")
_elementwise("tf.log1p tf.math.log1p", NUMPY, "Log1p")
_elementwise("tf.expm1 tf.math.expm1", NUMPY, "Expm1")
_elementwise("K.square tf.square tf.math.square", NUMPY, "Square")
_elementwise("tf.sqrt tf.math.sqrt", NUMPY, "Sqrt")
_elementwise("tf.rsqrt tf.math.rsqrt", MATH, "Rsqrt")
_elementwise("K.abs tf.abs tf.math.abs", NUMPY, "Absolute")
_elementwise("K.sign tf.sign tf.math.sign", NUMPY, "Sign")
_elementwise("K.sin tf.sin tf.math.sin", NUMPY, "Sin")
_elementwise("K.cos tf.cos tf.math.cos", NUMPY, "Cos")
_elementwise("tf.tan tf.math.tan", NUMPY, "Tan")
_elementwise("tf.atan tf.math.atan", NUMPY, "Arctan")
_elementwise("K.tanh tf.tanh tf.nn.tanh tf.math.tanh keras.activations.tanh", NUMPY, "Tanh")
_elementwise("tf.floor tf.math.floor", NUMPY, "Floor")
_elementwise("tf.ceil tf.math.ceil", NUMPY, "Ceil")
_elementwise("K.round tf.round tf.math.round", NUMPY, "Round", decimals=0)
_elementwise("tf.negative tf.math.negative", NUMPY, "Negative")
_elementwise("tf.reciprocal tf.math.reciprocal", NUMPY, "Reciprocal")
_elementwise("K.sigmoid tf.sigmoid tf.nn.sigmoid tf.math.sigmoid keras.activations.sigmoid", NN, "Sigmoid")
_elementwise("K.softplus tf.nn.softplus tf.math.softplus keras.activations.softplus", NN, "Softplus")
_elementwise("K.softsign tf.nn.softsign tf.math.softsign keras.activations.softsign", NN, "Softsign")
_elementwise("tf.nn.relu", NN, "Relu")
_elementwise("tf.nn.relu6", NN, "Relu6")
_elementwise("tf.nn.selu keras.activations.selu", NN, "Selu")
_elementwise("tf.nn.elu", NN, "Elu", alpha=1.0)
_elementwise("tf.nn.swish tf.nn.silu keras.activations.swish", NN, "Silu")


@known("abs", "x")
def _abs(call: Bound) -> Value:
    if isinstance(call["x"], Const):
        return constant(abs(call.number("x")))
    return _op(NUMPY, "Absolute", call.floats("x"))


@known("K.sqrt", "x")
def _backend_sqrt(call: Bound) -> Value:
    """Negative numbers count as zero."""
    return _op(NUMPY, "Sqrt", calculation("Maximum", call.floats("x"), constant(0.0)))


@known("K.hard_sigmoid keras.activations.hard_sigmoid", "x")
def _hard_sigmoid(call: Bound) -> Value:
    """The slope of Keras 1 and 2 is 0.2."""
    line = calculation("Add", calculation("Multiply", call.floats("x"), constant(0.2)), constant(0.5))
    return _op(NUMPY, "Clip", line, x_min=0.0, x_max=1.0)


@known("K.relu keras.activations.relu", "x alpha=0.0 max_value=null")
def _backend_relu(call: Bound) -> Value:
    x, alpha = call.floats("x"), call.number("alpha")
    if isinstance(call["max_value"], Const) and call["max_value"].value is None:
        return _op(NN, "LeakyRelu", x, negative_slope=alpha) if alpha else _op(NN, "Relu", x)
    if alpha or call.number("max_value") < 0:
        raise NotUnderstood("`K.relu` with both a slope and a maximum")
    return _op(NUMPY, "Clip", x, x_min=0.0, x_max=call.number("max_value"))


@known("tf.nn.leaky_relu", "x|features alpha=0.2")
def _leaky_relu(call: Bound) -> Value:
    return _op(NN, "LeakyRelu", call.floats("x"), negative_slope=call.number("alpha"))


@known("K.elu keras.activations.elu", "x alpha=1.0")
def _elu(call: Bound) -> Value:
    return _op(NN, "Elu", call.floats("x"), alpha=call.number("alpha"))


@known("tf.nn.gelu", "x|features approximate=false")
def _gelu(call: Bound) -> Value:
    return _op(NN, "Gelu", call.floats("x"), approximate=call.flag("approximate"))


@known("K.softmax tf.nn.softmax keras.activations.softmax", "x|logits axis|dim=-1")
def _softmax(call: Bound) -> Value:
    axis = call["axis"]
    last = isinstance(axis, Const) and axis.value is None
    x = call.floats("x")
    return replace(_op(NN, "Softmax", x, axis=-1 if last else call.integer("axis")), shape=x.shape)


@known("tf.nn.log_softmax tf.math.log_softmax", "x|logits axis|dim=-1")
def _log_softmax(call: Bound) -> Value:
    return _op(NN, "LogSoftmax", call.floats("x"), axis=call.integer("axis"))


@known("K.clip tf.clip_by_value", "x|t min_value|clip_value_min max_value|clip_value_max")
def _clip(call: Bound) -> Value:
    low, high = call.number("min_value"), call.number("max_value")
    if low > high:
        raise NotUnderstood("a clip from high to low")
    return _op(NUMPY, "Clip", call.floats("x"), x_min=low, x_max=high)


@known("K.stop_gradient tf.stop_gradient", "x|variables|input")
def _stop_gradient(call: Bound) -> Value:
    return _op(CORE, "StopGradient", call.tensor("x"))


@known("tf.identity K.identity", "x|input")
def _identity(call: Bound) -> Value:
    return call.tensor("x")


# Of two


def _of_two(names: str, class_name: str, dtype: str = FLOAT) -> None:
    @known(names, "x|a y|b")
    def compute(call: Bound) -> Value:
        return replace(calculation(class_name, call["x"], call["y"]), dtype=dtype)


_of_two("K.maximum tf.maximum tf.math.maximum", "Maximum")
_of_two("K.minimum tf.minimum tf.math.minimum", "Minimum")
_of_two("tf.add tf.math.add", "Add")
_of_two("tf.subtract tf.math.subtract", "Subtract")
_of_two("tf.multiply tf.math.multiply", "Multiply")
_of_two("tf.divide tf.math.divide tf.div tf.truediv tf.math.truediv", "Divide")
_of_two("tf.pow tf.math.pow K.pow pow", "Power")
_of_two("tf.floormod tf.math.floormod tf.math.mod tf.mod", "Mod")
_of_two("K.equal tf.equal tf.math.equal", "Equal", "bool")
_of_two("K.not_equal tf.not_equal tf.math.not_equal", "NotEqual", "bool")
_of_two("K.greater tf.greater tf.math.greater", "Greater", "bool")
_of_two("K.greater_equal tf.greater_equal tf.math.greater_equal", "GreaterEqual", "bool")
_of_two("K.less tf.less tf.math.less", "Less", "bool")
_of_two("K.less_equal tf.less_equal tf.math.less_equal", "LessEqual", "bool")
_of_two("tf.logical_and tf.math.logical_and", "LogicalAnd", "bool")
_of_two("tf.logical_or tf.math.logical_or", "LogicalOr", "bool")


@known("tf.logical_not tf.math.logical_not", "x")
def _logical_not(call: Bound) -> Value:
    return calculation("LogicalNot", call["x"])


@known("tf.squared_difference tf.math.squared_difference", "x y")
def _squared_difference(call: Bound) -> Value:
    return _op(NUMPY, "Square", calculation("Subtract", call["x"], call["y"]))


@known("tf.add_n tf.math.add_n", "inputs")
def _add_n(call: Bound) -> Value:
    total, *others = call.tensors("inputs")
    for other in others:
        total = calculation("Add", total, other)
    return calculation("Multiply", total, constant(1.0)) if not others else total


@known("tf.matmul tf.linalg.matmul", "a b transpose_a=false transpose_b=false")
def _matmul(call: Bound) -> Value:
    a, b = (_swapped(call.floats(side)) if call.flag(f"transpose_{side}") else call.floats(side) for side in ("a", "b"))
    return calculation("Matmul", a, b)


@known("K.batch_dot", "x y axes=null")
def _batch_dot(call: Bound) -> Value:
    """Of two matrices, or two batches of them, along one axis each: where all versions agree."""
    x, y, axes = call.floats("x"), call.floats("y"), call.axis("axes")
    along_x, along_y = axes if isinstance(axes, list) and len(axes) == PAIR else (axes, axes)
    if x.shape is None or y.shape is None or len(x.shape) != len(y.shape):
        raise NotUnderstood("`K.batch_dot` of unknown or different ranks")
    if len(x.shape) == MATRIX and (along_x, along_y) == (1, 1):
        return _op(NUMPY, "Sum", calculation("Multiply", x, y), axis=1, keepdims=True)
    if len(x.shape) != MATRIX + 1 or not {along_x, along_y} <= {1, 2}:
        raise NotUnderstood("`K.batch_dot` along these axes")
    assert isinstance(along_x, int)
    assert isinstance(along_y, int)
    left = x if along_x == MATRIX else _swapped(x)
    right = _swapped(y) if along_y == MATRIX else y
    rest_x, rest_y = x.shape[3 - along_x], y.shape[3 - along_y]
    return replace(calculation("Matmul", left, right), shape=(None, rest_x, rest_y))


def _swapped(tensor: Tensor) -> Tensor:
    return _op(NUMPY, "Swapaxes", tensor, axis1=-1, axis2=-2)


@known("tf.einsum", "subscripts|equation x y")
def _einsum(call: Bound) -> Value:
    x, y = call.floats("x"), call.floats("y")
    return operation(NUMPY, "Einsum", {"subscripts": call.text("subscripts")}, [x.operand, y.operand], [x, y])


@known("tf.where", "condition x y")
def _where(call: Bound) -> Value:
    """TensorFlow 1 has no broadcasting here, but takes whole rows by a vector: shapes must be known to be one."""
    condition, x, y = call.tensor("condition"), call.floats("x"), call.floats("y")
    shapes = {condition.shape, x.shape, y.shape}
    if condition.dtype != "bool" or (call.dialect.tensorflow != "2" and (len(shapes) > 1 or None in shapes)):
        raise NotUnderstood("`tf.where` of what may not have one shape")
    chosen = operation(NUMPY, "Where", {}, [condition.operand, x.operand, y.operand], [x, condition, y])
    return replace(chosen, shape=x.shape if len(shapes) == 1 else None)


@known("tf.scalar_mul tf.math.scalar_mul", "scalar x")
def _scalar_mul(call: Bound) -> Value:
    return calculation("Multiply", call.floats("x"), constant(call.number("scalar")))


# Reductions


def _reduction(names: str, module: str, class_name: str, dtype: str = FLOAT, **config: Json) -> None:
    @known(names, "x|input_tensor axis|reduction_indices=null keepdims|keep_dims=false")
    def compute(call: Bound) -> Value:
        x = call.tensor("x")
        if x.dtype != dtype:
            raise NotUnderstood(f"a reduction of {x.dtype}")
        return _op(module, class_name, x, axis=call.axis(), keepdims=call.flag("keepdims"), **config)


_reduction("K.sum tf.reduce_sum tf.math.reduce_sum", NUMPY, "Sum")
_reduction("K.mean tf.reduce_mean tf.math.reduce_mean", NUMPY, "Mean")
_reduction("K.max tf.reduce_max tf.math.reduce_max", NUMPY, "Max")
_reduction("K.min tf.reduce_min tf.math.reduce_min", NUMPY, "Min")
_reduction("K.prod tf.reduce_prod tf.math.reduce_prod", NUMPY, "Prod")
_reduction("K.std tf.math.reduce_std", NUMPY, "Std")
_reduction("K.var tf.math.reduce_variance", NUMPY, "Var")
_reduction("K.logsumexp tf.reduce_logsumexp tf.math.reduce_logsumexp", MATH, "Logsumexp")
_reduction("tf.reduce_all tf.math.reduce_all", NUMPY, "All", "bool")
_reduction("tf.reduce_any tf.math.reduce_any", NUMPY, "Any", "bool")

TF_L2_EPSILON = "1e-12"
"""Under the root: TensorFlow's default, and what Keras's backend leaves it at."""


def _normalized(call: Bound, epsilon: float) -> Value:
    """Keras 3 bounds the norm where TensorFlow bounds its square."""
    if not epsilon > 0:
        raise NotUnderstood("an epsilon that is not positive")
    return _op(NN, "Normalize", call.floats("x"), axis=call.axis(), order=2, epsilon=math.sqrt(epsilon))


@known("K.l2_normalize", "x axis=null")
def _backend_l2_normalize(call: Bound) -> Value:
    return _normalized(call, float(TF_L2_EPSILON))


@known("tf.nn.l2_normalize tf.math.l2_normalize tf.linalg.l2_normalize", f"x axis|dim epsilon={TF_L2_EPSILON}")
def _l2_normalize(call: Bound) -> Value:
    return _normalized(call, call.number("epsilon"))


@known("tf.norm tf.linalg.norm", 'x|tensor ord="euclidean" axis=null keepdims|keep_dims=false')
def _norm(call: Bound) -> Value:
    call.only(ord="euclidean")
    axis = call.axis()
    if isinstance(axis, list):
        raise NotUnderstood("a norm over several axes")
    squares = _op(NUMPY, "Square", call.floats("x"))
    return _op(NUMPY, "Sqrt", _op(NUMPY, "Sum", squares, axis=axis, keepdims=call.flag("keepdims")))


def _position(names: str, class_name: str, axis: str) -> None:
    @known(names, f"x|input axis|dimension={axis}")
    def compute(call: Bound) -> Value:
        return replace(_op(NUMPY, class_name, call.floats("x"), axis=call.integer("axis")), dtype="int64")


_position("K.argmax", "Argmax", "-1")
_position("K.argmin", "Argmin", "-1")
_position("tf.argmax tf.math.argmax", "Argmax", "0")
_position("tf.argmin tf.math.argmin", "Argmin", "0")


@known("K.cumsum tf.cumsum tf.math.cumsum", "x axis=0")
def _cumsum(call: Bound) -> Value:
    return _op(NUMPY, "Cumsum", call.floats("x"), axis=call.integer("axis"))


@known("K.cumprod tf.cumprod tf.math.cumprod", "x axis=0")
def _cumprod(call: Bound) -> Value:
    return _op(NUMPY, "Cumprod", call.floats("x"), axis=call.integer("axis"))


# Shapes


@known("K.expand_dims", "x axis|dim=-1")
def _backend_expand_dims(call: Bound) -> Value:
    return _op(NUMPY, "ExpandDims", call.tensor("x"), axis=call.integer("axis"))


@known("tf.expand_dims", "x|input axis|dim")
def _expand_dims(call: Bound) -> Value:
    return _op(NUMPY, "ExpandDims", call.tensor("x"), axis=call.integer("axis"))


@known("K.squeeze tf.squeeze", "x|input axis|squeeze_dims")
def _squeeze(call: Bound) -> Value:
    axis = call.axis()
    if axis is None:
        raise NotUnderstood("a squeeze of all axes")
    return _op(NUMPY, "Squeeze", call.tensor("x"), axis=axis)


@known("K.reshape tf.reshape", "x|tensor shape")
def _reshape(call: Bound) -> Value:
    shape = call.integers("shape")
    if shape.count(-1) > 1 or any(size < -1 for size in shape):
        raise NotUnderstood("a shape with several unknown sizes")
    return _op(NUMPY, "Reshape", call.tensor("x"), newshape=shape)


@known("K.flatten", "x")
def _flatten(call: Bound) -> Value:
    return _op(NUMPY, "Reshape", call.tensor("x"), newshape=[-1])


@known("K.permute_dimensions tf.transpose", "x|a pattern|perm")
def _transpose(call: Bound) -> Value:
    return _op(NUMPY, "Transpose", call.tensor("x"), axes=call.integers("pattern"))


def _joined(class_name: str, call: Bound) -> Tensor:
    tensors = call.tensors("tensors")
    return operation(NUMPY, class_name, {"axis": call.integer("axis")}, [[each.operand for each in tensors]], tensors)


@known("K.concatenate keras.layers.concatenate", "tensors|inputs axis=-1")
def _backend_concatenate(call: Bound) -> Value:
    return _joined("Concatenate", call)


@known("tf.concat", "tensors|values axis|concat_dim")
def _concat(call: Bound) -> Value:
    return _joined("Concatenate", call)


@known("K.stack tf.stack", "tensors|x|values axis=0")
def _stack(call: Bound) -> Value:
    return _joined("Stack", call)


@known("K.tile tf.tile", "x|input n|multiples")
def _tile(call: Bound) -> Value:
    return _op(NUMPY, "Tile", call.tensor("x"), repeats=call.integers("n"))


@known("K.repeat", "x n")
def _repeat(call: Bound) -> Value:
    return _op(NUMPY, "Tile", _op(NUMPY, "ExpandDims", call.tensor("x"), axis=1), repeats=[1, call.integer("n"), 1])


@known("K.repeat_elements", "x rep axis")
def _repeat_elements(call: Bound) -> Value:
    return _op(NUMPY, "Repeat", call.tensor("x"), repeats=call.integer("rep"), axis=call.integer("axis"))


@known("tf.repeat", "x|input repeats axis")
def _repeat_along(call: Bound) -> Value:
    return _op(NUMPY, "Repeat", call.tensor("x"), repeats=call.integer("repeats"), axis=call.integer("axis"))


@known("K.reverse tf.reverse", "x|tensor axes|axis")
def _reverse(call: Bound) -> Value:
    axis = call.axis("axes")
    if axis is None:
        raise NotUnderstood("a reversal without axes")
    return _op(NUMPY, "Flip", call.tensor("x"), axis=axis)


@known("tf.pad", 'x|tensor paddings mode="CONSTANT" * constant_values=0')
def _pad(call: Bound) -> Value:
    widths, mode = call["paddings"], call.text("mode").lower()
    nested = array(widths)
    pairs = isinstance(nested, list) and all(
        isinstance(pair, list) and len(pair) == PAIR and all(isinstance(each, int) and each >= 0 for each in pair)
        for pair in nested
    )
    if not pairs or mode not in {"constant", "reflect", "symmetric"}:
        raise NotUnderstood("the padding")
    padded = _op(NUMPY, "Pad", call.floats("x"), pad_width=nested, mode=mode)
    if mode != "constant":
        return padded
    return _with_keyword(padded, "constant_values", call.number("constant_values"))


def _with_keyword(tensor: Tensor, keyword: str, value: Json) -> Tensor:
    node = tensor.operand
    assert isinstance(node, OpNode)
    return replace(tensor, operand=replace(node, kwargs={keyword: value}))


@known("K.temporal_padding", "x padding=1")
def _temporal_padding(call: Bound) -> Value:
    width = call["padding"]
    pair = call.integers("padding") if isinstance(width, Items) else [call.integer("padding")] * 2
    if len(pair) != PAIR:
        raise NotUnderstood("the padding")
    padded = _op(NUMPY, "Pad", call.floats("x"), pad_width=[[0, 0], pair, [0, 0]], mode="constant")
    return _with_keyword(padded, "constant_values", 0)


@known("tf.split", "x|value num_or_size_splits axis=0")
def _split(call: Bound) -> Value:
    x, sections, axis = call.tensor("x"), call["num_or_size_splits"], call.integer("axis")
    if isinstance(sections, Items):
        sizes = call.integers("num_or_size_splits")
        if any(size < 0 for size in sizes) or not sizes:
            raise NotUnderstood("a split in unknown sizes")
        count = len(sizes)
        config: Json = [sum(sizes[: index + 1]) for index in range(count - 1)]
    else:
        count = call.integer("num_or_size_splits")
        config = count
    if not 1 <= count <= MAX_PARTS:
        raise NotUnderstood("a split in many parts")
    split = _op(NUMPY, "Split", x, indices_or_sections=config, axis=axis)
    return items("list", [part(split, index) for index in range(count)])


@known("tf.unstack", "x|value num=null axis=0")
def _unstack(call: Bound) -> Value:
    """Python sees as many tensors as the shape says."""
    x, axis = call.tensor("x"), call.integer("axis")
    count = x.shape[axis] if x.shape is not None and -len(x.shape) <= axis < len(x.shape) else None
    if count is None or count > MAX_PARTS or call.axis("num") not in {None, count}:
        raise NotUnderstood("`tf.unstack` of an unknown size")
    unstacked = _op(CORE, "Unstack", x, num=count, axis=axis)
    return items("list", [part(unstacked, index) for index in range(count)])


MAX_PARTS = 100


@known("K.zeros_like tf.zeros_like", "x|tensor|input")
def _zeros_like(call: Bound) -> Value:
    x = call.floats("x")
    return replace(_op(NUMPY, "ZerosLike", x), shape=x.shape)


@known("K.ones_like tf.ones_like", "x|tensor|input")
def _ones_like(call: Bound) -> Value:
    x = call.floats("x")
    return replace(_op(NUMPY, "OnesLike", x), shape=x.shape)


@known("K.gather", "x|reference indices")
def _backend_gather(call: Bound) -> Value:
    return _taken(call, 0)


@known("tf.gather", "x|params indices * axis=0")
def _gather(call: Bound) -> Value:
    return _taken(call, call.integer("axis"))


def _taken(call: Bound, axis: int) -> Value:
    x, indices = call.tensor("x"), call["indices"]
    if isinstance(indices, Const):
        index: Json = call.integer("indices")
    else:
        index = {"class_name": "__numpy__", "config": {"value": call.integers("indices"), "dtype": "int32"}}
    return operation(NUMPY, "Take", {"axis": axis}, [x.operand, index], [x])


# Kinds of numbers


@known("K.cast tf.cast", "x|value dtype")
def _cast(call: Bound) -> Value:
    dtype = call.dtype("dtype")
    return replace(_op(CORE, "Cast", call.tensor("x"), dtype=dtype), dtype=dtype)


@known("tf.to_float", "x")
def _to_float(call: Bound) -> Value:
    return replace(_op(CORE, "Cast", call.tensor("x"), dtype=FLOAT), dtype=FLOAT)


@known("K.one_hot", "x|indices num_classes")
def _backend_one_hot(call: Bound) -> Value:
    return _one_hot_of(call, "num_classes")


@known("tf.one_hot", "x|indices depth")
def _one_hot(call: Bound) -> Value:
    return _one_hot_of(call, "depth")


def _one_hot_of(call: Bound, size: str) -> Value:
    x = call.tensor("x")
    if x.dtype not in {"int32", "int64", "uint8"}:
        raise NotUnderstood(f"one-hot rows of {x.dtype}")
    return replace(_op(NN, "OneHot", x, num_classes=call.integer(size), axis=-1, dtype=FLOAT), dtype=FLOAT)


# Images


@known("tf.image.resize", 'x|images size method="bilinear"')
def _resize(call: Bound) -> Value:
    """TensorFlow 2's puts pixels where Keras 3's does; before, `tf.image.resize` was another function."""
    if call.dialect.tensorflow != "2":
        raise NotUnderstood("`tf.image.resize` of an unknown TensorFlow, which may not use half-pixel centres")
    method = call["method"]
    spelt = method.path.rpartition(".")[2].lower() if isinstance(method, Name) else call.text("method")
    if spelt != "bilinear":
        raise NotUnderstood(f"`tf.image.resize` by {spelt}")
    return _op(IMAGE, "Resize", call.floats("x"), size=_size(call), interpolation=spelt, data_format="channels_last")


def _size(call: Bound) -> list[int]:
    size = call.integers("size")
    if len(size) != PAIR or min(size) < 1:
        raise NotUnderstood("the size")
    return size


@known("K.resize_images", 'x height_factor width_factor data_format|dim_ordering interpolation="nearest"')
def _resize_images(call: Bound) -> Value:
    """By repetition: whole factors and the nearest pixel."""
    call.only(interpolation="nearest")
    axes = {"channels_last": (1, 2), "tf": (1, 2), "channels_first": (2, 3), "th": (2, 3)}.get(call.text("data_format"))
    if axes is None:
        raise NotUnderstood("the data format")
    image = call.floats("x")
    for axis, factor in zip(axes, ("height_factor", "width_factor"), strict=True):
        if call.integer(factor) < 1:
            raise NotUnderstood("the factor")
        image = _op(NUMPY, "Repeat", image, repeats=call.integer(factor), axis=axis)
    return image


@known("tf.image.rgb_to_grayscale", "x|images")
def _rgb_to_grayscale(call: Bound) -> Value:
    return _op(IMAGE, "RGBToGrayscale", call.floats("x"), data_format="channels_last")


@known("tf.image.flip_left_right", "x|image")
def _flip_left_right(call: Bound) -> Value:
    return _op(NUMPY, "Flip", call.tensor("x"), axis=-2)


@known("tf.image.flip_up_down", "x|image")
def _flip_up_down(call: Bound) -> Value:
    return _op(NUMPY, "Flip", call.tensor("x"), axis=-3)


@known("tf.depth_to_space tf.nn.depth_to_space", "x|input block_size")
def _depth_to_space(call: Bound) -> Value:
    return _op(NN, "DepthToSpace", call.floats("x"), block_size=call.integer("block_size"), data_format="channels_last")


@known("tf.space_to_depth tf.nn.space_to_depth", "x|input block_size")
def _space_to_depth(call: Bound) -> Value:
    return _op(NN, "SpaceToDepth", call.floats("x"), block_size=call.integer("block_size"), data_format="channels_last")


@known("K.batch_flatten", "x")
def _batch_flatten(call: Bound) -> Value:
    x = call.tensor("x")
    if x.shape is None or None in x.shape[1:]:
        raise NotUnderstood("`K.batch_flatten` of an unknown shape")
    return _op(NUMPY, "Reshape", x, newshape=[-1, math.prod(size for size in x.shape[1:] if size is not None)])


# Constants


def _of_number(names: str, compute: Callable[[float], float]) -> None:
    @known(names, "x")
    def calculate(call: Bound) -> Value:
        try:
            value = compute(call.number("x"))
        except (ArithmeticError, ValueError) as error:
            raise NotUnderstood("an impossible calculation") from error
        return _plain(value)


def _plain(value: float) -> Const:
    if not plain(value):
        raise NotUnderstood("a number beyond 32 bits")
    return constant(value)


_of_number("np.sqrt math.sqrt", math.sqrt)
_of_number("np.log math.log", math.log)
_of_number("np.exp math.exp", math.exp)
_of_number("float np.float32 np.float64", float)
_of_number("int", int)


@known("K.epsilon", "")
def _epsilon(_: Bound) -> Value:
    return constant(1e-7)


@known("K.floatx", "")
def _floatx(_: Bound) -> Value:
    return constant(FLOAT)


@known("K.constant", "value")
def _backend_constant(call: Bound) -> Value:
    return _float_constant(call)


@known("tf.constant", "value dtype=null")
def _constant(call: Bound) -> Value:
    """Integers make a tensor of integers, unless told otherwise."""
    written = call["dtype"]
    if isinstance(written, Const) and written.value is None:
        if not _holds_floats(call["value"]):
            raise NotUnderstood("a tensor of integers")
    elif call.dtype("dtype") != FLOAT:
        raise NotUnderstood("a tensor of another dtype than float32")
    return _float_constant(call)


def _holds_floats(value: Value) -> bool:
    if isinstance(value, Items):
        return any(_holds_floats(item) for item in value.items)
    return isinstance(value, Const) and isinstance(value.value, float)


def _float_constant(call: Bound) -> Value:
    if number(call["value"]) is not None:
        return constant(float(call.number("value")))
    return _array(call, "value")


@known("np.array np.asarray", "value|object dtype=null")
def _numpy_array(call: Bound) -> Value:
    written = call["dtype"]
    spelt = written.path if isinstance(written, Name) else written.value if isinstance(written, Const) else ""
    if spelt not in {None, "float32", "float64", "np.float32", "np.float64"}:
        raise NotUnderstood("an array of another dtype than floats")
    return _array(call, "value")


def _array(call: Bound, name: str) -> Array:
    nested = array(call[name])
    if nested is None:
        raise NotUnderstood("an array that does not hold numbers alone")
    return Array(nested, call[name].text)


# Builtins


def _of_numbers(name: str, compute: Callable[[float, float], float]) -> None:
    @known(name, "x y")
    def calculate(call: Bound) -> Value:
        return constant(compute(call.number("x"), call.number("y")))


_of_numbers("max", max)
_of_numbers("min", min)


@known("len", "x")
def _len(call: Bound) -> Value:
    value = call["x"]
    if not isinstance(value, Items):
        raise NotUnderstood(f"the length of {kind(value)}")
    return constant(len(value.items))


@known("sum", "x")
def _sum(call: Bound) -> Value:
    value = call["x"]
    if not isinstance(value, Items) or not value.items:
        raise NotUnderstood(f"the sum of {kind(value)}")
    total: Value = constant(0)
    for item in value.items:
        total = operators.binary("+", total, item)
    return total


@known("K.int_shape", "x")
def _int_shape(call: Bound) -> Value:
    return _shape_of(call.tensor("x"))


@known("K.ndim", "x")
def _ndim(call: Bound) -> Value:
    return constant(len(_shape_of(call.tensor("x")).dimensions))


ALIKE = frozenset(
    f"K.{name}"
    for name in (
        *("exp", "log", "square", "abs", "sign", "sin", "cos", "tanh", "sqrt", "clip", "maximum", "minimum"),
        *("sum", "mean", "max", "min", "prod", "expand_dims", "squeeze", "reshape", "flatten", "batch_flatten"),
        *("permute_dimensions", "concatenate", "stack", "reverse", "int_shape", "ndim", "epsilon", "floatx"),
    )
)
"""Functions of Keras's backend that compute the same on Theano, whose files do not always say so."""
