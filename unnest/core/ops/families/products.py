"""Operations on matrices: products, and what is made of two axes of one tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unnest.core.model import Json, Shape, Unknown
from unnest.core.ops.call import Value
from unnest.core.ops.keras3_nodes.function_registry import keras3
from unnest.core.ops.operation_kinds import Kind
from unnest.core.ops.product_axes import (
    MATRIX,
    Ranks,
    as_matrices,
    of_einsum,
    of_matrices,
    of_tensordot,
    operands_of,
)
from unnest.core.ops.read_whole_numbers import whole_number, whole_numbers
from unnest.core.ops.registry import axes_rule, define, define_all, shape_rule
from unnest.core.ops.shape_arithmetic import broadcast, shape_of

if TYPE_CHECKING:
    from unnest.core.ops.keras3_nodes.expression_values import SymbolicTensor
    from unnest.core.ops.keras3_nodes.function_call import FunctionCall

PAIR = 2

define(
    "matmul batch_matmul_v2",
    "x|a|x1 y|b|x2 transpose_a|adj_x transpose_b|adj_y adjoint_a adjoint_b",
    Kind.PRODUCT,
    nodes={
        "MatMul": "x y @transpose_a @transpose_b",
        **dict.fromkeys(
            ("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3"),
            "x y @adj_x:transpose_a @adj_y:transpose_b",
        ),
    },
    keras3_class="Matmul",
    python_operator="@",
)


@shape_rule("matmul")
def matmul_shape(x: Value, y: Value, transpose_a: Value = None, transpose_b: Value = None) -> Shape:
    """Shape of a matrix product: (*batch, rows of x, columns of y), with batch axes broadcast. Raises Unknown."""
    left, right = shape_of(x), shape_of(y)
    if min(len(left), len(right)) < MATRIX:
        raise Unknown("a matrix product of vectors")
    rows = left[-1] if transpose_a else left[-2]
    columns = right[-2] if transpose_b else right[-1]
    return (*broadcast([left[:-2], right[:-2]]), rows, columns)


@axes_rule("matmul")
def matmul_axes(
    ranks: Ranks,
    transpose_a: Value = None,
    transpose_b: Value = None,
    adjoint_a: Value = None,
    adjoint_b: Value = None,
) -> tuple[list[str], str]:
    """Axis letters of a matrix product, by the arguments that transpose its operands."""
    return of_matrices(
        as_matrices(ranks), (bool(transpose_a or adjoint_a), bool(transpose_b or adjoint_b))
    )


@keras3("tf.matmul tf.linalg.matmul", "a b transpose_a=false transpose_b=false")
def matmul_nodes(call: FunctionCall) -> SymbolicTensor:
    """Nodes of a matrix product of two tensors, or of a tensor and a constant matrix that is not transposed."""
    if _rank(call.nested("a")) == MATRIX and not call.flag("transpose_a"):
        b = _turned(call, call.floats("b")) if call.flag("transpose_b") else call.floats("b")
        return call.calculate("Matmul", call["a"], b)
    a = _turned(call, call.floats("a")) if call.flag("transpose_a") else call.floats("a")
    if _rank(call.nested("b")) == MATRIX and not call.flag("transpose_b"):
        return call.calculate("Matmul", a, call["b"])
    b = _turned(call, call.floats("b")) if call.flag("transpose_b") else call.floats("b")
    return call.calculate("Matmul", a, b)


define("matvec", "x|a y|b transpose_a adjoint_a", Kind.PRODUCT)


@shape_rule("matvec")
def matvec_shape(x: Value, y: Value, transpose_a: Value = None, adjoint_a: Value = None) -> Shape:
    """Shape of matrices times vectors: (*batch, rows), with batch axes broadcast. Raises Unknown."""
    left, right = shape_of(x), shape_of(y)
    if len(left) < MATRIX or not right:
        raise Unknown("a matrix product of vectors")
    return (*broadcast([left[:-2], right[:-1]]), left[-1] if transpose_a or adjoint_a else left[-2])


@keras3("tf.linalg.matvec", "a b transpose_a=false")
def matvec_nodes(call: FunctionCall) -> SymbolicTensor:
    """Nodes of a matrix times a vector, which gives a vector."""
    a = _turned(call, call.floats("a")) if call.flag("transpose_a") else call.floats("a")
    column = call.op("ExpandDims", call.floats("b"), axis=-1)
    return call.op("Squeeze", call.calculate("Matmul", a, column), axis=-1)


def _turned(call: FunctionCall, tensor: SymbolicTensor) -> SymbolicTensor:
    """Return a tensor with its last two axes exchanged."""
    return call.op("Swapaxes", tensor, axis1=-1, axis2=-2)


def _rank(nested: Json) -> int:
    """Return the number of axes of nested lists."""
    return 1 + _rank(nested[0]) if isinstance(nested, list) else 0


define("dot", "x|a|x1 y|b|x2", Kind.PRODUCT)


@axes_rule("dot")
def dot_axes(ranks: Ranks) -> tuple[list[str], str]:
    """Axis letters of a dot: x's last axis with y's last but one; y's other axes come behind x's."""
    first, second = as_matrices(ranks)
    return of_tensordot((first, second), ([first - 1], [max(second - 2, 0)]))


@keras3("K.dot", "x y")
def dot_nodes(call: FunctionCall) -> SymbolicTensor:
    """Nodes of a dot: x's last axis with y's last but one; y's other axes come behind x's. Raises Unknown."""
    x, nested = call.floats("x"), call.nested("y")
    rank = len(call.floats("y").shape or ()) if nested is None else _rank(nested)
    if x.shape is None or len(x.shape) < MATRIX or rank < MATRIX:
        raise Unknown("`K.dot` of unknown ranks, or of vectors")
    if rank == MATRIX:
        return call.calculate("Matmul", x, call["y"])
    return call.op("Tensordot", x, call.floats("y"), axes=[[-1], [rank - 2]])


SPACE = 3

define("cross", "x y|b", Kind.ROWWISE)


@shape_rule("cross")
def cross_shape(x: Value, y: Value) -> Shape:
    """Shape of vectors in space. Raises Unknown for those in a plane, of which NumPy and Keras give numbers."""
    shape = broadcast([shape_of(x), shape_of(y)])
    if shape[-1:] != (SPACE,):
        raise Unknown("a product of vectors that are not in space")
    return shape


@keras3("tf.linalg.cross tf.cross", "x|a y|b")
def cross_nodes(call: FunctionCall) -> SymbolicTensor:
    """Nodes of the cross products of vectors along the last axis."""
    return call.op("Cross", call.floats("x"), call.floats("y"))


define("batch_dot", "x y axes", Kind.ROWWISE)


@keras3("K.batch_dot", "x y axes=null")
def batch_dot_nodes(call: FunctionCall) -> SymbolicTensor:
    """Nodes of `K.batch_dot` of two matrices, or two batches of them, along one axis each, where all releases agree.

    Raises Unknown.
    """
    x, y, axes = call.floats("x"), call.floats("y"), call.axis("axes")
    if axes is None:
        axes = [MATRIX, 1]  # as matrices are multiplied
    along_x, along_y = axes if isinstance(axes, list) and len(axes) == PAIR else (axes, axes)
    if x.shape is None or y.shape is None or len(x.shape) != len(y.shape):
        raise Unknown("`K.batch_dot` of unknown or different ranks")
    if len(x.shape) == MATRIX and (along_x, along_y) == (1, 1):
        return call.op("Sum", call.calculate("Multiply", x, y), axis=1, keepdims=True)
    if len(x.shape) != MATRIX + 1 or not {along_x, along_y} <= {1, 2}:
        raise Unknown("`K.batch_dot` along these axes")
    left = x if along_x == MATRIX else _turned(call, x)
    right = _turned(call, y) if along_y == MATRIX else y
    return call.calculate("Matmul", left, right)


define("tensordot", "x|a|x1 y|b|x2 axes", Kind.PRODUCT)


@axes_rule("tensordot")
def tensordot_axes(ranks: Ranks, axes: Value = None) -> tuple[list[str], str]:
    """Axis letters of a tensordot; `axes`: how many (last of the first, first of the second), or two lists."""
    first, second = as_matrices(ranks)
    if isinstance(axes, (list, tuple)):
        one, other = (whole_numbers(each) for each in axes)
    else:
        number = MATRIX if axes is None else whole_number(axes)
        one, other = [*range(first - number, first)], [*range(number)]
    return of_tensordot((first, second), (one, other))


@keras3("tf.tensordot tf.linalg.tensordot", "a b axes")
def tensordot_nodes(call: FunctionCall) -> SymbolicTensor:
    """Nodes of a tensordot along a number of axes, or two lists of them; `b` may be a constant. Raises Unknown."""
    a = call.floats("a")
    axes: Json = call.integer("axes") if call.is_plain("axes") else call.nested("axes")
    if not (axes >= 1 if isinstance(axes, int) else isinstance(axes, list) and len(axes) == PAIR):
        raise Unknown("the axes")
    nested = call.nested("b")
    b = call.floats("b") if nested is None else call.stored_floats(nested)
    return call.op("Tensordot", a, b, axes=axes)


define(
    "einsum", "subscripts|equation *xs", Kind.PRODUCT, nodes={"Einsum": "*xs @equation:subscripts"}
)


@axes_rule("einsum")
def einsum_axes(ranks: Ranks, subscripts: Value = None) -> tuple[list[str], str]:
    """Return the axes of the operands and of the product, as the equation names them. Raises Unknown."""
    if not isinstance(subscripts, str):
        raise Unknown("the equation of an einsum")
    operands = operands_of(subscripts)
    known = zip(ranks, operands, strict=True)
    return of_einsum(
        subscripts, [len(letters) if rank is None else rank for rank, letters in known]
    )


@keras3("tf.einsum", "subscripts|equation x y=null z=null")
def einsum_nodes(call: FunctionCall) -> SymbolicTensor:
    """Nodes of an einsum of one to three tensors."""
    tensors = [call.floats(name) for name in "xyz" if not call.is_omitted(name)]
    return call.op("Einsum", *tensors, subscripts=call.text("subscripts"))


define_all(
    "trace diagonal set_diag|matrix_set_diag|matrix_set_diag_v2|matrix_set_diag_v3 svd qr lu pinv eig eigh det inv "
    "cholesky expm fft2d ifft2d rfft2d irfft2d fft2",
    "*x",
    Kind.MATRIX,
)
define(
    "diag_part matrix_diag_part",
    "x k padding_value",
    Kind.MATRIX,
    nodes={
        "MatrixDiagPart": "x",
        **dict.fromkeys(("MatrixDiagPartV2", "MatrixDiagPartV3"), "x k padding_value"),
    },
)


@keras3("tf.linalg.diag_part tf.matrix_diag_part", "x|input")
def diag_part_nodes(call: FunctionCall) -> SymbolicTensor:
    """Nodes of the main diagonal of the last two axes."""
    return call.op("Diagonal", call.tensor("x"), offset=0, axis1=-2, axis2=-1)


define_all("band_part|matrix_band_part", "x num_lower num_upper", Kind.ALONG, default_axis=-2)


@keras3("tf.linalg.band_part tf.matrix_band_part", "x|input num_lower num_upper")
def band_part_nodes(call: FunctionCall) -> SymbolicTensor:
    """Nodes that keep diagonals of the last two axes; a negative number keeps all of a side. Raises Unknown."""
    made = call.floats("x")
    lower, upper = call.integer("num_lower"), call.integer("num_upper")
    if lower < 0 and upper < 0:
        raise Unknown("all of a matrix as its part")
    made = made if upper < 0 else call.op("Tril", made, k=upper)
    return made if lower < 0 else call.op("Triu", made, k=-lower)
