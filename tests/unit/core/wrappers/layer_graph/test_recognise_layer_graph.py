"""Wrappers of layer graphs, and one sentence on why the nearest candidate is not one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from tests.judged import check_verdict, only_wrapper
from tests.unit.core.build import DENSE, functional, layer, nested, sequential, source
from tests.unit.core.wrappers.inline import Writer
from tests.unit.core.wrappers.towers import STORED, Entry, model
from unnest.core.architecture import read
from unnest.core.model import CallId, Ref
from unnest.core.recognition_results import NearMiss
from unnest.core.wrappers.layer_graph import recognise_layer_graph
from unnest.core.wrappers.layer_graph.wrapper_records import Recognised

INDEX = [{"i": i, "parts": 2} for i in range(2)]
OPAQUE = (
    "the file does not show whether Rows cuts the batch or changes its values; "
    "if it cuts, pass --slice-layer Rows"
)


def lane(stored: str, *told: dict[str, Any]) -> list[Entry]:
    """One input's slices."""
    return [STORED[stored](f"s{i}", one) for i, one in enumerate(told)]


def merge(kind: str, **config: Any) -> Entry:
    """A merge layer."""
    return {"class_name": kind, "config": {"name": "merge", "trainable": True, **config}}


def seen(entry: Entry, *vouched: str) -> Recognised:
    """Return what is recognised in a model."""
    return recognise_layer_graph.recognise(read(entry), vouched)


def test_a_chain_has_no_room_for_towers() -> None:
    assert recognise_layer_graph.recognise(read(sequential(layer("a"), layer("b")))) == Recognised()


def test_two_towers() -> None:
    """Template, towers, sources, merge; a plain candidate leaves no near miss."""
    found = seen(model([lane("arguments", *INDEX)]))
    wrapper = only_wrapper(found)
    assert (wrapper.template, len(wrapper.towers), wrapper.sources[0].layer) == ("net", 2, "x0")
    assert [m.layer for m in wrapper.merges] == ["merge"]
    assert found.near_misses == ()


def test_towers_whose_rows_nobody_reads_are_no_wrapper() -> None:
    """Keras stores what leads to the outputs, so that nothing can be said of such a file."""
    entry = model([lane("arguments", *INDEX)])
    entry["config"]["output_layers"] = [["x0", 0, 0]]
    assert seen(entry) == Recognised((), (NearMiss("merge", "nothing reads what merge gives"),))


def twins(*layers: Entry, **ends: Any) -> Recognised:
    """Return what is recognised if a layer with weights is called on each of two inputs."""
    inputs = [("x", 0, 0), ("z", 0, 0)]
    return seen(functional(source(), source("z"), *layers, inputs=inputs, **ends))


@pytest.mark.parametrize(
    "ends",
    [
        [layer("y", [("e", 0, 0), ("e", 1, 0)], kind="Subtract")],
        [
            layer("e2", [("e", 0, 0)], [("e", 1, 0)], kind="ReLU"),
            layer("y", [("e2", 0, 0), ("e2", 1, 0)], kind="Dot"),
        ],
    ],
    ids=["a difference", "a product of what a layer without weights makes of them"],
)
def test_siamese_twins_are_never_joined(ends: list[Entry]) -> None:
    """The layer that learns is named, and the last of several."""
    reason = "no layer is known to join the outputs of the 2 calls of e along the batch"
    encoder = [layer("d", ["x"], ["z"], **DENSE), layer("e", [("d", 0, 0)], [("d", 1, 0)], **DENSE)]
    assert twins(*encoder, *ends).near_misses == (NearMiss("e", reason),)


def test_layers_that_are_called_once_or_learn_nothing_are_not_near() -> None:
    each = [layer("d", ["x"], **DENSE), layer("e", ["z"], **DENSE)]
    flat = layer("f", ["d"], ["e"], kind="Flatten")
    assert (
        twins(*each, flat, layer("y", [("f", 0, 0), ("f", 1, 0)], kind="Subtract")).near_misses
        == ()
    )


