"""Operations of towers that work along the batch: such towers do not compute row by row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.judged import only_wrapper
from tests.property.opgraphs import Writer as OpWriter
from tests.property.opgraphs import cut
from tests.unit.core.wrappers.inline import UNITS, Tensor, Writer
from tests.unit.core.wrappers.one_layer import function as function_of
from unnest.core.architecture import read
from unnest.core.interpreters.row_mixing import TowerRows
from unnest.core.layers.catalog import LAYER_RECORDS
from unnest.core.model import CallId, Json, Ref
from unnest.core.recognition_results import MixedRows, NearMiss
from unnest.core.wrappers.layer_graph import layer_batch_roles
from unnest.core.wrappers.layer_graph.layer_tensor_graph import LayerTensors
from unnest.core.wrappers.layer_graph.recognise_layer_graph import mixing_layer, recognise
from unnest.core.wrappers.layer_graph.wrapper_records import EnclosingModel
from unnest.core.wrappers.search.row_mixing_trials import (
    RANKS,
    UNKNOWN_SIZES,
    mixing_call,
    rows_kept,
)
from unnest.core.wrappers.serving_graph.recognise_serving_graph import find

Step = Callable[[Writer, Tensor], Tensor]


def function(name: str, **others: object) -> Step:
    return lambda w, x: w.call(name, x, **others)


def weighed(axis: int) -> Step:
    """Rows times what a softmax gives for them."""
    return lambda w, x: w.call("math.multiply", x, y=w.call("nn.softmax", x, axis=axis), name=None)


def turned(w: Writer, x: Tensor) -> Tensor:
    """A softmax along the last axis, on which the rows lie for the time being."""
    back = w.call("nn.softmax", w.call("transpose", x, perm=[1, 0]), axis=1)
    return w.call("transpose", back, perm=[1, 0])


def turned_twice(w: Writer, x: Tensor) -> Tensor:
    return weighed(-1)(w, w.call("transpose", w.call("transpose", x, perm=[1, 0]), perm=[1, 0]))


def compared(w: Writer, x: Tensor) -> Tensor:
    return w.call("linalg.matmul", x, b=x, transpose_b=True)


def recurrent(*, time_major: bool) -> Step:
    return lambda w, x: w.layer(
        "Activation", f"rnn_{x[1]}", {"activation": "relu", "time_major": time_major}, [x]
    )[0]


def transposed(w: Writer, x: Tensor) -> Tensor:
    return w.call("compat.v1.transpose", x, perm=None, name="transpose", conjugate=False)


def attending(w: Writer, x: Tensor) -> Tensor:
    scores = w.call("nn.softmax", w.call("linalg.matmul", x, b=transposed(w, x)))
    return w.call("linalg.matmul", scores, b=x)


def covariance(w: Writer, x: Tensor) -> Tensor:
    return w.call("linalg.matmul", x, b=w.call("linalg.matmul", transposed(w, x), b=x))


def distances(w: Writer, x: Tensor) -> Tensor:
    """Of every row from every other one."""
    across, down = (w.call("expand_dims", x, axis=axis) for axis in (0, 1))
    return w.call("math.reduce_sum", w.call("math.subtract", across, y=down, name=None), axis=1)


def of_sizes(axis: int, function: str = "math.multiply") -> Step:
    """Computed with the square root of a size."""

    def step(w: Writer, x: Tensor) -> Tensor:
        size = w.call(
            "__operators__.getitem", w.call("compat.v1.shape", x, out_type="int32"), slice_spec=axis
        )
        return w.call(
            function, x, y=w.call("math.sqrt", w.call("cast", size, dtype="float32")), name=None
        )

    return step


def if_so_many(w: Writer, x: Tensor, function: str = "math.greater", y: int = 5) -> Tensor:
    """Times 1 where that is true of the number of rows, else times 0."""
    is_so = w.call(function, w.size(x), y=y, name=None)
    return w.call("math.multiply", x, y=w.call("cast", is_so, dtype="float32"), name=None)


def one_of_two(w: Writer, x: Tensor) -> Tensor:
    """Times one of two constants, which the number of rows chooses."""
    factor = w.call("where", w.call("math.greater", w.size(x), y=5, name=None), x=0.5, y=2.0)
    return w.call("math.multiply", x, y=factor, name=None)


def in_groups(w: Writer, x: Tensor, group: int) -> Tensor:
    """Every entry a row of its own, and rows of a group of them again."""
    size = w.size(w.call("reshape", x, shape=[-1]))
    count = w.call("compat.v1.floor_div", size, y=group, name=None)
    return w.call("reshape", x, shape=[count, group])


def at_most(w: Writer, x: Tensor, bound: Tensor) -> Tensor:
    """Rows up to that one; all of a small batch."""
    return w.rows(None, bound, of=x)


def with_zeros(w: Writer, x: Tensor) -> Tensor:
    """A tensor of as many rows."""
    size = w.call(
        "__operators__.getitem", w.call("compat.v1.shape", x, out_type="int32"), slice_spec=0
    )
    return w.call("math.add", x, y=w.call("zeros", size, dtype="float32"), name=None)


def ones(w: Writer, *sizes: Tensor) -> Tensor:
    """A tensor of ones, of these sizes."""
    return w.call("ones", [*sizes], dtype="float32")


def from_the_first(w: Writer, x: Tensor) -> Tensor:
    return w.call("math.subtract", x, y=w.rows(stop=1, of=x), name=None)


def over_turned_rows(w: Writer, x: Tensor) -> Tensor:
    """A convolution whose time is the rows."""
    turned = w.call("expand_dims", x, axis=0)
    (made,) = w.layer(
        "Conv1D", f"conv_{len(w.layers)}", {"filters": 3, "kernel_size": [2]}, [turned]
    )
    return w.call("squeeze", made, axis=[0])


WHOLE = {"start": None, "stop": None, "step": None}


def one_column(w: Writer, x: Tensor) -> Tensor:
    """A number for every row."""
    return w.call("__operators__.getitem", x, slice_spec=[WHOLE, 0])


def one_row(w: Writer, x: Tensor, row: int) -> Tensor:
    return w.call("__operators__.getitem", x, slice_spec=row)


def places(w: Writer, x: Tensor) -> Tensor:
    """The numbers of the rows."""
    return w.call("range", w.size(x), dtype="int32", name=None)


def the_row_before(w: Writer, x: Tensor) -> Tensor:
    before = w.call(
        "math.maximum", w.call("math.subtract", places(w, x), y=1, name=None), y=0, name=None
    )
    return w.call("gather", x, indices=before, axis=0)


def all_but_the_first(w: Writer, x: Tensor) -> Tensor:
    """Twice as much of every row but the first."""
    behind = w.call("math.greater", w.call("expand_dims", places(w, x), axis=1), y=0, name=None)
    return w.call("where", behind, x=w.call("math.multiply", x, y=2.0, name=None), y=x)


def the_first_everywhere(w: Writer, x: Tensor) -> Tensor:
    return w.call(
        "broadcast_to", w.rows(None, 1, of=x), shape=w.call("compat.v1.shape", x, out_type="int32")
    )


ALONG_THE_BATCH: dict[str, Step] = {
    "the row before": the_row_before,
    "all but the first": all_but_the_first,
    "the first everywhere": the_first_everywhere,
    "by the norm of all": function("linalg.normalize", ord="euclidean", axis=None),
    "rows against rows": attending,
    "rows against rows, in one product": lambda w, x: w.call(
        "linalg.matmul", x, b=x, transpose_b=True
    ),
    "columns against columns": covariance,
    "rows against rows, by letters": lambda w, x: w.call("einsum", x, y=x, subscripts="ij,kj->ik"),
    "rows against rows, by axes": lambda w, x: w.call("tensordot", x, b=x, axes=[[1], [1]]),
    "row from row": distances,
    "less the first row": from_the_first,
    "reversed": function("reverse", axis=[0]),
    "moved round": function("roll", shift=1, axis=0),
    "twice": lambda w, x: w.call("concat", [x, x], axis=0),
    "the first row last": lambda w, x: w.call(
        "concat", [w.rows(1, of=x), w.rows(None, 1, of=x)], axis=0
    ),
    "twice, then weighted": lambda w, x: w.call(
        "linalg.matmul", w.call("concat", [x, x], axis=0), b=[[1.0]] * 3
    ),
    "normalized over everything": function("math.l2_normalize", axis=None),
    "by their number": of_sizes(0),
    "if there are so many": if_so_many,
    "if there are not so many": lambda w, x: if_so_many(w, x, "math.less", 1000),
    "if they are even": lambda w, x: if_so_many(w, x, "math.floormod", 2),
    "by a constant that their number chooses": one_of_two,
    "by a number times none": lambda w, x: w.call(
        "math.add",
        x,
        y=w.call("cast", w.call("math.multiply", w.size(x), y=0), dtype="float32"),
        name=None,
    ),
    "over turned rows": over_turned_rows,
    "reduced": function("math.reduce_max", axis=0, keepdims=True),
    "reduced over everything": lambda w, x: w.call(
        "math.subtract", x, y=w.call("math.reduce_mean", x), name=None
    ),
    "weighed": weighed(0),
    "summed up": function("math.cumsum", axis=0),
    "turned": turned,
    "added up by segments": function("math.segment_sum", segment_ids=[0, 0]),
    "the largest of all": lambda w, x: w.call(
        "math.divide", x, y=w.call("math.reduce_max", w.call("math.abs", x))
    ),
    "differences from row to row": function("experimental.numpy.diff", n=1, axis=0),
    "moved round, rows as one": lambda w, x: w.call("numpy.roll", x, shift=1, axis=None),
    "added up to each": lambda w, x: w.call(
        "linalg.matmul",
        w.call(
            "linalg.band_part", ones(w, w.size(x), w.size(x)), num_lower=-1, num_upper=0, name=None
        ),
        b=x,
    ),
    "at most a hundred, less their mean": lambda w, x: w.call(
        "math.subtract",
        w.rows(None, 100, of=x),
        y=w.call("math.reduce_mean", w.rows(None, 100, of=x), axis=0, keepdims=True),
        name=None,
    ),
    "by numbers at equal distances": lambda w, x: w.call(
        "math.multiply",
        x,
        y=w.call("expand_dims", w.call("linspace", 0.0, stop=1.0, num=w.size(x)), axis=1),
        name=None,
    ),
    "below the diagonal": function("linalg.band_part", num_lower=-1, num_upper=0),
    "padded with rows": function("pad", paddings=[[0, 1], [0, 0]]),
    "turned, and counted anew": lambda w, x: w.call("reshape", transposed(w, x), shape=[-1, 3]),
    "rows against rows, of three": lambda w, x: w.call(
        "einsum", [x, x, x], subscripts="bi,ci,cj->bj"
    ),
    "rows against rows, letters implied": lambda w, x: w.call("einsum", [x, x], subscripts="ij,kj"),
    "added up by letters": lambda w, x: w.call(
        "math.add", x, y=w.call("einsum", x, subscripts="b...->..."), name=None
    ),
    "columns over rows": lambda w, x: transposed(w, w.call("signal.fft", transposed(w, x))),
    "the first row, and so on": lambda w, x: w.call(
        "stack", [one_row(w, x, k % 3) for k in range(6)], axis=0
    ),
    "those that are positive": lambda w, x: w.call(
        "boolean_mask", x, mask=w.call("math.greater", one_column(w, x), y=0.0, name=None)
    ),
    "the next ones last": function("tile", multiples=[2, 1]),
    "half of them twice": lambda w, x: w.rows(
        None, w.size(x), of=w.call("repeat", x, repeats=2, axis=0)
    ),
    "axes that change places": lambda w, x: w.call(
        "math.cumsum", w.call("experimental.numpy.swapaxes", x, axis1=0, axis2=1), axis=1
    ),
    "clipped by the norm of all": function("clip_by_norm", clip_norm=1.0),
    "over a loss": lambda w, x: w.call("math.divide", x, y=w.call("nn.l2_loss", x), name=None),
    "from row to row": lambda w, x: w.call("scan", x),
    "singular values": lambda w, x: w.call(
        "math.divide", x, y=w.call("linalg.svd", x, compute_uv=False), name=None
    ),
    "mirrored sums": lambda w, x: w.call("math.accumulate_n", [x, w.call("reverse", x, axis=[0])]),
    "where they are positive": lambda w, x: w.call(
        "where", w.call("math.greater", x, y=0.0, name=None)
    ),
    "by their places": lambda w, x: w.call(
        "math.multiply", x, y=w.call("expand_dims", w.call("range", w.size(x)), axis=1), name=None
    ),
    "columns chosen by what is in all rows": lambda w, x: w.call(
        "gather", x, indices=w.call("cast", one_column(w, x), dtype="int32"), axis=1
    ),
    "chosen by what is in others": lambda w, x: w.call(
        "gather", x, indices=w.call("cast", one_column(w, x), dtype="int32"), axis=0
    ),
}

ROW_BY_ROW: dict[str, Step] = {
    "the row itself, by its place": lambda w, x: w.call("gather", x, indices=places(w, x), axis=0),
    "as large as they are": lambda w, x: w.call(
        "broadcast_to", x, shape=w.call("compat.v1.shape", x, out_type="int32")
    ),
    "by their own norms": function("linalg.normalize", ord="euclidean", axis=1),
    "by their width": of_sizes(1),
    "with as many zeros": with_zeros,
    "by as many ones": lambda w, x: w.call(
        "math.multiply", x, y=ones(w, w.size(x), ["_CONSTANT_VALUE", -1, 1]), name=None
    ),
    "by letters": lambda w, x: w.call("einsum", x, subscripts="ij->ij"),
    "beside themselves": lambda w, x: w.call("concat", [x, x], axis=1),
    "one column": one_column,
    "one of their columns": lambda w, x: w.call("__operators__.getitem", x, slice_spec=[WHOLE, 2]),
    "one of many columns, of no known sizes": lambda w, x: w.call(
        "__operators__.getitem",
        w.call("tile", w.call("expand_dims", x, axis=2), multiples=[1, 1, 3]),
        slice_spec=[WHOLE, 2],
    ),
    "cut and put together again": lambda w, x: w.call(
        "concat", [w.rows(None, 1, of=x), w.rows(1, of=x)], axis=0
    ),
    "normalized": function("math.l2_normalize", axis=1),
    "reduced": function("math.reduce_max", axis=1, keepdims=True),
    "weighed": weighed(1),
    "weighed, axis from the end": weighed(-1),
    "weighed, no axis": function("nn.softmax"),
    "summed up": function("math.cumsum", axis=1),
    "turned twice": turned_twice,
    "scaled": function("math.multiply", y=2.0),
    "differences along the row": function("experimental.numpy.diff"),
    "beside others along the last axis": lambda w, x: w.call("concat", [x, x], axis=-1),
    "padded with columns": function("pad", paddings=[[0, 0], [1, 0]]),
    "reversed twice": lambda w, x: w.call("reverse", w.call("reverse", x, axis=[0]), axis=[0]),
    "a product with weights": lambda w, x: w.call("linalg.matmul", x, b=[[1.0] * 3] * 3),
    "a product within each row": lambda w, x: w.call("einsum", [x, x], subscripts="bi,bj->bij"),
    "a product by axes": lambda w, x: w.call("tensordot", x, b=[[1.0] * 3] * 3, axes=1),
    "matrices, one for each row": lambda w, x: w.call(
        "linalg.matmul", w.call("expand_dims", x, axis=1), b=w.call("expand_dims", x, axis=2)
    ),
    "chosen by what is in the row": lambda w, x: w.call(
        "gather", x, indices=w.call("argsort", x), axis=1, batch_dims=1
    ),
    "shaped, and shaped back": lambda w, x: w.call(
        "reshape", w.call("reshape", x, shape=[-1, 3, 1]), shape=[-1, 3]
    ),
    "ones where they are positive": lambda w, x: w.call(
        "where", w.call("math.greater", x, y=0.0, name=None), x=1.0, y=0.0
    ),
    "columns over columns": function("signal.fft"),
    "clipped by their norms": function("clip_by_norm", clip_norm=1.0, axes=[1]),
    "axes there and back": lambda w, x: w.call(
        "experimental.numpy.moveaxis",
        w.call("experimental.numpy.swapaxes", x, axis1=0, axis2=1),
        source=0,
        destination=1,
    ),
    "each twice": function("repeat", repeats=2, axis=0),
    "up to their number": lambda w, x: at_most(w, x, w.size(x)),
    "up to their number, counted in halves": lambda w, x: at_most(
        w,
        x,
        w.call(
            "compat.v1.floor_div",
            w.call("math.multiply", w.size(x), y=2, name=None),
            y=2,
            name=None,
        ),
    ),
    "counted by their entries": lambda w, x: in_groups(w, x, 3),
    "as many ones": lambda w, x: w.call("math.add", x, y=w.call("ones_like", x), name=None),
}

UNKNOWN = function("raw_ops.rearranged")
"""Of an operation that is in no table."""


def told(w: Writer, output: Tensor) -> tuple[int, tuple[NearMiss, ...]]:
    recognised = recognise(w.graph(output))
    return len(recognised.wrappers), recognised.near_misses


def towers(step: Step) -> tuple[int, tuple[NearMiss, ...]]:
    """How many wrappers are found around such a step of the graph's own layers."""
    w = Writer()
    return told(w, w.join([step(w, end) for end in w.dense(*w.split())]))


