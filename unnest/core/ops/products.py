"""Operations on matrices: products, and what is made of two axes of one tensor."""

from __future__ import annotations

from unnest.core.ops.registry import Kind, define, define_all

define(
    "matmul batch_matmul_v2",
    "x|a|x1 y|b|x2 transpose_a|adj_x transpose_b|adj_y adjoint_a adjoint_b",
    Kind.PRODUCT,
    nodes={
        "MatMul": "x y @transpose_a @transpose_b",
        **dict.fromkeys(("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3"), "x y @adj_x:transpose_a @adj_y:transpose_b"),
    },
)
define("dot", "x|a|x1 y|b|x2", Kind.PRODUCT)
define("batch_dot", "x y axes", Kind.ROWWISE)
define("tensordot", "x|a|x1 y|b|x2 axes", Kind.PRODUCT)
define("einsum", "subscripts|equation *xs", Kind.PRODUCT, nodes={"Einsum": "*xs @equation:subscripts"})
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
