"""The plan for weights without an architecture: names and order of the groups alone can show a wrapper."""

from __future__ import annotations

from unnest.core.model import Stored
from unnest.core.plan import Plan, Refusal, Rewritten, clean_plan
from unnest.core.recognition_results import Template, Wrapper
from unnest.core.weight_assignment.layer_weights_record import Ambiguous
from unnest.core.wrappers import wrapper_in_weight_names
from unnest.findings import Code


def plan_weights_alone(stored: Stored) -> Plan:
    """Plan for weights without an architecture: only names and order of the groups can show a wrapper."""
    by_names = wrapper_in_weight_names.find(stored.groups)
    if by_names is None:
        may_be_parallel = wrapper_in_weight_names.is_doubtful(stored.groups)
        return clean_plan(stored)._replace(
            findings=(Code.NEEDS_ARCHITECTURE(),) if may_be_parallel else ()
        )
    parallel = Plan(
        verdict="parallel",
        stored=stored,
        wrappers=(wrapper_by_names(by_names),),
        template=Template(
            None, by_names.inputs, len(by_names.merge), None, sum(t.size for t in by_names.tensors)
        ),
        findings=(Code.NAMES_ALONE(merge=", ".join(by_names.merge)),)
        if by_names.has_own_merge_names
        else (),
    )
    try:
        groups = wrapper_in_weight_names.groups_of(by_names, is_standalone=stored.is_standalone)
    except Ambiguous as doubt:
        return parallel._replace(
            refusal=Refusal("needs-architecture", f"{doubt}; pass --architecture MODEL.json")
        )
    unstored = ", ".join(wrapper_in_weight_names.unstored_names(groups))
    named = (Code.NAMED_BY_COUNT(layers=unstored),) if unstored else ()
    findings = (*parallel.findings, Code.WEIGHTLESS_LEFT_OUT(), *named)
    return parallel._replace(findings=findings, output=Rewritten(stored._replace(groups=groups)))


def wrapper_by_names(by_names: wrapper_in_weight_names.WrapperByNames) -> Wrapper:
    """Return the wrapper that names and order of groups show, as reports have it; never more than likely."""
    return Wrapper(
        None,
        by_names.template,
        by_names.towers,
        "whole",
        by_names.merge,
        0,
        "likely",
        by_names.evidence,
    )
