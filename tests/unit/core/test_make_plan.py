"""Plans for a stored model: clean, parallel with a result, or refused; and no tensor is forgotten."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.build import DENSE, functional, layer, names, nested, source, tensors
from tests.unit.core.rewrite.wrapping import MERGE, split
from unnest.core.make_plan import NotAGraph, plan
from unnest.core.model import Contents, Group, JsonObject, Stored, Tensor
from unnest.core.plan import Plan, Refusal, Rewritten

TEMPLATE = functional(
    source("tx"), layer("a", ["tx"], **DENSE), layer("b", ["a"], **DENSE),
    inputs=[("tx", 0, 0)], outputs=[("b", 0, 0)], name="t",
)  # fmt: skip


def template_of(first: str, second: str) -> dict[str, Any]:
    """The template with other names for its two layers, which are of one shape."""
    chain = (source("tx"), layer(first, ["tx"], **DENSE), layer(second, [first], **DENSE))
    return functional(*chain, inputs=[("tx", 0, 0)], outputs=[(second, 0, 0)], name="t")


def with_head(name: str) -> dict[str, Any]:
    """The single-device model whose last layer is no part of the template."""
    config = TEMPLATE["config"]
    layers = [*config["layers"], layer(name, ["b"], **DENSE)]
    return {**TEMPLATE, "config": {**config, "layers": layers, "output_layers": [[name, 0, 0]]}}


PARALLEL = functional(
    source(), split("s", "x"), nested(TEMPLATE, [("s", 0, 0)], [("s", 0, 1)]), MERGE,
    outputs=[("m", 0, 0)], name="outer",
)  # fmt: skip
WEIGHTS = tensors("a/kernel:0", "a/bias:0", "b/kernel:0", "b/bias:0")
GROUPS = (Group("x", ()), Group("s", ()), Group("t", WEIGHTS), Group("m", ()))
BARE = (
    Group("x", ()),
    Group("lambda_1", ()),
    Group("lambda_2", ()),
    Group("t", WEIGHTS),
    Group("concatenate_1", ()),
)


def stored(
    architecture: dict[str, Any] | None = PARALLEL, groups: tuple[Group, ...] = GROUPS, **more: Any
) -> Stored:
    contents: Contents = "model" if architecture is not None else "weights"
    return Stored(
        contents, architecture, None, groups, keras_version="2.4.0", backend="tensorflow", **more
    )


def of_layers(result: Plan) -> dict[str, list[str]]:
    """Layer -> its tensors, in the result."""
    assert result.result is not None
    return {group.name: [t.name for t in group.tensors] for group in result.result.groups}


def test_a_parallel_model_becomes_its_template_with_every_tensor() -> None:
    result = plan(stored())
    assert (result.verdict, result.refusal, result.dropped) == ("parallel", None, ())
    assert [(w.template, w.towers, w.confidence) for w in result.wrappers] == [("t", 2, "proven")]
    assert of_layers(result) == {
        "tx": [],
        "a": ["a/kernel:0", "a/bias:0"],
        "b": ["b/kernel:0", "b/bias:0"],
    }
    assert result.result is not None
    assert result.result.architecture is not None
    config = result.result.architecture["config"]
    assert isinstance(config, dict)
    assert names(config["layers"]) == ["tx", "a", "b"]
    assert result.template is not None
    assert (result.template.inputs, result.template.outputs, result.template.parameters) == (
        1,
        1,
        24,
    )


def test_compile_settings_within_the_json_stay_with_the_template() -> None:
    """Keras 3 writes them so, and empty ones of every model within."""
    template = {**TEMPLATE, "compile_config": {}}
    compiled = functional(
        source(), split("s", "x"), nested(template, [("s", 0, 0)], [("s", 0, 1)]), MERGE,
        outputs=[("m", 0, 0)], name="outer",
    )  # fmt: skip
    compiled["compile_config"] = {"loss": {"m": "mse"}, "jit_compile": False}
    result = plan(Stored("architecture", compiled)).result
    assert result is not None
    assert result.architecture is not None
    assert result.architecture["compile_config"] == {"loss": {"b": "mse"}, "jit_compile": False}


@pytest.mark.parametrize(
    "architecture", [TEMPLATE, functional(source(), layer("y", ["x"]))], ids=["template", "net"]
)
def test_a_model_without_a_wrapper_stays(architecture: dict[str, Any]) -> None:
    result = plan(stored(architecture, ()))
    assert (result.verdict, result.wrappers, result.result, result.refusal) == (
        "clean",
        (),
        None,
        None,
    )


def test_a_model_that_keeps_its_layers_in_code_is_not_looked_into() -> None:
    result = plan(stored({"class_name": "Mine", "config": {}}, ()))
    assert result.verdict == "clean"
    assert [finding.code for finding in result.findings] == ["no-graph"]


def test_weights_with_the_json_of_a_class_that_keeps_its_layers_in_code() -> None:
    """It is the saved model's own, so that asking for it would not help."""
    weights = stored(TEMPLATE, ())._replace(contents="weights", architecture=None)
    refusal = plan(weights, architecture={"class_name": "ParallelModel", "config": {}}).refusal
    assert refusal == Refusal(
        "architecture-mismatch",
        "the architecture given lists no layers, which ParallelModel keeps in its code; "
        "pass that of the template, the model which is called on every part",
    )


