"""The two graphs of a SavedModel together: Keras's, and the operations that are served."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import unnest
from tests.corpus.unpacked import FIXTURES
from unnest.core.make_plan import plan as of_keras
from unnest.core.plan import Choices, Plan
from unnest.core.recognition_results import MixedRows, NearMiss
from unnest.formats.tensorflow import plan_saved_model, unwrap_meta_graph
from unnest.formats.tensorflow.saved_model_reader import SavedModelSource
from unnest.formats.tensorflow.unwrap_meta_graph import ServedWrappers

PARALLEL = FIXTURES / "saved_model/tf215/saved_model-opsplit-custom/parallel"
IN_GRAPH = NearMiss("merge/concat", "one and other are different computations")
IN_LAYERS = NearMiss("merge", "nothing tells what it does")


def planned(monkeypatch: pytest.MonkeyPatch, graph: ServedWrappers | None, **changes: Any) -> Plan:
    """The plan of a folder whose Keras graph is planned with these changes, and whose operations show that."""

    def changed(*given: Any, **named: Any) -> Plan:
        plan = of_keras(*given, **named)
        likely = tuple(wrapper._replace(confidence="likely") for wrapper in plan.wrappers)
        return plan._replace(wrappers=likely)._replace(**changes)

    def recognised(*_: object) -> ServedWrappers:
        assert graph is not None, "the operations are not asked"
        return graph

    monkeypatch.setattr(plan_saved_model, "plan", changed)
    monkeypatch.setattr(unwrap_meta_graph, "cut_out_wrappers", recognised)
    return SavedModelSource(str(PARALLEL)).plan(None, choices=Choices())


def test_operations_without_a_wrapper_leave_none_of_a_likely_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan = planned(monkeypatch, ServedWrappers((), (IN_GRAPH,)))
    assert (plan.verdict, plan.wrappers, plan.near_misses) == ("clean", (), (IN_GRAPH,))


def test_operations_that_show_no_join_at_all_say_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = planned(monkeypatch, ServedWrappers((), ()))
    assert (plan.verdict, [wrapper.confidence for wrapper in plan.wrappers]) == (
        "parallel",
        ["likely"],
    )


def test_towers_that_mix_rows_are_none_whatever_the_operations_show(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mixed = MixedRows("merge", "op, a part of the towers, works along the batch")
    plan = planned(monkeypatch, None, verdict="clean", wrappers=(), near_misses=(mixed,))
    assert (plan.verdict, plan.near_misses) == ("clean", (mixed,))
    with pytest.raises(AssertionError, match="the operations are not asked"):
        planned(monkeypatch, None, verdict="clean", wrappers=(), near_misses=(IN_LAYERS,))


def test_operations_that_mix_rows_do_not_contradict_a_nested_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mixed = MixedRows("merge", "op, a part of the towers, works along the batch")
    plan = planned(monkeypatch, ServedWrappers((), (mixed,)))
    assert [wrapper.confidence for wrapper in plan.wrappers] == ["likely"]
    with_other = planned(monkeypatch, ServedWrappers((), (mixed, IN_GRAPH)))
    assert (with_other.verdict, with_other.near_misses) == ("clean", (mixed, IN_GRAPH))


def test_layers_that_only_look_like_a_wrapper_are_not_converted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without the operations that contradict them, the output would be called parallel."""
    monkeypatch.setattr(
        unwrap_meta_graph, "cut_out_wrappers", lambda *_: ServedWrappers((), (IN_GRAPH,))
    )

    def likely(*given: Any, **named: Any) -> Plan:
        plan = of_keras(*given, **named)
        wrappers = tuple(each._replace(confidence="likely") for each in plan.wrappers)
        return plan._replace(wrappers=wrappers)

    monkeypatch.setattr(plan_saved_model, "plan", likely)
    result = unnest.fix(PARALLEL, tmp_path / "out.h5", to="h5")
    assert result.error is not None
    assert (result.action, result.error.code) == ("refused", "cannot-convert")
    assert "which its operations contradict" in result.error.message
    assert not [*tmp_path.iterdir()]
