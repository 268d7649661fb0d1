"""Weights without an architecture: what their names show, and what an architecture adds."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.build import DENSE, functional, layer, nested, source, tensors
from tests.unit.core.rewrite.wrapping import MERGE, split
from tests.unit.core.test_make_plan import (
    BARE,
    GROUPS,
    PARALLEL,
    TEMPLATE,
    WEIGHTS,
    of_layers,
    stored,
    template_of,
    with_head,
)
from unnest.core.make_plan import plan
from unnest.core.model import Group
from unnest.core.plan import Plan, Rewritten


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