def test_code_that_is_not_in_the_file_proves_nothing() -> None:
    """Complete numbers make a wrapper likely; only code that can be read, or operations, prove it."""
    assert seen(model([lane("config", *INDEX)])).wrappers[0].confidence == "likely"


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        (
            model([lane("config", {}, {})]),
            OPAQUE,
        ),
        (model([lane("config", {"seed": 7}, {"seed": 9})]), OPAQUE),
        (model([lane("config", {"k": 1}, {"k": 1})]), OPAQUE),
        (model([lane("config", {"k": 0}, {"k": 1})]), OPAQUE),
        (
            model([lane("arguments", {"i": 0, "parts": 3}, {"i": 1, "parts": 3})]),
            "slice arguments: i counts from 0, but parts is 3, 3 in the slices",
        ),
        (
            model([lane("arguments", {"i": 1, "parts": 2}, {"i": 0, "parts": 2})]),
            "i is 1, 0 in the slices, which does not number parts in order",
        ),
        (
            model([lane("arguments", INDEX[0], INDEX[0])]),
            "every slice has the same arguments: i = 0, parts = 2",
        ),
        (
            model([lane("arguments", *INDEX)], merge("Average")),
            "merge adds, averages or stacks the outputs of net instead of concatenating them",
        ),
        (
            model([lane("arguments", *INDEX)], merge("Concatenate", axis=-1)),
            "merge (Concatenate) does not concatenate the outputs of net along the batch",
        ),
        (
            model(
                [
                    [
                        {"class_name": "GaussianNoise", "config": {"name": f"s{i}", "stddev": 0.1}}
                        for i in range(2)
                    ]
                ]
            ),
            "s0 is Keras's GaussianNoise, which keeps all rows",
        ),
    ],
)
def test_near_misses(entry: Entry, reason: str) -> None:
    """The reason, by value."""
    found = seen(entry)
    assert found == Recognised((), (NearMiss("merge", reason),))


def test_the_caller_vouches_for_a_class() -> None:
    """Then it is likely, and the evidence says whose word it is; numbers that say otherwise still count."""
    opaque = model([lane("config", {}, {})])
    wrapper = only_wrapper(seen(opaque, "Rows"))
    assert wrapper.confidence == "likely"
    assert "the caller vouches that Rows cuts the batch in order" in wrapper.evidence
    check_verdict(seen(opaque, "Columns"), "clean")
    check_verdict(seen(model([lane("config", INDEX[1], INDEX[0])]), "Rows"), "clean")


def test_cells_bound_late() -> None:
    """Equal cells that are the last part's are likely; any other equal cells are one part twice."""
    wrapper = only_wrapper(seen(model([lane("cells", INDEX[1], INDEX[1])])))
    assert wrapper.confidence == "likely"
    check_verdict(seen(model([lane("cells", INDEX[0], INDEX[0])])), "clean")
    bounds = {"start": 4, "stop": 8}
    assert only_wrapper(seen(model([lane("cells", bounds, bounds)]))).confidence == "likely"


WORDS = [
    "Minibatch",
    "Padded",
    "NoiseFreeSlice",
    "NormSampler",
    "AddOnCrop",
    "my>ConcatPart",
    "Addons>MaxPoolSlice",
]


@pytest.mark.parametrize("name", WORDS)
def test_what_a_class_is_called_says_nothing(name: str) -> None:
    """Words that Keras's own classes have in them, in the names of custom ones."""
    told = lane("config", *INDEX)
    renamed = [{**entry, "class_name": name} for entry in told]
    assert seen(model([renamed])).wrappers == seen(model([told])).wrappers
    joined = seen(model([told], merge(name))).wrappers
    assert [w.towers for w in joined] == [
        w.towers for w in seen(model([told], merge("Joiner"))).wrappers
    ]


def _shared_layers(told: Sequence[Mapping[str, int]], *, learns: bool = True) -> Writer:
    """A model whose towers are one layer of its own, each behind a Lambda with its part as argument."""
    writer = Writer()
    settings = {"function": ["not code", None, None]}
    parts = [
        writer.layer("Lambda", f"part_{n}", {**settings, "arguments": dict(each)}, [["x", 0, 0]])[0]
        for n, each in enumerate(told)
    ]
    writer.join(
        writer.dense(*parts) if learns else writer.layer("Dropout", "drop", {"rate": 0.5}, parts)
    )
    return writer


def test_towers_of_the_models_own_layers_behind_told_slices() -> None:
    """The first tower's calls, what they read in place of the slice, what stands for the merged tensor."""
    graph = _shared_layers([{"i": 0, "parts": 2}, {"i": 1, "parts": 2}]).graph(["joined", 0, 0])
    found = only_wrapper(recognise_layer_graph.recognise(graph))
    assert found.inline is not None
    assert (found.template, found.sources, found.confidence) == (
        "dense",
        (Ref("x", 0, 0),),
        "likely",
    )
    assert found.first == {CallId("dense", 0)}
    assert found.sources_by_slice(graph) == {Ref("part_0", 0, 0): Ref("x", 0, 0)}
    assert found.ends == {Ref("joined", 0, 0): Ref("dense", 0, 0)}


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        (
            [{"i": 1, "parts": 2}, {"i": 0, "parts": 2}],
            "i is 1, 0 in the slices, which does not number parts in order",
        ),
        ([{"i": 0}, {"i": 1}], "the file does not show that part_0 and similar layers cut x"),
        (
            [{"i": 0, "parts": 2, "axis": 1}, {"i": 1, "parts": 2, "axis": 1}],
            "part_0 cuts axis 1, which is not the batch",
        ),
    ],
)
def test_own_layers_behind_slices_that_are_told_otherwise(
    told: list[dict[str, int]], reason: str
) -> None:
    """Towers of the model's own layers need slices that show all rows in order."""
    seen = recognise_layer_graph.recognise(_shared_layers(told).graph(["joined", 0, 0]))
    assert (seen.wrappers, [miss.reason for miss in seen.near_misses]) == ((), [reason])