@pytest.mark.parametrize("name", ALONG_THE_BATCH)
def test_towers_that_work_along_the_batch_are_none(name: str) -> None:
    number, near = towers(ALONG_THE_BATCH[name])
    assert number == 0
    assert [miss.layer for miss in near] == ["joined"]
    assert near[0].reason.endswith(", a part of the towers, works along the batch")
    assert isinstance(near[0], MixedRows)


@pytest.mark.parametrize("name", ROW_BY_ROW)
def test_towers_that_work_along_another_axis_are_some(name: str) -> None:
    assert towers(ROW_BY_ROW[name]) == (1, ())


@pytest.mark.parametrize(
    ("class_name", "config", "number"),
    [
        ("Softmax", {"axis": 0}, 0),
        ("UnitNormalization", {"axis": [0]}, 0),
        ("Softmax", {"axis": -1}, 1),
        ("UnitNormalization", {"axis": [1]}, 1),
    ],
)
def test_layers_of_keras_that_work_along_an_axis(
    class_name: str, config: dict[str, object], number: int
) -> None:
    def step(w: Writer, x: Tensor) -> Tensor:
        return w.layer(class_name, f"along_{x[1]}", config, [x])[0]

    assert towers(step)[0] == number


def test_towers_with_an_operation_that_is_not_known_are_likely() -> None:
    for step, confidence in ((UNKNOWN, "likely"), (ROW_BY_ROW["scaled"], "proven")):
        w = Writer()
        found = only_wrapper(
            recognise(w.graph(w.join([step(w, end) for end in w.dense(*w.split())])))
        )
        assert found.confidence == confidence