@pytest.mark.parametrize(
    ("architecture", "why"),
    [
        (
            {
                **TEMPLATE,
                "config": {**TEMPLATE["config"], "layers": [*TEMPLATE["config"]["layers"], 7]},
            },
            "not a layer",
        ),
        ({"class_name": "Sequential", "config": [layer("a", []), 7]}, "not a layer"),
        (functional(source(), {**layer("y", ["x"]), "config": None}), "has no config"),
        (
            functional(source(), {**layer("y", ["x"]), "inbound_nodes": [[["x", 0, -1, {}]]]}),
            "below zero",
        ),
    ],
)
def test_what_is_no_graph(architecture: dict[str, Any], why: str) -> None:
    with pytest.raises(NotAGraph, match=why):
        plan(stored(architecture, ()))


@pytest.mark.parametrize("layers", [[64, 32], 3, ["relu"], [{"units": 4}]])
def test_layers_of_a_class_of_ones_own_are_what_it_likes(layers: Any) -> None:
    result = plan(stored({"class_name": "MLP", "config": {"layers": layers}}, ()))
    assert [finding.code for finding in result.findings] == ["no-graph"]


def test_a_near_miss_is_told() -> None:
    merge = {**MERGE, "config": {**MERGE["config"], "axis": 1}}
    channels = functional(
        *PARALLEL["config"]["layers"][:-1], merge, outputs=[("m", 0, 0)], name="outer"
    )
    result = plan(stored(channels))
    assert result.verdict == "clean"
    assert [miss.layer for miss in result.near_misses] == ["m"]


def test_optimizer_state_stays_in_its_order() -> None:
    state = tensors("iterations", "m_a", "m_b")
    state = tuple(t._replace(ref=f"/optimizer{t.ref}") for t in state)
    result = plan(stored(optimizer=state))
    assert result.result is not None
    assert result.result.optimizer == state
    assert result.dropped == ()


@pytest.mark.parametrize(
    ("version", "order"),
    [("2.4.0", "aebf"), ("2.0.6", "aebf"), ("2.0.5", "abef"), ("1.2.2", "abef")],
)
def test_optimizer_state_where_layers_move(version: str, order: str) -> None:
    """Under a head the template's `b` comes to stand behind `e`; so does its state, unless it is sorted by names."""
    join = layer("c", ["m", "f"], kind="Concatenate", axis=-1)
    beside = (layer("e", ["x"], **DENSE), MERGE, layer("f", ["e"], **DENSE), join)
    headed = functional(
        *PARALLEL["config"]["layers"][:-1], *beside, outputs=[("c", 0, 0)], name="outer"
    )
    groups = {name: Group(name, tensors(f"{name}/kernel:0", f"{name}/bias:0")) for name in "ef"}
    weights = (*WEIGHTS, *groups["e"].tensors, *groups["f"].tensors)
    state = tuple(t._replace(ref=f"/optimizer{t.ref}") for t in weights)
    before = stored(headed, (*GROUPS[:3], groups["e"], GROUPS[3], groups["f"]), optimizer=state)
    result = plan(before._replace(keras_version=version)).result
    assert result is not None
    assert [g.name for g in result.groups if g.tensors] == [*"aebf"]
    assert [t.name for t in result.optimizer or ()] == [
        f"{name}/{w}:0" for name in order for w in ("kernel", "bias")
    ]


