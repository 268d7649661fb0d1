"""Wrappers of layer graphs, and one sentence on why the nearest candidate is not one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.judged import check_verdict, only_wrapper
from tests.unit.core.build import DENSE, functional, layer, nested, sequential, source
from tests.unit.core.wrappers.one_layer import function
from tests.unit.core.wrappers.towers import STORED, Entry, model
from unnest.core.architecture import read
from unnest.core.recognition_results import NearMiss
from unnest.core.wrappers.layer_graph import recognise_layer_graph
from unnest.core.wrappers.layer_graph.wrapper_records import Assumptions, Recognised

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
    return recognise_layer_graph.recognise(read(entry), Assumptions(vouched))


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


tf: Any = None  # what the code of these functions names; it is read, not called
K: Any = None


@pytest.mark.parametrize(
    ("code", "is_shown"),
    [
        (lambda x: K.in_train_phase(x + 1.0, x), False),
        (lambda x: tf.stop_gradient(x * 2.0), False),
        (lambda x: tf.identity(x * 2.0), True),
        (lambda x: x[: tf.shape(x)[0] // 2], True),
    ],
    ids=["a phase", "a gradient", "another name", "a cut"],
)
def test_code_that_a_serving_graph_does_not_show(code: Any, *, is_shown: bool) -> None:
    entry = layer("h", ["x"], kind="Lambda", function=function(code), arguments={})
    graph = read(functional(source(), entry, outputs=[("h", 0, 0)]))
    assert recognise_layer_graph.differs_in_training(graph) is not is_shown