def twice_of(w: Writer, x: Tensor) -> Tensor:
    return w.call("math.multiply", x, y=2.0, name=None)


def beside(w: Writer, *parts: Tensor, axis: int = 0) -> Tensor:
    return w.call("concat", [*parts], axis=axis)


def zeros_like(w: Writer, x: Tensor) -> Tensor:
    return w.call("zeros_like", x)


def with_itself(w: Writer, x: Tensor, of: Tensor) -> Tensor:
    return w.call("math.add", x, y=of, name=None)


BY_PLACE: dict[str, Step] = {
    "twice the first": lambda w, x: beside(w, twice_of(w, w.rows(None, 1, of=x)), w.rows(1, of=x)),
    "none of the first": lambda w, x: with_itself(
        w, x, beside(w, zeros_like(w, w.rows(None, 1, of=x)), w.rows(1, of=x))
    ),
    "the first once more": lambda w, x: with_itself(
        w, x, beside(w, w.rows(None, 1, of=x), zeros_like(w, w.rows(1, of=x)))
    ),
    "at most a hundred": lambda w, x: w.rows(
        None, 100, of=x
    ),  # more than the towers have that are tried
    "padded in front": lambda w, x: with_itself(
        w, x, w.call("pad", w.rows(1, of=x), paddings=[[1, 0], [0, 0]], name=None)
    ),
    "by their places": lambda w, x: w.call(
        "math.multiply", x, y=w.call("math.cumsum", w.call("ones_like", x), axis=0), name=None
    ),
}