class TestWeightsAlone:
    """Names tell, or the architecture that was kept apart."""

    def test_names_tell_of_a_wrapper(self) -> None:
        result = plan(stored(None, BARE))
        assert result.verdict == "parallel"
        assert of_layers(result) == {
            "a": ["a/kernel:0", "a/bias:0"],
            "b": ["b/kernel:0", "b/bias:0"],
        }
        assert [(w.template, w.towers, w.confidence) for w in result.wrappers] == [
            ("t", 2, "likely")
        ]
        assert {finding.code for finding in result.findings} == {
            "names-alone",
            "weightless-left-out",
        }

    def test_weights_that_unnest_wrote_are_clean(self) -> None:
        ours = stored(None, BARE, is_ours=True)
        assert plan(ours) == Plan(verdict="clean", stored=ours, output=Rewritten(ours))

    def test_one_layer_with_the_weights_of_several_is_doubtful(self) -> None:
        result = plan(stored(None, (Group("x", ()), Group("t", WEIGHTS))))
        assert result.verdict == "clean"
        assert [finding.code for finding in result.findings] == ["needs-architecture"]
        flat = plan(
            stored(None, (Group("x", ()), Group("a", WEIGHTS[:2]), Group("b", WEIGHTS[2:])))
        )
        assert (flat.verdict, flat.findings) == ("clean", ())

    @pytest.mark.parametrize(
        "architecture", [PARALLEL, TEMPLATE], ids=["of the parallel model", "of the template"]
    )
    def test_the_architecture_may_be_given(self, architecture: dict[str, Any]) -> None:
        groups = GROUPS if architecture is PARALLEL else BARE
        result = plan(stored(None, groups), architecture=architecture)
        assert (result.verdict, result.refusal, result.dropped) == ("parallel", None, ())
        assert of_layers(result) == {
            "tx": [],
            "a": ["a/kernel:0", "a/bias:0"],
            "b": ["b/kernel:0", "b/bias:0"],
        }

    def test_the_parallel_model_s_may_be_given_with_the_template_s_weights(self) -> None:
        """The same line once more, when the file is fixed."""
        groups = (Group("tx", ()), Group("a", WEIGHTS[:2]), Group("b", WEIGHTS[2:]))
        weights = stored(None, groups)
        result = plan(weights, architecture=PARALLEL)
        assert (result.verdict, result.refusal, result.output) == (
            "clean",
            None,
            Rewritten(weights),
        )
        assert result.complete == plan(weights, architecture=TEMPLATE).complete
        assert result.complete is not None

    def test_weights_of_the_template_s_one_layer_are_no_wrapper(self) -> None:
        template = functional(
            source("tx"),
            layer("a", ["tx"], **DENSE),
            inputs=[("tx", 0, 0)],
            outputs=[("a", 0, 0)],
            name="t",
        )
        parallel = functional(
            source(), split("s", "x"), nested(template, [("s", 0, 0)], [("s", 0, 1)]), MERGE,
            outputs=[("m", 0, 0)], name="outer",
        )  # fmt: skip
        result = plan(
            stored(None, (Group("tx", ()), Group("a", WEIGHTS[:2]))), architecture=parallel
        )
        assert (result.verdict, result.refusal) == ("clean", None)

    def test_the_whole_single_device_model_s_may_be_given(self) -> None:
        """The template's layers are the groups' own that no group is called after."""
        groups = (*BARE, Group("h", tensors("h/kernel:0", "h/bias:0")))
        result = plan(stored(None, groups), architecture=with_head("h"))
        assert (result.verdict, result.refusal, result.dropped) == ("parallel", None, ())
        assert of_layers(result) == {
            "tx": [], "a": ["a/kernel:0", "a/bias:0"], "b": ["b/kernel:0", "b/bias:0"],
            "h": ["h/kernel:0", "h/bias:0"],
        }  # fmt: skip
        assert result.complete is not None
        assert result.complete.architecture == with_head("h")
        assert result.template is not None
        assert result.template.parameters == 36

    @pytest.mark.parametrize(
        ("groups", "head"),
        [
            ((*BARE, Group("h", tensors("h/kernel:0", "h/bias:0"))), "other"),
            ((*BARE, Group("h", tensors("h/kernel:0"))), "h"),
            ((*BARE, Group("h", tensors("h/kernel:0", "h/bias:0", shape=(3, 9)))), "h"),
            ((*BARE, Group("b", tensors("b/kernel:0", "b/bias:0"))), "h"),
            (
                (
                    Group("x", ()),
                    Group("t", WEIGHTS),
                    Group("h", tensors("h/kernel:0", "h/bias:0")),
                ),
                "h",
            ),
        ],
        ids=["other names", "one weight", "other shapes", "a layer of the template", "no wrapper"],
    )
    def test_a_head_that_does_not_fit_is_refused(
        self, groups: tuple[Group, ...], head: str
    ) -> None:
        result = plan(stored(None, groups), architecture=with_head(head))
        assert result.refusal is not None
        assert (result.refusal.code, result.result) == ("architecture-mismatch", None)

    def test_a_template_under_other_names_is_placed_by_order_and_says_so(self) -> None:
        """The code ran again, and Keras counted on."""
        result = plan(stored(None, BARE), architecture=template_of("dense_3", "dense_4"))
        assert of_layers(result) == {
            "tx": [], "dense_3": ["a/kernel:0", "a/bias:0"], "dense_4": ["b/kernel:0", "b/bias:0"],
        }  # fmt: skip
        told = [finding.message for finding in result.findings if finding.code == "by-order"]
        assert len(told) == 1
        assert "dense_3, dense_4" in told[0]

    def test_names_that_fit_say_nothing_of_order(self) -> None:
        result = plan(stored(None, BARE), architecture=TEMPLATE)
        assert "by-order" not in {finding.code for finding in result.findings}

    def test_names_and_order_that_say_two_things_are_refused(self) -> None:
        """The weights called b could be b's, or those of the layer that the JSON calls c."""
        result = plan(stored(None, BARE), architecture=template_of("b", "c"))
        assert result.refusal is not None
        assert (result.refusal.code, result.output) == ("architecture-mismatch", None)
        assert "the weights called b" in result.refusal.message

    @pytest.mark.parametrize(
        "architecture",
        [
            {"class_name": "Mine", "config": {}},
            functional(source(), layer("y", ["x"], **DENSE)),
            functional(source("tx"), layer("a", ["tx"], **DENSE), layer("b", ["a"], **DENSE),
                       layer("y", ["b"], **DENSE), inputs=[("tx", 0, 0)]),
        ],
        ids=["no graph", "too few layers", "too many"],
    )  # fmt: skip
    def test_another_model_s_is_refused(self, architecture: dict[str, Any]) -> None:
        result = plan(stored(None, BARE), architecture=architecture)
        assert result.refusal is not None
        assert (result.refusal.code, result.result) == ("architecture-mismatch", None)


