"""Calls of operations on random arguments, as a script writes them: `x, axis=1`.

x, y: floats, shape (4, 3, 4)         p: floats between 0.1 and 0.9, the same shape
v: floats, shape (4,)                 r: rows, shape (4, 4)
m: matrices that can be inverted      image: shape (2, 4, 6, 3)
n: whole numbers from 0 to 2, (4, 3)  k: whole numbers, w: negative ones too, (4, 3, 4)
b, c: truth values, (4, 3, 4)         rows: truth values, (4,)
line, video: like image with one, and three axes between the batch and the channels
filters_1, filters, filters_3, apart, points: those of convolutions along so many axes, apart for each channel, and of
points                                colors: images of numbers between 0 and 1
heads: shape (2, 3, 2, 4)             boxes: four numbers each, (4, 4)
stored(...): a constant array of NumPy's
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unnest.core.ops.call import plain_name
from unnest.core.ops.keras3_nodes.function_registry import known_functions
from unnest.core.ops.operation_entry import Operation
from unnest.core.ops.operation_kinds import Kind
from unnest.core.ops.registry import OPERATIONS

RANDOM = np.random.default_rng(5)


def _floats(*shape: int) -> np.ndarray[Any, Any]:
    return RANDOM.normal(0, 2, shape).astype(np.float32)


TENSORS: dict[str, np.ndarray[Any, Any]] = {
    "x": _floats(4, 3, 4),
    "y": _floats(4, 3, 4),
    "p": RANDOM.uniform(0.1, 0.9, (4, 3, 4)).astype(np.float32),
    "v": _floats(4),
    "r": _floats(4, 4),
    "m": (_floats(2, 4, 4) + 6 * np.eye(4)).astype(np.float32),
    "image": _floats(2, 4, 6, 3),
    "n": RANDOM.integers(0, 3, (4, 3)).astype(np.int32),
    "k": RANDOM.integers(1, 7, (4, 3, 4)).astype(np.int32),
    "b": RANDOM.random((4, 3, 4)) > 0.5,
    "c": RANDOM.random((4, 3, 4)) > 0.5,
    "rows": np.array([True, False, True, True]),
}

OF_KIND: dict[Kind, tuple[str, ...]] = {
    Kind.MAP: ("x", "p", "w"),
    Kind.ELEMENTWISE: ("x, y", "p, v", "p, 0.5", "k, k", "w, k", "w, 3", "w, [4, 3, 2, 1]"),
    Kind.REDUCTION: (
        "x",
        "x, axis=1",
        "x, axis=[1, 2]",
        "x, axis=-1, keepdims=True",
        "b, axis=1",
        "w, axis=1",
    ),
    Kind.ALONG: ("x", "x, axis=1"),
    Kind.FOLD: ("x",),
    Kind.MATRIX: ("m",),
    Kind.FILL: ("x", "[2, 3]"),
    Kind.SIZE: ("x",),
    Kind.CONCATENATE: ("[x, y], axis=1", "[x, y], axis=-1", "[x, y]"),
    Kind.STACK: ("[x, y]", "[x, y], axis=1", "[x, y], axis=-1"),
    Kind.MOVE: ("x",),
    Kind.REORDER: ("x, axis=[1]", "x, axis=[0, 2]"),
    Kind.WINDOW: ("image",),
    Kind.ROWWISE: ("x",),
    Kind.SEGMENT: ("x", "v"),
}
"""Calls of operations that none below names."""

SEGMENTS = ("segmentmax", "segmentmean", "segmentmin", "segmentprod", "segmentsum")
UNSORTED = tuple(f"unsorted{name}" for name in SEGMENTS)
FUSED = "colors, v[:3], v[:3], v[:3], p[0, 0, :3], is_training=False"
FUSED_2 = "x=colors, scale=v[:3], offset=v[:3], mean=v[:3], variance=p[0, 0, :3], is_training=False"
SUPPRESSED = "boxes=boxes, scores=v, max_output_size=2, iou_threshold=0.5, score_threshold=0.0"

OF_OPERATION: dict[str, tuple[str, ...]] = {
    "adjustcontrast": ("image, 0.5",),
    "append": ("x, y", "x, y, axis=1"),
    "arraysplit": ("x, 2, axis=0", "x, 3, axis=-1"),
    "accumulaten": ("[x, y]",),
    "addn": ("[x, y]", "[x, y, x]"),
    "atan2": ("x, y",),
    "average": ("x",),
    "averagepool": ("image, 2",),
    "avgpool": ("image, 2, 2, 'VALID'",),
    "avgpool2d": ("image, 2, 2, 'VALID'", "image, [2, 3], [1, 1], 'SAME'"),
    "bandpart": ("m, 1, 0", "m, -1, 2", "m, 0, -1"),
    "biasadd": ("x, v", "image, [1.0, 2.0, 3.0]"),
    "bincount": ("[1, 2, 2, 3]",),
    "bitwiseand": ("k, k",),
    "booleanmask": ("x, rows", "x, [True, False, True], axis=1"),
    "broadcastargs": ("[4, 3, 1], [1, 3, 4]",),
    "broadcastto": ("v, [3, 4]", "v, [2, 3, 4]"),
    "cast": ("x, 'int32'", "k, 'float32'", "b, 'float32'"),
    "clipbyaveragenorm": ("x, 0.01",),
    "clipbynorm": ("x, 1.5", "x, 1.5, axes=1"),
    "clipbyvalue": ("x, -0.5, 0.5", "w, -2, 3"),
    "constant": ("[[1.0, 2.0], [3.0, 4.0]]", "2.5"),
    "converttotensor": ("[[1.0, 2.0], [3.0, 4.0]]",),
    "cumsum": (
        "x",
        "x, axis=1",
        "x, axis=1, exclusive=True",
        "x, axis=-1, reverse=True",
        "w, 1, True",
    ),
    "cumprod": ("p", "p, axis=1", "p, axis=1, exclusive=True", "p, axis=-1, reverse=True", "w, 2"),
    "depthtospace": ("image_of_12, 2",),
    "diff": ("x",),
    "cross": ("x[:, :, :3], y[:, :, :3]", "x[0, :, :3], y[0, :, :3]"),
    "div": ("x, y", "p, v", "p, 0.5", "k, k"),
    "dot": ("r, r",),
    "dynamicpartition": ("x, [0, 1, 0, 1], 2",),
    "dynamicstitch": ("[[0, 2], [3, 1]], [x[:2], x[2:]]",),
    "einsum": ("'bij,bjk->bik', m, m", "'bij->bji', x"),
    "ensureshape": ("x, [4, 3, 4]", "x, [None, 3, None]"),
    "expanddims": ("x, 0", "x, 1", "x, -1"),
    "extractpatches": ("image, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], 'VALID'",),
    "fill": ("[2, 3], 1.5",),
    "flip": ("x", "x, axis=1"),
    "gather": ("x, [2, 0]", "x, [2, 0], axis=1", "x, n[0], axis=-1", "x, 1, axis=1"),
    "gathernd": ("x, [[2], [0]]",),
    "getitem": (),
    "hstack": ("[x, y]", "[v, v]"),
    "hypot": ("x, y",),
    "invertpermutation": ("[2, 0, 1]",),
    "k3slice": ("x, [0, 1, 0], [4, 2, 3]",),
    "k3split": ("x, 2, axis=0", "x, [1, 2], axis=1"),
    "leakyrelu": ("x", "x, 0.3"),
    "leftshift": ("k, k",),
    "linspace": ("0.0, 1.0, 5",),
    "localresponsenormalization": ("image", "image, depth_radius=1, bias=2.0, alpha=0.5, beta=0.6"),
    "logicaland": ("b, c",),
    "logicalnot": ("b",),
    "logicalor": ("b, c",),
    "logicalxor": ("b, c",),
    "matmul": ("m, m", "r, r", "m, m, transpose_b=True", "m, m, transpose_a=True", "m, r"),
    "matvec": ("m, m[:, 0]", "r, v", "m, m[:, 1], transpose_a=True"),
    "adjustbrightness": ("image, 0.3",),
    "matrixtranspose": ("x", "r"),
    "maxpool": ("image, 2, 2, 'VALID'",),
    "maxpool2d": ("image, 2, 2, 'VALID'", "image, [2, 3], [1, 1], 'SAME'"),
    "moveaxis": ("x, 0, 2", "x, [0, 1], [1, 2]"),
    "norm": ("x", "x, axis=1", "x, ord=1, axis=-1"),
    "ones": ("[2, 3]",),
    "onehot": ("n, 3", "n, 3, on_value=2.0, off_value=0.5"),
    "pad": ("r, [[1, 0], [0, 2]]", "x, [[0, 0], [1, 2], [0, 0]]", "r, [[1, 1], [1, 1]], 'REFLECT'"),
    "percentile": ("x, 30.0",),
    "quantile": ("x, 0.3", "x, 0.3, axis=1"),
    "range": ("5", "1, 7, 2"),
    "repeat": ("x, 2, axis=1", "v, 3", "x, [1, 0, 2], axis=1"),
    "reducemean": ("x", "x, axis=1", "x, axis=[1, 2]", "x, axis=-1, keepdims=True", "b, axis=1"),
    "reshape": ("x, [4, 12]", "x, [-1, 6]", "x, [2, 2, 3, 4]"),
    "resizebilinear": ("image, [8, 3]", "image, [8, 3], align_corners=True"),
    "resizenearestneighbor": ("image, [8, 3]",),
    "reverse": ("x, [1]", "x, [0, 2]"),
    "rightshift": ("k, k",),
    "roll": ("x, 1, axis=1", "x, [1, 2], axis=[0, 2]"),
    "rot90": ("r", "r, 2"),
    "scatternd": ("[[3], [0]], r[:2], [5, 4]",),
    "sequencemask": ("[1, 3, 2]",),
    "shapen": ("[x, r]",),
    "sigmoidcrossentropywithlogits": ("labels=p, logits=x", "p, x"),
    "slice": ("x, [0, 1, 0], [4, 2, -1]", "x, [1, 0, 2], [2, 3, 2]"),
    "sliceupdate": ("x, [0, 0, 0], y[:2]",),
    "spacetodepth": ("image, 2",),
    "split": ("x, 2, axis=0", "x, [1, 2], axis=1", "x, 2, axis=-1"),
    "stridedslice": (
        "x, [0, 1], [3, 3], [2, 1]",
        "x, [0, 1], [0, 2], begin_mask=1, end_mask=1, shrink_axis_mask=2",
    ),
    "squareddifference": ("x, y", "x, v"),
    "squeeze": ("x[:, :1], [1]", "x[:1, :1]"),
    "swapaxes": ("x, 0, 2", "x, -1, 1"),
    "take": ("x, [2, 0], axis=0", "x, [2, 0], axis=1"),
    "takealongaxis": ("x, k % 3, axis=1",),
    "tensordot": ("r, r, 1", "x, r, [[2], [0]]", "x, x, 2"),
    "tensorscatterndupdate": ("r, [[3], [0]], r[:2]",),
    "tile": ("r, [2, 3]", "x, [1, 2, 1]"),
    "topk": ("x, 2", "x, k=3", "w, 2"),
    "transpose": ("x", "x, [0, 2, 1]", "x, [2, 0, 1]"),
    "tril": ("m", "m, 1"),
    "triu": ("m", "m, 1"),
    "unique": ("n[:, 0]",),
    "uniquewithcounts": ("n[:, 0]",),
    "unstack": ("x", "x, axis=1", "x, num=4, axis=-1"),
    "vstack": ("[r, r]",),
    "where": ("b, x, y", "b, x, 0.0", "b", "b, w, -1", "b, 1, 0"),
    "xlogy": ("p, p",),
    "zeros": ("[2, 3]",),
    "associativescan": ("lambda a, b: a + b, x",),
    "avgpool1d": ("x, 2, 1, 'VALID'",),
    "avgpool3d": ("video, 2, 1, 'VALID'",),
    "batchdot": ("m, m, [2, 1]", "r, r, 1"),
    "batchnormalization": ("x, v, p[0, 0], v, v, 0.001",),
    "checknumerics": ("x, 'not a number'",),
    "clipbyglobalnorm": ("[x], 1.5",),
    "confusionmatrix": ("[0, 1, 1], [1, 1, 0]",),
    "conv": ("image, filters", "line, filters_1"),
    "conv1d": ("line, filters_1, 1, 'SAME'",),
    "conv2d": ("image, filters, 1, 'SAME'",),
    "conv3d": ("video, filters_3, [1, 1, 1, 1, 1], 'SAME'",),
    "convtranspose": ("image, filters.swapaxes(2, 3)",),
    "depthwiseconv": ("image, apart",),
    "depthwiseconv2d": ("image, apart, [1, 1, 1, 1], 'SAME'",),
    "depthwiseconv2dnative": ("image, apart, [1, 1, 1, 1], 'SAME'",),
    "digitize": ("x, [-1.0, 0.0, 1.0]",),
    "dotproductattention": ("heads, heads, heads",),
    "dropout": ("x, 0.5",),
    "fft2": ("(m, m)",),
    "foldl": ("lambda a, b: a + b, x",),
    "foldr": ("lambda a, b: a + b, x",),
    "fusedbatchnorm": (FUSED,),
    "fusedbatchnormv2": (FUSED_2,),
    "fusedbatchnormv3": (FUSED_2,),
    "globalnorm": ("[x]",),
    "histogramfixedwidth": ("x, [0.0, 5.0]",),
    "hsvtorgb": ("colors",),
    "identityn": ("[x, y]",),
    "kron": ("r, r",),
    "averagen": ("[x, y]", "[x, y, p]"),
    "maximumn": ("[x, y]", "[x, y, p]"),
    "maxpool1d": ("x, 2, 1, 'VALID'",),
    "maxpool3d": ("video, 2, 1, 'VALID'",),
    "minimumn": ("[x, y]", "[x, y, p]"),
    "mirrorpad": ("input=r, paddings=[[0, 0], [1, 2]], mode='REFLECT'",),
    "moments": ("x, axes=[1]", "x, axes=[0]"),
    "multiplyn": ("[x, y]", "[x, y, p]"),
    "nonmaxsuppression": ("boxes, v, 2",),
    "nonmaxsuppressionv3": (SUPPRESSED,),
    "normalizewhole": ("x", "x, axis=1"),
    "outer": ("v, v",),
    "pool": ("image, [2, 2], 'MAX'",),
    "pool2d": ("image, (2, 2), (2, 2), 'same', 'channels_last', 'avg'",),
    "pool3d": ("video, (2, 2, 2), data_format='channels_last'",),
    "rank": ("x",),
    "resize": ("image, [8, 3]",),
    "resizeimages": ("image, [8, 3]",),
    "resizevolumes": ("video, 2, 2, 2, 'channels_last'",),
    "rgbtograyscale": ("colors",),
    "rgbtohsv": ("colors",),
    "saturatecast": ("x, 'int32'",),
    "scan": ("lambda a, b: a + b, x",),
    **dict.fromkeys(SEGMENTS, ("x, [0, 0, 1, 2]",)),
    **dict.fromkeys(UNSORTED, ("x, [0, 1, 0, 2], 3",)),
    "separableconv": ("image, apart, points",),
    "separableconv2d": ("image, apart, points, [1, 1, 1, 1], 'SAME'",),
    "setdiag": ("m, m[:, 0]",),
    "spatial2dpadding": ("image, ((1, 2), (0, 3)), 'channels_last'",),
    "spatial3dpadding": ("video, ((1, 2), (0, 3), (1, 0)), 'channels_last'",),
    "temporalpadding": ("x, (2, 1)",),
    "threshold": ("x, 0.5, 0.0",),
    "vdot": ("v, v",),
}
"""Calls by the operation's first name; a call that the real function does not take is left out."""