IN_EVERY_PLACE: dict[str, Step] = {
    "twice all": lambda w, x: beside(
        w, twice_of(w, w.rows(None, 1, of=x)), twice_of(w, w.rows(1, of=x))
    ),
    "parts of two copies": lambda w, x: beside(
        w, w.rows(None, 1, of=twice_of(w, x)), w.rows(1, of=twice_of(w, x))
    ),
    "zeros in front of columns": lambda w, x: w.call(
        "pad", x, paddings=[[0, 0], [1, 0]], name=None
    ),
    "as many columns as rows are tried": lambda w, x: beside(w, *[x, twice_of(w, x)] * 10, axis=1),
    "beside twice": lambda w, x: beside(w, x, twice_of(w, x), axis=1),
    "turned, below twice": lambda w, x: transposed(
        w, beside(w, transposed(w, x), transposed(w, twice_of(w, x)))
    ),
    "counted along the row": lambda w, x: w.call(
        "math.multiply", x, y=w.call("math.cumsum", w.call("ones_like", x), axis=1), name=None
    ),
}


@pytest.mark.parametrize("name", [*BY_PLACE, *IN_EVERY_PLACE])
def test_rows_of_several_computations_are_not_proven(name: str) -> None:
    """The result for a row depends on its place in the tower, even if the row stays there."""
    w, step = Writer(), {**BY_PLACE, **IN_EVERY_PLACE}[name]
    found = only_wrapper(recognise(w.graph(w.join([step(w, end) for end in w.dense(*w.split())]))))
    assert found.confidence == ("likely" if name in BY_PLACE else "proven")


