"""What sorts of operations there are: those that take rows out of a tensor, move them, put them together, or add up."""

from __future__ import annotations

SLICES = frozenset({
    "getitem", "stridedslice", "slice", "k3slice", "split", "k3split", "arraysplit", "unstack", "gather", "gatherv2",
    "take", "booleanmask", "dynamicpartition", "gathernd", "embeddinglookup",
})  # fmt: skip
"""Operations that take rows out of a tensor."""

MOVES = frozenset({
    "reshape", "transpose", "expanddims", "squeeze", "gather", "gatherv2", "take", "takealongaxis", "identity",
    "swapaxes", "moveaxis", "roll", "reverse", "flip",
})  # fmt: skip
"""Operations that may stand between the parts and what is put together of them."""

SLICES_AND_MOVES = SLICES | MOVES
"""Operations that may stand between a tensor and rows of it."""

CONCATENATES = frozenset({"concat", "concatenate", "append", "vstack", "rowstack"})

SCATTERS = frozenset({
    "dynamicstitch", "paralleldynamicstitch", "scatternd", "scatter", "tensorscatterndupdate", "tensorscatterupdate",
    "scatterupdate", "sliceupdate", "pad", "padv2",
})  # fmt: skip
"""Operations that put each row to its number, and zeros elsewhere."""

LINES_UP = CONCATENATES | SCATTERS | {"stack"}
"""Operations that put rows of several tensors together."""

ADDS = frozenset({"add", "addv2", "addn"})
"""Operations that do so where every operand holds the rows of others as zeros."""

ZEROS = frozenset({"zeros", "fill", "zeroslike", "oneslike"})
"""Operations that make what rows are scattered over."""

JOINS = LINES_UP | MOVES | ADDS | {"concatv2", "pack", "reversev2"}
"""What such operations are called in TensorFlow's graphs, in lower case, and those behind which one may lie."""


REDUCING = frozenset({
    "max", "min", "mean", "sum", "prod", "all", "any", "logsumexp", "var", "std", "median", "argmax", "argmin",
    "reducemax", "reducemin", "reducemean", "reducesum", "reduceprod", "reduceall", "reduceany", "reducelogsumexp",
    "reducevariance", "reducestd", "reduceeuclideannorm", "countnonzero", "norm", "euclideannorm", "amax", "amin",
    "ptp", "nanmax", "nanmin", "nanmean", "nansum", "nanprod", "nanstd", "nanvar", "nanmedian",
    "l2loss", "zerofraction",
})  # fmt: skip
"""Operations that make one number of all along some axes; of all axes where none is named."""

ALONG: dict[str, int | None] = {
    "softmax": -1, "logsoftmax": -1, "sort": -1, "argsort": -1, "l2normalize": None, "cumsum": 0, "cumprod": 0,
    "topk": -1, "topkv2": -1, "normalize": -1, "normalizewhole": None, "tril": -2, "triu": -2, "bandpart": -2,
    "matrixbandpart": -2, "diff": -1, "quantile": None, "percentile": None, "alongaxis": -1, "clipbynorm": None,
    "clipbyaveragenorm": None, "clipbyglobalnorm": None, "globalnorm": None, "cumulativelogsumexp": 0, "fft": -1,
    "ifft": -1, "rfft": -1, "irfft": -1,
}  # fmt: skip
"""Operations that keep the shape and work along one axis, with the axis where none is named; None for all axes."""

TAKING_NO_AXIS = frozenset({
    "topk", "topkv2", "tril", "triu", "bandpart", "matrixbandpart", "diff", "quantile", "percentile",
    "clipbynorm", "clipbyaveragenorm", "clipbyglobalnorm", "normalizewhole",
    "fft", "ifft", "rfft", "irfft",
})  # fmt: skip
"""Those among them whose second argument is something else."""

OF_ALL_ROWS = frozenset({
    "segmentsum", "segmentmax", "segmentmin", "segmentprod", "segmentmean", "unsortedsegmentsum", "unsortedsegmentmax",
    "unsortedsegmentmin", "unsortedsegmentprod", "unsortedsegmentmean", "bincount", "histogram", "outer", "kron",
    "vdot", "cov", "corrcoef", "unique", "uniquewithcounts", "associativescan", "shuffle",
    "randomshuffle", "histogramfixedwidth", "confusionmatrix", "scan", "foldl", "foldr", "nonmaxsuppression",
    "nonmaxsuppressionv3",
})  # fmt: skip
"""Operations that add up, compare or deal out what lies along the first axis, if no other is named."""

OF_MATRICES = frozenset({
    "trace", "diagonal", "diagpart", "matrixdiagpart", "matrixdiagpartv2", "matrixdiagpartv3", "setdiag",
    "matrixsetdiag", "matrixsetdiagv2", "matrixsetdiagv3", "svd", "qr", "lu", "pinv", "eig", "eigh", "det", "inv",
    "cholesky", "expm", "fft2d", "ifft2d", "rfft2d", "irfft2d", "fft2",
})  # fmt: skip
"""Operations on two axes: of tensors with more, TensorFlow's take the last two, NumPy's and Keras's the first."""

MATRIX_PRODUCTS = frozenset({"matmul", "batchmatmulv2"})

MATRIX = 2
"""The axes of one."""


def may_join_rows(kind: str) -> bool:
    """Whether what puts rows together can end in an operation of a TensorFlow graph."""
    return kind.lower() in JOINS
