"""The plan of a SavedModel by its two graphs: the layers of its Keras model, and the operations that are served."""

from __future__ import annotations

from collections.abc import Callable

from unnest.core.architecture import is_model, layer_name, read
from unnest.core.architecture.nested_models import layer_entries
from unnest.core.make_plan import plan
from unnest.core.model import JsonObject, Stored
from unnest.core.plan import Choices, GraphCut, Plan, Refusal, Rewritten
from unnest.core.recognition_results import (
    Confidence,
    MixedRows,
    NearMiss,
    Template,
    UnevenTowers,
    Wrapper,
)
from unnest.core.wrappers.layer_graph.recognise_layer_graph import (
    differs_in_training,
    shows_row_cuts,
)
from unnest.errors import Refused, Unreadable
from unnest.findings import Finding
from unnest.formats.tensorflow.unwrap_meta_graph import ServedWrapper, ServedWrappers


def plan_by_both_graphs(
    stored: Stored,
    find_served: Callable[[], ServedWrappers],
    left_out: tuple[Finding, ...],
    *,
    choices: Choices,
    conversion_refusal: Refusal | None,
) -> Plan:
    """Plan by the layers if they show a wrapper, else by the serving graph: it may be in a layer's code.

    `find_served` returns the wrappers in the serving graph; `left_out` are findings on what no output has.
    """
    clean = Plan(
        verdict="clean",
        stored=stored,
        output=Rewritten(stored),
        conversion_refusal=conversion_refusal,
    )
    if stored.architecture is not None:
        keras_plan = plan(stored, choices=choices)._replace(conversion_refusal=conversion_refusal)
        if keras_plan.verdict == "parallel":
            parallel = keras_plan._replace(findings=(*keras_plan.findings, *left_out))
            return _compare_with_operations(parallel, clean, find_served)
        clean = clean._replace(near_misses=keras_plan.near_misses)
        if any(isinstance(miss, MixedRows) for miss in clean.near_misses):
            return clean
    return _plan_by_operations(clean, find_served(), left_out)


def _plan_by_operations(clean: Plan, served: ServedWrappers, left_out: tuple[Finding, ...]) -> Plan:
    """Plan by the wrappers in the serving graph; `clean` without them, or where the layers speak against them."""
    wrappers_in_graph, near_misses = served
    if not wrappers_in_graph:
        return clean._replace(near_misses=clean.near_misses or near_misses)
    are_uneven = any(isinstance(miss, UnevenTowers) for miss in clean.near_misses)
    if clean.near_misses and (are_uneven or _layers_show_row_cuts(clean.stored.architecture)):
        return clean._replace(
            near_misses=(*map(_not_in_layers, wrappers_in_graph), *clean.near_misses)
        )
    innermost = max(wrappers_in_graph, key=lambda served_wrapper: served_wrapper.depth)
    ends = innermost.towers
    parallel = Plan(
        verdict="parallel",
        stored=clean.stored,
        wrappers=tuple(map(_wrapper, wrappers_in_graph)),
        template=Template(None, len({*ends.sources}), len(ends.merges), None, innermost.parameters),
        findings=left_out,
        conversion_refusal=clean.conversion_refusal,
    )
    fixed_rows = [each.built_for for each in wrappers_in_graph if each.built_for is not None]
    if fixed_rows:
        rows = f"tower 0 is built for batches of {fixed_rows[0]} rows and takes no others"
        return parallel._replace(
            refusal=Refusal("fixed-batch", f"{rows}; export the template by your code")
        )
    return parallel._replace(output=GraphCut(Stored("model")))


def _layers_show_row_cuts(architecture: JsonObject | None) -> bool:
    """Return True if the Keras graph decides: it shows every cut of rows, or what differs in training alone.

    Noise, dropout and `stop_gradient` leave nothing in the serving graph, as layers or in the code of Lambdas.
    """
    return (
        architecture is not None
        and is_model(architecture)
        and (shows_row_cuts(read(architecture)) or differs_in_training(read(architecture)))
    )


def _compare_with_operations(
    parallel: Plan, clean: Plan, find_served: Callable[[], ServedWrappers]
) -> Plan:
    """Return the plan of the Keras graph; what the code of layers leaves open, the operations prove or refute.

    They prove towers of the model's own layers only if it is known of all operations what they do to rows.
    They do not refute towers that are a nested model by showing that it mixes rows: that is the model's own business.
    """
    if all(w.confidence == "proven" for w in parallel.wrappers):
        return parallel
    try:
        in_graph, near_misses = find_served()
    except (Refused, Unreadable):
        return parallel  # the Keras model can be written all the same
    models = {
        layer_name(entry) for entry in layer_entries(clean.stored.architecture) if is_model(entry)
    }
    if not in_graph and near_misses and all(w.confidence == "likely" for w in parallel.wrappers):
        is_its_own = all(w.template in models for w in parallel.wrappers)
        mixes = all(isinstance(miss, MixedRows) for miss in near_misses)
        return parallel if is_its_own and mixes else clean._replace(near_misses=near_misses)
    tower_counts = [
        served.towers.towers
        for served, wrapper in zip(in_graph, parallel.wrappers, strict=False)
        if served.towers.keeps_rows or wrapper.template in models
    ]
    if len(in_graph) != len(parallel.wrappers) or tower_counts != [
        wrapper.towers for wrapper in parallel.wrappers
    ]:
        return parallel
    confirmed = (
        wrapper._replace(confidence=proof.confidence, evidence=(*wrapper.evidence, *proof.evidence))
        for wrapper, proof in zip(parallel.wrappers, map(_wrapper, in_graph), strict=True)
    )
    return parallel._replace(wrappers=tuple(confirmed))


def _wrapper(served: ServedWrapper) -> Wrapper:
    """Return a serving graph's wrapper as reports show it."""
    towers = served.towers
    merges = tuple(m.partition(":")[0] for m in towers.merges)
    first = towers.replace[towers.merges[0]].partition(":")[0]
    sources = ", ".join(s.partition(":")[0] for s in dict.fromkeys(towers.sources))
    evidence = [
        f"{towers.towers} operands of {merges[0]} are the same computation",
        f"each tower reads its own part of {sources}, and the parts are joined in order",
    ]
    if towers.reach is not None:
        evidence.append(
            f"whose bounds are numbers: no tower reads more than the first {towers.reach} rows"
        )
    confidence: Confidence = "proven" if towers.reach is None else "likely"
    return Wrapper(
        towers.graph,
        first,
        towers.towers,
        served.scope,
        merges,
        served.depth,
        confidence,
        tuple(evidence),
    )


def _not_in_layers(served: ServedWrapper) -> NearMiss:
    """Return the near miss for towers of the serving graph that are different layers of the Keras graph."""
    towers = served.towers
    merge = towers.merges[0].partition(":")[0]
    return NearMiss(
        merge,
        f"{towers.towers} towers are one computation in serving only: their Keras layers differ",
    )