OF_FUNCTION: dict[str, tuple[str, ...]] = {
    "K.batch_dot": ("m, m, [2, 1]", "r, r, 1", "m, m, axes=[2, 2]"),
    "K.bias_add": ("x, stored([1.0, 2.0, 3.0, 4.0]), 'channels_last'",),
    "K.dot": ("x, r", "r, r"),
    "K.one_hot": ("n, 3",),
    "K.permute_dimensions": ("x, [0, 2, 1]",),
    "K.pool2d": (
        "image, (2, 2), (2, 2), 'same', 'channels_last', 'avg'",
        "image, (2, 2), data_format='channels_last'",
    ),
    "K.repeat": ("r, 3",),
    "K.repeat_elements": ("x, 2, 1",),
    "K.resize_images": ("image, 2, 3, 'channels_last'",),
    "K.reverse": ("x, 1", "x, [0, 1]"),
    "K.spatial_2d_padding": ("image", "image, [[1, 2], [0, 3]], 'channels_last'"),
    "K.spatial_3d_padding": ("video", "video, [[1, 2], [0, 3], [1, 0]], 'channels_last'"),
    "K.switch": ("b, x, y",),
    "K.temporal_padding": ("x", "x, [2, 1]"),
    "K.tile": ("x, [1, 2, 1]",),
    "tf.atan2": ("x, y",),
    "tf.image.central_crop": ("image, 0.5",),
    "tf.image.crop_to_bounding_box": ("image, 1, 2, 2, 3",),
    "tf.image.flip_left_right": ("image",),
    "tf.image.flip_up_down": ("image",),
    "tf.image.grayscale_to_rgb": ("image[..., :1]",),
    "tf.image.pad_to_bounding_box": ("image, 1, 2, 6, 9",),
    "tf.image.per_image_standardization": ("image",),
    "tf.image.resize": ("image, [8, 3]", "image, [8, 3], 'nearest'"),
    "tf.image.resize_bilinear": ("image, [8, 3]", "image, [3, 9], align_corners=True"),
    "tf.image.resize_images": ("image, [8, 3]", "image, [8, 3], 1"),
    "tf.image.resize_nearest_neighbor": ("image, [8, 3]",),
    "tf.image.rgb_to_grayscale": ("image",),
    "tf.compat.v1.image.resize": ("image, [8, 3]",),
    "tf.compat.v1.image.resize_images": ("image, [8, 3]",),
    "tf.meshgrid": ("v, r[0]", "v, r[0], indexing='ij'"),
    "tf.nn.crelu": ("x", "x, axis=1"),
    "tf.scalar_mul": ("2.0, x",),
    "tf.math.scalar_mul": ("2.0, x",),
    "tf.sort": ("x", "x, axis=1, direction='DESCENDING'", "w"),
    "tf.argsort": ("x", "x, axis=1, direction='DESCENDING'", "w", "w, 1, 'DESCENDING'"),
    "np.sqrt": ("2.5",),
    "math.sqrt": ("2.5",),
    "np.log": ("2.5",),
    "math.log": ("2.5",),
    "np.exp": ("2.5",),
    "math.exp": ("2.5",),
    "np.float32": ("2.5",),
    "np.float64": ("2.5",),
    "float": ("3",),
    "int": ("2.5",),
    "max": ("2, 3.5",),
    "min": ("2, 3.5",),
    "len": ("[x, y]",),
    "sum": ("[x, y]",),
    "pow": ("x, 2",),
    "np.prod": ("[2, 3]",),
    "np.array": ("[[1.0, 2.0]]",),
    "np.asarray": ("[[1.0, 2.0]]",),
    "np.ones": ("[2, 3]",),
    "np.zeros": ("[2, 3]",),
    "K.cast_to_floatx": ("stored([[1, 2]])",),
    "K.ctc_batch_cost": (
        "n[:2, :2] // 2, heads[:, :, 0] ** 2 + 0.1, n[:2, :1] * 0 + 3, n[:2, :1] * 0 + 2",
    ),
    "K.epsilon": ("",),
    "K.floatx": ("",),
    "K.int_shape": ("x", "r"),
    "K.ndim": ("x", "r"),
    "K.squeeze": ("x[:, :1], 1", "x[..., :1], -1"),
    "tf.nn.lrn": ("image", "image, depth_radius=1, bias=2.0, alpha=0.5, beta=0.6"),
    "tf.to_float": ("k", "b"),
}
"""Calls of functions that are called otherwise than their operation, or that none is registered for."""