KNOWN = [
    "by their width", "by letters", "beside themselves", "one of their columns", "cut and put together again",
    "normalized", "reduced", "weighed, axis from the end", "summed up", "turned twice", "padded with columns",
    "reversed twice", "a product with weights", "a product within each row", "a product by axes",
    "matrices, one for each row", "chosen by what is in the row", "shaped, and shaped back", "columns over columns",
    "each twice", "as many ones", "up to their number", "counted by their entries",
    "up to their number, counted in halves", "clipped by their norms", "axes there and back",
    "the row itself, by its place", "as large as they are", "by their own norms",
]  # fmt: skip


@pytest.mark.parametrize("name", KNOWN)
def test_towers_all_of_whose_operations_are_known_are_proven(name: str) -> None:
    w = Writer()
    found = only_wrapper(
        recognise(w.graph(w.join([ROW_BY_ROW[name](w, end) for end in w.dense(*w.split())])))
    )
    assert found.confidence == "proven"


UP_TO = {
    "a thousand": lambda w, x: w.call("math.minimum", w.size(x), y=1000, name=None),
    "half, twice": lambda w, x: w.call("math.multiply", w.call("compat.v1.floor_div", w.size(x), y=2, name=None), y=2),
    "twice less those tried": lambda w, x: w.call(
        "math.subtract", w.call("math.multiply", w.size(x), y=2, name=None), y=60, name=None
    ),
    "as many as their remainder leaves": lambda w, x: w.call(
        "math.subtract", w.size(x), y=w.call("math.floormod", w.size(x), y=10), name=None
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", UP_TO)
def test_bounds_that_two_batches_do_not_tell_prove_nothing(name: str) -> None:
    """Of the batches that are tried, they keep all rows."""
    w = Writer()
    (found,) = recognise(
        w.graph(w.join([at_most(w, end, UP_TO[name](w, end)) for end in w.dense(*w.split())]))
    ).wrappers
    assert found.confidence == "likely"


@pytest.mark.parametrize(
    ("key", "confidence"),
    [
        ({**WHOLE, "stop": 1000}, "likely"),
        ([{**WHOLE, "stop": 60}, WHOLE], "likely"),
        ({**WHOLE, "start": -1000}, "likely"),
        ([WHOLE, {**WHOLE, "stop": 1000}], "proven"),
    ],
    ids=["many rows", "as many as are tried", "from the end", "many columns"],
)
def test_rows_up_to_a_number_are_not_all_of_a_larger_tower(key: Json, confidence: str) -> None:
    w = Writer()
    ends = [w.call("__operators__.getitem", end, slice_spec=key) for end in w.dense(*w.split())]
    found = only_wrapper(recognise(w.graph(w.join(ends))))
    assert found.confidence == confidence


OF_MINE = {"units": UNITS, "mine": True}


@pytest.mark.parametrize(
    ("step", "mixing"),
    [
        (function("math.reduce_max", axis=0, keepdims=True), True),
        (function("math.reduce_max", axis=1, keepdims=True), False),
        (
            function("math.reduce_max", axis=-2, keepdims=True),
            False,
        ),  # of a tensor with three axes: no rows
        (function("linalg.trace"), False),  # of a matrix it would be
        (
            lambda w, x: w.call("reshape", x, shape=[-1, 5]),
            False,
        ),  # how long the rows are is unknown
    ],
    ids=[
        "along the first axis",
        "along the next",
        "along one or the other",
        "of matrices",
        "shaped anew",
    ],
)
def test_of_tensors_without_a_shape_is_told_what_holds_for_any(step: Step, mixing: bool) -> None:
    """Here behind a layer with custom code, which may keep the rows."""
    w = Writer()
    (x,) = w.layer("Dense>Mine", "mine", OF_MINE, [["x", 0, 0]])
    assert LayerTensors(w.graph(x)).rank_of(Ref("mine", 0, 0)) is None
    kept = rows_kept(
        LayerTensors(w.graph(end := step(w, x))), [Ref(*end)], {Ref("mine", 0, 0): None}
    )
    assert (kept.mixing is not None) is mixing


@pytest.mark.parametrize("class_name", ["Dense>Mine", "Dense"], ids=["no shape", "a shape"])
@pytest.mark.parametrize("step", [*ALONG_THE_BATCH.values(), *ROW_BY_ROW.values()])
def test_the_call_that_mixes_is_found_by_fewer_trials(step: Step, class_name: str) -> None:
    w = Writer()
    (x,) = w.layer(class_name, "mine", OF_MINE, [["x", 0, 0]])
    tensors = LayerTensors(w.graph(end := step(w, x)))
    ends, entries = [Ref(*end)], {Ref("mine", 0, 0): None}
    assert mixing_call(tensors, ends, entries) == rows_kept(tensors, ends, entries).mixing


@pytest.mark.parametrize("rank", RANKS)
def test_layers_that_map_rows_mix_none(rank: int) -> None:
    """So a template of such layers needs no trial."""
    tried = set()
    for name in LAYER_RECORDS:
        w = Writer()
        (x,) = w.layer("Dense>Mine", "mine", OF_MINE, [["x", 0, 0]])
        (made,) = w.layer(name, "made", {}, [x])
        (end,) = w.layer("Flatten", "end", {}, [made])
        tensors = LayerTensors(w.graph(end))
        if tensors.maps_rows(CallId("made", 0)) and tensors.maps_rows(CallId("end", 0)):
            entries = {Ref("mine", 0, 0): (None,) * rank}
            trials = [TowerRows(tensors, entries, rank, size) for size in UNKNOWN_SIZES]
            assert not any(trial.rows_up_to(Ref(*end)).mixing for trial in trials), name
            tried.add(name)
    assert {"Dense", "Conv2D", "Flatten", "LSTM", "MaxPooling1D"} <= tried


def template(step: Step) -> str | None:
    """The layer of a nested model that works along the batch."""
    w = Writer()
    return mixing_layer(w.graph(step(w, *w.dense(["x", 0, 0]))))


@pytest.mark.parametrize(
    ("step", "layer"),
    [
        (ALONG_THE_BATCH["reduced"], "op_2"),
        (ALONG_THE_BATCH["weighed"], "op_2"),
        (compared, "op_2"),
        (recurrent(time_major=True), "rnn_0"),
        (over_turned_rows, "conv_3"),
        (ROW_BY_ROW["reduced"], None),
        (ROW_BY_ROW["weighed"], None),
        (recurrent(time_major=False), None),
    ],
    ids=[
        "reduced",
        "weighed",
        "compared",
        "time first",
        "over turned rows",
        "row reduced",
        "row weighed",
        "batch first",
    ],
)
def test_a_template_may_work_along_the_batch(step: Step, layer: str | None) -> None:
    assert template(step) == layer


tf: Any = None  # what the code of slices names; it is read, not called
K: Any = None


def test_a_parallel_model_in_a_template_joins_what_its_slices_took() -> None:
    w = Writer()
    halves = (lambda x: x[: tf.shape(x)[0] // 2], lambda x: x[tf.shape(x)[0] // 2 :])
    parts = [
        w.layer(
            "Lambda", f"half_{i}", {"function": function_of(half), "arguments": {}}, [["x", 0, 0]]
        )[0]
        for i, half in enumerate(halves)
    ]
    assert mixing_layer(w.graph(w.join(w.dense(*parts)))) is None
    assert mixing_layer(w.graph(parts[0])) == "half_0"


@pytest.mark.parametrize("step", [ROW_BY_ROW["weighed"], function("reshape", shape=[4, 3, 1])])
def test_a_template_may_be_made_for_so_many_rows(step: Step) -> None:
    w = Writer(rows=4)
    assert mixing_layer(w.graph(step(w, *w.dense(["x", 0, 0])))) is None


def test_a_model_in_a_template_is_looked_into() -> None:
    inner, outer = Writer(), Writer()
    entry = inner.model(weighed(0)(inner, *inner.dense(["x", 0, 0])))
    outer.layers.append({**entry, "name": "inner", "inbound_nodes": [[["x", 0, 0, {}]]]})
    assert mixing_layer(outer.graph(["inner", 0, 0])) == "op_2"


def served(axis: int, *, chosen: bool = False) -> tuple[bool, list[str]]:
    """Return whether towers that weigh their rows are found in a serving graph, and the near misses."""
    w = OpWriter()
    ends = []
    for part in cut(w, "split", w.op("Placeholder", shape=(-1, 3)), 2):
        h = w.op("MatMul", part, w.variable(0), shape=(-1, 3))
        mean = w.op(
            "Mean",
            h,
            w.op("Const", value=[axis]),
            shape=(1, 3) if axis == 0 else (-1, 1),
            keep_dims=True,
        )
        mean = w.op("Merge", mean, h, shape=(-1, 3)) if chosen else mean
        ends.append(w.op("Sub", h, mean, shape=(-1, 3)))
    found = find([w.graph([w.op("ConcatV2", *ends, w.op("Const", value=0), shape=(-1, 3))])], {})
    return found.wrapper is not None, [miss.reason for miss in found.near_misses]


def test_a_serving_graph_is_read_alike() -> None:
    number, (reason,) = served(0)
    assert (number, reason.endswith("works along the batch")) == (False, True)
    assert served(1) == (True, [])


@pytest.mark.parametrize(
    ("kind", "attributes", "found"),
    [
        ("MatMul", {"transpose_b": True}, False),
        ("BatchMatMulV2", {"adj_y": True}, False),
        ("Einsum", {"equation": b"ij,kj->ik"}, False),
        ("Einsum", {"equation": b"ij,ij->ij"}, True),
        ("Mul", {}, True),
    ],
)
def test_products_of_a_serving_graph_say_in_their_attributes_what_they_sum_over(
    kind: str, attributes: dict[str, Any], found: bool
) -> None:
    w = OpWriter()
    ends = []
    for part in cut(w, "split", w.op("Placeholder", shape=(-1, 3)), 2):
        h = w.op("MatMul", part, w.variable(0), shape=(-1, 3))
        h = w.op(kind, h, h, shape=(-1, -1), **attributes)
        ends.append(w.op("Relu", h, shape=(-1, -1)))
    served = find([w.graph([w.op("ConcatV2", *ends, w.op("Const", value=0), shape=(-1, -1))])], {})
    assert (served.wrapper is not None) is found


def test_what_one_of_two_branches_does_is_not_told() -> None:
    """Batch normalization means over the batch in training alone."""
    assert served(0, chosen=True) == (True, [])


def test_a_batch_normalization_that_trains_is_no_mixing_of_rows() -> None:
    w = OpWriter()
    ends = []
    for part in cut(w, "split", w.op("Placeholder", shape=(-1, 3)), 2):
        h = w.op("MatMul", part, w.variable(0), shape=(-1, 3))
        mean = w.op("Mean", h, w.op("Const", value=[0]), shape=(1, 3), keep_dims=True)
        squares = w.op("SquaredDifference", h, w.op("StopGradient", mean), shape=(-1, 3))
        variance = w.op("Mean", squares, w.op("Const", value=[0]), shape=(1, 3), keep_dims=True)
        centred = w.op("Sub", h, mean, shape=(-1, 3))
        ends.append(w.op("Mul", centred, w.op("Rsqrt", variance, shape=(1, 3)), shape=(-1, 3)))
    found = find([w.graph([w.op("ConcatV2", *ends, w.op("Const", value=0), shape=(-1, 3))])], {})
    assert found.wrapper is not None


def test_a_loss_beside_rows_is_reduced_over_the_batch() -> None:
    w = Writer()
    (rows,) = w.dense(["x", 0, 0])
    loss = w.call("reshape", w.call("math.reduce_mean", rows), shape=[1, 1])
    assert mixing_layer(w.graph(rows, loss)) is None
    assert mixing_layer(w.graph(loss)) == "op_2"
    weights = weighed(0)(w, rows)
    assert mixing_layer(w.graph(rows, weights)) == "op_4"


def test_a_loss_may_be_given_a_row_by_code() -> None:
    """It counts if nothing is known about rows, as an operation's does."""
    w = Writer()
    (rows,) = w.dense(["x", 0, 0])
    settings = {
        "function": function_of(lambda x: K.reshape(K.mean(x), [1, 1])),
        "function_type": "lambda",
    }
    (loss,) = w.layer("Lambda", "loss", settings, [rows])
    assert mixing_layer(w.graph(rows, loss)) is None
    assert mixing_layer(w.graph(loss)) == "loss"


@pytest.mark.parametrize(
    ("config", "arguments", "mixing"),
    [
        ({}, {"training": True}, "norm"),
        ({}, {}, None),
        ({"mode": 2}, {}, "norm"),
        ({"trainable": False}, {"training": True}, None),
    ],
)
def test_a_normalization_by_the_rows_at_hand(
    config: dict[str, Any], arguments: dict[str, Any], mixing: str | None
) -> None:
    w = Writer()
    (rows,) = w.dense(["x", 0, 0])
    (normalized,) = w.layer("BatchNormalization", "norm", config, [rows])
    w.layers[-1]["inbound_nodes"] = [[[*rows, arguments]]]
    assert mixing_layer(w.graph(normalized)) == mixing


def test_a_sequential_without_an_input() -> None:
    """Its input is not stored; its first layer gives rows."""
    code = function_of(lambda x: x - K.mean(x, axis=0))
    entries: list[Json] = [
        {"class_name": "Dense", "config": {"name": "d", "trainable": True, "units": 3}},
        {
            "class_name": "Lambda",
            "config": {"name": "centred", "trainable": True, "function": code},
        },
    ]
    model = read({"class_name": "Sequential", "config": {"name": "s", "layers": entries}})
    assert not model.inputs
    assert mixing_layer(model) == "centred"


def normalizing(*class_names: str) -> Writer:
    w = Writer()
    tensor: Tensor = ["x", 0, 0]
    for name in class_names:
        config = (
            {}
            if name == "Activation"
            else {"gamma_initializer": "ones", "beta_initializer": "zeros"}
        )
        tensor = w.layer(name, name.lower(), config, [tensor])[0]
    return w


@pytest.mark.parametrize(
    ("class_names", "only"),
    [
        (("BatchNormalization",), True),
        (("BatchNormalization", "Activation"), True),
        (("BatchNormalization", "Dense"), False),
        (("BatchNormalization", "Mine"), False),
        (("LayerNormalization",), False),
        (("Activation",), False),
    ],
)
def test_a_model_may_do_nothing_but_normalize(class_names: tuple[str, ...], only: bool) -> None:
    w = normalizing(*class_names)
    model = w.model([class_names[-1].lower(), 0, 0])
    assert layer_batch_roles.only_normalizes(model) is only
    nested = Writer()
    nested.layers.append({**model, "name": "inner", "inbound_nodes": [[["x", 0, 0, {}]]]})
    assert layer_batch_roles.only_normalizes(nested.model(["inner", 0, 0])) is only


def around(
    model: dict[str, object], *, behind: bool = False, inside: bool = False
) -> tuple[int, list[str]]:
    w = Writer()
    parts = w.split()
    w.layers.append({**model, "name": "part", "inbound_nodes": [[[*part, {}]] for part in parts]})
    end = w.join([["part", rank, 0] for rank in range(len(parts))])
    [end] = w.dense(end) if behind else [end]
    recognised = recognise(
        read(w.model(end)), outer=EnclosingModel(None, "model") if inside else None
    )
    return len(recognised.wrappers), [miss.reason for miss in recognised.near_misses]


@pytest.mark.parametrize("place", [{"behind": True}, {"inside": True}], ids=str)
def test_ghost_batch_normalization_by_a_nested_model_is_left_alone(place: dict[str, bool]) -> None:
    """Within a larger model, statistics of parts of a batch are a purpose of their own."""
    ghost = normalizing("BatchNormalization").model(["batchnormalization", 0, 0])
    assert around(ghost, **place) == (
        0,
        ["part holds no weights, except those of normalizations"],
    )
    both = normalizing("BatchNormalization", "Dense").model(["dense", 0, 0])
    assert around(both, **place)[0] == 1


def test_a_whole_model_may_hold_the_weights_of_normalizations_alone() -> None:
    normalization = normalizing("BatchNormalization", "Activation").model(["activation", 0, 0])
    assert around(normalization) == (1, [])