def test_a_tensor_that_would_be_lost_is_refused() -> None:
    """A group of a layer that the graph does not have."""
    stray = Tensor("stray", (3,), "<f4", "/stray")
    result = plan(stored(groups=(*GROUPS, Group("nobody", (stray,)))))
    assert result.refusal is not None
    assert (result.refusal.code, result.result) == ("weights-unplaced", None)
    assert "/stray" in result.refusal.message


@pytest.mark.parametrize(("second", "by_order"), [("dense_5", 0), ("dense_6", 1)])
def test_weights_of_a_sequential_in_another_without_a_name(second: str, by_order: int) -> None:
    """Keras before 2.2.3 stores the inner one as a bare list: its place shows whose the weights are."""
    inner: JsonObject = {"class_name": "Sequential", "config": [layer("d", **DENSE)]}
    architecture: JsonObject = {
        "class_name": "Sequential",
        "config": [inner, layer("dense_5", **DENSE)],
    }
    groups = (
        Group("sequential_2", tensors("d/kernel:0", "d/bias:0")),
        Group(second, tensors("e/kernel:0", "e/bias:0")),
    )
    made = plan(Stored("weights", groups=groups), architecture=architecture)
    assert made.complete is not None
    assert [finding.code for finding in made.findings] == ["by-order"] * by_order


def test_weights_with_their_json_read_mappings_as_their_release_did() -> None:
    """TensorFlow 2.0 takes a mapping of inputs in the order of its keys, in a whole model and in one kept in parts."""
    inputs: Any = [
        {"class_name": "InputLayer", "name": name, "config": {"name": name}} for name in ("b", "a")
    ]
    inner: Any = {
        "name": "t",
        "layers": inputs,
        "input_layers": [["b", 0, 0], ["a", 0, 0]],
        "output_layers": [["b", 0, 0]],
    }
    outer_inputs: Any = [
        {"class_name": "InputLayer", "name": name, "config": {"name": name}, "inbound_nodes": []}
        for name in ("x", "y")
    ]
    call: Any = {"b": ["x", 0, 0, {}], "a": ["y", 0, 0, {}]}
    layers = [
        *outer_inputs,
        {"class_name": "Model", "name": "t", "config": inner, "inbound_nodes": [call]},
    ]
    ends: Any = {"input_layers": [["x", 0, 0], ["y", 0, 0]], "output_layers": [["t", 1, 0]]}
    architecture: JsonObject = {
        "class_name": "Model",
        "config": {"name": "m", "layers": layers, **ends},
    }
    groups = tuple(Group(name, ()) for name in ("x", "y", "t"))
    whole = plan(Stored("model", architecture, groups=groups, keras_version="2.2.4-tf"))
    parts = plan(
        Stored("weights", groups=groups, keras_version="2.2.4-tf"), architecture=architecture
    )
    assert whole.output is not None
    assert parts.complete is not None
    assert parts.complete.architecture == whole.output.model.architecture
    read_today: Any = parts.complete.architecture
    assert read_today["config"]["layers"][2]["inbound_nodes"] == [
        [["y", 0, 0, {}], ["x", 0, 0, {}]]
    ]