TENSORS["w"] = RANDOM.integers(-9, 9, (4, 3, 4)).astype(np.int32)
TENSORS["video"] = _floats(2, 2, 3, 4, 2)
TENSORS["image_of_12"] = _floats(2, 3, 4, 12)
TENSORS["line"] = _floats(4, 5, 3)
TENSORS["filters_1"] = _floats(2, 3, 5)
TENSORS["filters"] = _floats(2, 2, 3, 5)
TENSORS["filters_3"] = _floats(2, 2, 2, 2, 3)
TENSORS["apart"] = _floats(2, 2, 3, 2)
TENSORS["points"] = _floats(1, 1, 6, 5)
TENSORS["colors"] = RANDOM.uniform(0, 1, (2, 4, 6, 3)).astype(np.float32)
TENSORS["heads"] = _floats(2, 3, 2, 4)
TENSORS["boxes"] = RANDOM.uniform(0, 1, (4, 4)).astype(np.float32)

NOT_COMPARED = {
    **dict.fromkeys(
        ("alongaxis", "batchmoments", "claimed", "mixes", "oversteps", "rowwise", "takes", "timemajor", "unknown"),
        "what layers and stored code do",
    ),
    **dict.fromkeys(("exit", "if", "merge", "switch", "while"), "control flow of graphs"),
    "getitem": "Python's indexing, as `stridedslice`",
    **dict.fromkeys(
        ("K.identity", "K.logsumexp", "K.slice"), "not in tf_keras: other releases of Keras 2 had it"
    ),
    "tf.broadcast_to": "a constant for each row of a tensor: with the Lambdas of `tests/keras`",
    "tf.sequence_mask": "by lengths, which are no tensor of a layer: with the models of `test_counted_rows.py`",
}  # fmt: skip
"""Operations by their first names, and functions by their full ones, that are not compared here -> why."""


class Stored(np.ndarray[Any, Any]):
    """A constant array in stored code."""


def stored(value: Any) -> np.ndarray[Any, Any]:
    """Return a constant array in stored code, of 32 bits."""
    return np.asarray(value, np.float32).view(Stored)


def samples_of(operation: Operation) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Arguments to call an operation with, arrays for tensors."""
    return [*map(_given, OF_OPERATION.get(operation.name, OF_KIND.get(operation.kind, ())))]


def samples_of_function(path: str) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Arguments to call a function with, by its full name: its own, and its operation's."""
    operation = OPERATIONS.get(plain_name(path))
    own = [*map(_given, OF_FUNCTION.get(path, ()))]
    return own if operation is None else own + samples_of(operation)


def _given(text: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    def given(*args: Any, **kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return args, kwargs

    return eval(f"given({text})", {"given": given, "stored": stored, **TENSORS})  # type: ignore[no-any-return]  # noqa: S307 - above


def unknown_names() -> list[str]:
    """Names in the table that no operation has."""
    unknown = [
        name for name in OF_OPERATION if name not in OPERATIONS or OPERATIONS[name].name != name
    ]
    return unknown + [name for name in OF_FUNCTION if name not in known_functions()]