def test_own_layers_that_learn_nothing_behind_told_slices() -> None:
    """Towers without weights are not worth a wrapper, and may be parts on purpose."""
    writer = _shared_layers([{"i": 0, "parts": 2}, {"i": 1, "parts": 2}], learns=False)
    seen = recognise_layer_graph.recognise(writer.graph(["joined", 0, 0]))
    assert seen.wrappers == ()
    assert [miss.reason for miss in seen.near_misses] == [
        "the towers that end in drop hold no weights, except those of normalizations"
    ]


def test_towers_that_are_built_for_their_number_of_rows_take_no_other() -> None:
    """As behind slices that are operations: with the whole batch such a tower would not run."""
    writer = Writer(rows=8)
    told = [
        {"function": ["not code", None, None], "arguments": {"i": i, "parts": 2}} for i in (0, 1)
    ]
    parts = [
        writer.layer("Lambda", f"part_{i}", each, [["x", 0, 0]])[0] for i, each in enumerate(told)
    ]
    joined = writer.join(
        writer.dense(*(writer.call("reshape", part, shape=[4, 4]) for part in parts))
    )
    seen = recognise_layer_graph.recognise(writer.graph(joined))
    assert seen.wrappers == ()
    assert [miss.reason for miss in seen.near_misses] == [
        "op_3 is built for the number of rows of one tower, and takes no other"
    ]


def test_rows_of_another_shape_behind_told_slices() -> None:
    """A model that takes narrower rows than those that are sliced reads channels, whatever stands behind it."""
    inner = [
        {
            "class_name": "InputLayer",
            "name": "in",
            "config": {"name": "in", "batch_input_shape": [None, 2]},
        },
        {
            "class_name": "Dense",
            "name": "d",
            "config": {"name": "d", "units": 3, "kernel_initializer": "zeros"},
        },
    ]
    ends = {"input_layers": [["in", 0, 0]], "output_layers": [["d", 0, 0]]}
    layers = [
        {**inner[0], "inbound_nodes": []},
        {**inner[1], "inbound_nodes": [[["in", 0, 0, {}]]]},
    ]
    writer = Writer()
    told = [
        {"function": ["not code", None, None], "arguments": {"i": i, "parts": 2}} for i in (0, 1)
    ]
    parts = [
        writer.layer("Lambda", f"part_{i}", each, [["x", 0, 0]])[0] for i, each in enumerate(told)
    ]
    calls = [[[*part, {}]] for part in parts]
    config = {"name": "net", "layers": layers, **ends}
    writer.layers.append(
        {"class_name": "Functional", "name": "net", "config": config, "inbound_nodes": calls}
    )
    joined = writer.join(writer.dense(["net", 1, 0], ["net", 2, 0]))
    seen = recognise_layer_graph.recognise(writer.graph(joined))
    reason = "net takes rows of another shape than those of x"
    assert (seen.wrappers, [miss.reason for miss in seen.near_misses]) == ((), [reason])


@pytest.mark.parametrize(
    ("entry", "is_shown"),
    [
        (layer("h", ["x"], kind="Dropout", trainable=True, rate=0.3), True),
        (layer("h", ["x"], kind="Activation", trainable=True, activation="tanh"), True),
        (layer("h", ["x"], kind="Activation", trainable=True, activation="first_half"), False),
        (layer("h", ["x"], kind="Share", trainable=True, rate=0.3), False),
        (nested(sequential(layer("inner", kind="Share", trainable=True), name="h"), ["x"]), False),
        (
            {
                **layer("h", kind="TFOpLambda", function="stop_gradient"),
                "inbound_nodes": [["x", 0, 0, {}]],
            },
            True,
        ),
        (
            {
                **layer("h", kind="TFOpLambda", function="own.first_half"),
                "inbound_nodes": [["x", 0, 0, {}]],
            },
            False,
        ),
    ],
)
def test_layers_that_show_every_cut_of_the_batch(entry: Entry, *, is_shown: bool) -> None:
    """Custom code, within Keras's layers and within models too, and operations that are not known may cut rows."""
    graph = read(functional(source(), entry, outputs=[("h", 0, 0)]))
    assert recognise_layer_graph.shows_row_cuts(graph) is is_shown
