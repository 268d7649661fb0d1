"""Join weights with the architecture that is given for them: renamed groups, the model of both, or a refusal."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from unnest.core.model import Group, JsonObject, Stored
from unnest.core.plan import Plan, Refusal
from unnest.core.planning.weights_alone import wrapper_by_names
from unnest.core.recognition_results import Wrapper
from unnest.core.weight_assignment.layer_groups.match_layer_groups import (
    group_names,
)
from unnest.core.weight_assignment.layer_groups.match_renamed_layers import (
    NOT_ITS_LAYERS,
    RenamedGroups,
    rename_groups,
)
from unnest.core.weight_assignment.layer_weights_record import Ambiguous
from unnest.core.wrappers import wrapper_in_weight_names


def renamed_groups(
    groups: Sequence[Group], architecture: JsonObject, template: JsonObject | None
) -> tuple[RenamedGroups, JsonObject] | None:
    """Return groups under the names of layers that were renamed since, and the architecture, or template, of these.

    None for the groups of a parallel model whose single-device model is given. Raises Ambiguous.
    """
    is_of_one_layer = sum(1 for group in groups if group.tensors) == 1
    is_parallel = wrapper_in_weight_names.find(groups) is not None
    if template is None and (is_parallel or is_of_one_layer):
        return None
    if template is not None:
        if not is_parallel and not is_of_one_layer:
            with suppress(Ambiguous):
                return rename_groups(groups, template), template
        # The layers of a wrapper have no weights: that the file has them shows in its list of all layers alone.
        lists_all = any(not group.tensors for group in groups)
        if lists_all and len(groups) != len(group_names(architecture)):
            raise Ambiguous(NOT_ITS_LAYERS)
    return rename_groups(groups, architecture), architecture


def with_architecture(
    weights: Stored, architecture: JsonObject, versions_of: Stored | None = None
) -> Stored:
    """Return weights as a model of this architecture; versions are those of its file, else those in the JSON."""
    given = {
        k: v for k in ("keras_version", "backend") if isinstance(v := architecture.get(k), str)
    }
    if "module" in architecture and not given:
        given = {"keras_version": "3.x"}  # Keras 3's JSON has no version
    file = versions_of or weights
    return weights._replace(
        contents="model",
        architecture={
            k: v for k, v in architecture.items() if k not in ("keras_version", "backend")
        },
        keras_version=file.keras_version or given.get("keras_version"),
        backend=file.backend or given.get("backend"),
    )


def wrapper_around(stored: Stored, template: str) -> Wrapper:
    """Return the wrapper around the one layer that holds all weights; if several do, by their names."""
    by_names = wrapper_in_weight_names.find(stored.groups)
    if by_names:
        return wrapper_by_names(by_names)
    evidence = (f"one layer holds all weights of {template}, whose architecture was given",)
    group = next(g for g in stored.groups if g.tensors)
    return Wrapper(None, group.name, None, "whole", (), 0, "likely", evidence)


def without_layers(stored: Stored, architecture: JsonObject) -> Plan:
    """Return the plan for weights with the architecture of a class that keeps its layers in code."""
    why = (
        f"the architecture given lists no layers, which {architecture.get('class_name')} keeps in its code; "
        "pass that of the template, the model which is called on every part"
    )
    return Plan(verdict="clean", stored=stored, refusal=Refusal("architecture-mismatch", why))


def mismatch(stored: Stored, why: str) -> Plan:
    """Return the plan that refuses weights which do not fit the architecture given for them, with what to pass."""
    hint = "pass the JSON of the model that was saved (the same layers frozen), or of the single-device model in it"
    return Plan(
        verdict="clean", stored=stored, refusal=Refusal("architecture-mismatch", f"{why}; {hint}")
    )
