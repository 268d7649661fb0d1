"""Whatever is wrapped is unwrapped to exactly itself; what cannot be told is refused, never wrong."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given

from tests.property.models import Writer
from tests.property.strategies import ARBITRARY, SETTINGS, TELLTALE, Recipe, recipes
from tests.property.wrapping import Case, both, cases
from unnest.core.make_plan import plan
from unnest.core.model import Stored, Tensor
from unnest.core.plan import Choices, Plan


def tensors(stored: Stored) -> list[Tensor]:
    """Everything that a stored model holds."""
    return [t for g in stored.groups for t in g.tensors] + [*(stored.optimizer or ())]


def accounted(before: Stored, made: Plan) -> None:
    """Every tensor of the input is in the result or named as dropped, none in both, none twice."""
    assert made.result is not None
    after = sorted(t.ref for t in (*tensors(made.result), *made.dropped))
    assert after == sorted(t.ref for t in tensors(before))


def equal(found: Stored, wanted: Stored) -> None:
    """The same model, down to the order of its optimizer state."""
    assert found.architecture == wanted.architecture
    assert found.groups == wanted.groups
    assert found.training == wanted.training
    assert found.optimizer == wanted.optimizer
    assert found == wanted


def right_or_refused(models: tuple[Stored, Stored]) -> None:
    """Refused with its reason, or exactly right; where order alone is lost, the optimizer may go with a finding."""
    before, wanted = models
    made = plan(before)
    assert made.verdict == "parallel"
    if made.refusal is not None:
        assert made.result is None
        kept = plan(before, choices=Choices(keep_nested=True))
        assert kept.refusal is None
        accounted(before, kept)
        return
    assert made.result is not None
    if any(f.code == "optimizer-dropped" for f in made.findings):
        assert made.result.optimizer is None
        wanted = wanted._replace(optimizer=None)
    equal(made.result, wanted)
    accounted(before, made)


def _frozen_whole(recipe: Recipe) -> Recipe:
    """Sub-models frozen by a flag of their own, some of them; under a head the template's own would be lost."""
    steps = tuple(
        replace(
            s, inner=s.inner and replace(_frozen_whole(s.inner), frozen=len(s.inner.steps) % 2 == 1)
        )
        for s in recipe.steps
    )
    return replace(recipe, steps=steps, frozen=False)


def _same_names(recipe: Recipe) -> Recipe:
    """Layers called by kind and number within their own model."""
    counts: dict[str, int] = {}
    steps = []
    for step in recipe.steps:
        counts[step.kind] = counts.get(step.kind, 0) + 1
        inner = step.inner and replace(
            _same_names(step.inner), name=f"{step.kind}_{counts[step.kind]}"
        )
        steps.append(replace(step, name=f"{step.kind}_{counts[step.kind]}", inner=inner))
    return replace(recipe, steps=tuple(steps))


@SETTINGS
@given(cases(recipes()))
def test_what_is_wrapped_is_unwrapped_to_itself(case: Case) -> None:
    """Architecture, weights, optimizer state and compile settings, each exactly."""
    before, wanted = both(case)
    made = plan(before)
    assert made.verdict == "parallel"
    assert made.refusal is None
    assert made.result is not None
    equal(made.result, wanted)
    accounted(before, made)
    assert not made.dropped


@SETTINGS
@given(cases(recipes()))
def test_a_result_is_clean(case: Case) -> None:
    """Fixing what was fixed changes nothing."""
    made = plan(both(case)[0])
    assert made.result is not None
    again = plan(made.result)
    assert (again.verdict, again.result, again.wrappers, again.dropped) == ("clean", None, (), ())


@SETTINGS
@given(cases(recipes()))
def test_a_model_that_was_never_wrapped_is_clean(case: Case) -> None:
    """Whatever it is made of."""
    made = plan(both(case)[1])
    assert (made.verdict, made.result, made.refusal, made.wrappers, made.dropped) == (
        "clean",
        None,
        None,
        (),
        (),
    )


@SETTINGS
@given(cases(recipes(), where=("whole", "gan")))
def test_every_level_is_reported_outermost_first(case: Case) -> None:
    """With its towers and its template."""
    made = plan(both(case)[0])
    levels = case.wraps[::-1]
    assert [w.towers for w in made.wrappers] == [w.towers for w in levels]
    assert [w.depth for w in made.wrappers] == list(range(len(levels)))
    assert made.wrappers[-1].template == "m"
    assert made.wrappers[0].scope == ("whole" if case.where == "whole" else "embedded")


@SETTINGS
@given(cases(recipes(flags_in_memory=True).map(_frozen_whole), where=("whole", "gan", "head")))
def test_a_flag_on_a_container_that_no_file_tells_misplaces_nothing(case: Case) -> None:
    """A sub-model frozen as a whole keeps its weights in another order."""
    right_or_refused(both(case))


@SETTINGS
@given(cases(recipes(), namings=tuple(ARBITRARY)))
def test_names_that_lead_nowhere_misplace_nothing(case: Case) -> None:
    """Weights that cannot be placed are refused."""
    right_or_refused(both(case, ARBITRARY))


@SETTINGS
@given(cases(recipes(kinds=TELLTALE, depth=1), namings=tuple(ARBITRARY)))
def test_configs_tell_where_names_do_not(case: Case) -> None:
    """Initializers say how many weights a built-in layer has, so order and shapes leave one reading."""
    case = replace(
        case, writer=case.writer if case.writer.dialect != "keras1" else Writer("keras2")
    )
    case = replace(case, wraps=tuple(replace(w, merge="Concatenate") for w in case.wraps))
    before, wanted = both(case, ARBITRARY)
    made = plan(before)
    assert made.result is not None
    assert made.result.groups == wanted.groups


@SETTINGS
@given(cases(recipes().map(_same_names), where=("whole", "gan", "head")))
def test_names_that_several_layers_share_misplace_nothing(case: Case) -> None:
    """Sub-models name their layers as if they were alone."""
    right_or_refused(both(case))
