"""Match the leaf layers of one model with those of another that computes the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeAlias

from unnest.budget import charge_steps
from unnest.core.architecture import children
from unnest.core.architecture.automatic_names import match_names_by_number
from unnest.core.architecture.graph import Graph, keras_order
from unnest.core.architecture.nested_models import Leaf, LeafPath, leaves
from unnest.core.keras_facts.stored_class_names import current_class_name, record_of
from unnest.core.model import JsonObject
from unnest.core.weight_transfer.align_operand_order import OperandOrder
from unnest.core.weight_transfer.compare_configs import config_difference
from unnest.core.weight_transfer.equivalent_expressions import in_one_form
from unnest.core.weight_transfer.model_expressions import ACTIVATION, Node, NodeOutput, outputs_of
from unnest.core.weight_transfer.target_model import WeightShape

Shapes: TypeAlias = "Mapping[LeafPath, tuple[WeightShape, ...]]"


class Different(Exception):
    """The two models do not compute the same; the message says where they part."""


class NotComparable(Exception):
    """Operations of another form keep two graphs from being compared; the message names the first."""


class MatchedLayers(NamedTuple):
    """Leaf layer of the model that takes weights -> that of the file.

    `not_compared` are layers of the file that only their code, or their place in the order, could compare.
    """

    stored: Mapping[LeafPath, LeafPath]
    not_compared: tuple[str, ...] = ()


def match_layers(
    stored: JsonObject, target: JsonObject, stored_shapes: Shapes, target_shapes: Shapes
) -> MatchedLayers:
    """Return which layer of the file each layer of the target is.

    Both graphs are walked together from their outputs: each call must be one of the same class with the same arguments
    and operands, those of a sum in any order. Shapes, by leaf layer, are those of layers with weights; they count where
    code ends the walk.

    Raises:
        Different: the two do not compute the same, or have not the same layers with weights.

    """
    try:
        walk = _Walk.of(stored, target)
    except NotComparable as e:
        return MatchedLayers(_in_order(stored, target, stored_shapes, target_shapes), (f"{e}",))
    except Different as e:
        if len(stored_shapes) == len(target_shapes):
            raise
        count = f"{len(stored_shapes)} layers with weights, yours {len(target_shapes)}"
        raise Different(f"the file's model has {count}; {e}") from e
    missing = next((path for path in target_shapes if path not in walk.stored), None)
    if missing is not None:
        raise Different(
            f"your model's {'/'.join(missing)!r} is not used by its outputs, or not in the file"
        )
    return walk.result


class _Walk:
    """Two expressions, compared call by call."""

    def __init__(self) -> None:
        self.stored: dict[LeafPath, LeafPath] = {}
        self._targets: dict[LeafPath, LeafPath] = {}
        self._code: dict[str, None] = {}

    @classmethod
    def of(cls, stored: JsonObject, target: JsonObject) -> _Walk:
        """Compare two models. Raises Different, NotComparable."""
        walk, order, ends = cls(), OperandOrder(), (outputs_of(stored), outputs_of(target))
        if len(ends[0]) != len(ends[1]):
            raise Different(f"the file's model has {len(ends[0])} outputs, yours {len(ends[1])}")
        seen: set[tuple[NodeOutput, NodeOutput]] = set()
        pending = [*zip(*ends, strict=True)][::-1]
        while pending:
            pair = pending.pop()
            if pair in seen:
                continue
            charge_steps()
            seen.add(pair)
            old, new = in_one_form(*pair)
            walk.compare(old, new)
            pending += [*zip(old.node.inputs, order.matched(old.node, new.node), strict=True)][::-1]
        return walk

    @property
    def result(self) -> MatchedLayers:
        """The layers that correspond, and the Lambda layers of which only the operands were compared."""
        return MatchedLayers(self.stored, tuple(self._code))

    def compare(self, old: NodeOutput, new: NodeOutput) -> None:
        """Note that two calls belong together. Raises Different, NotComparable."""
        a, b = old.node, new.node
        if (a.kind, len(a.inputs)) != (b.kind, len(b.inputs)):
            raise _part(a, b, "")
        if old.tensor != new.tensor:
            raise _part(a, b, f"output {old.tensor} and {new.tensor}")
        if a.argument != b.argument:
            raise _part(a, b, f"{a.argument} and {b.argument}")
        if a.leaf is None or b.leaf is None or a.kind == ACTIVATION:
            return
        if a.kind == "Lambda":
            self._code[a.name] = None
        elif why := _unlike(a.leaf, b.leaf, a.settings, b.settings):
            raise _part(a, b, why)
        old_path, new_path = a.leaf.path, b.leaf.path
        if self.stored.setdefault(new_path, old_path) != old_path:
            raise Different(
                f"your model's {b.name!r} is several layers in the file, {a.name!r} among them"
            )
        if self._targets.setdefault(old_path, new_path) != new_path:
            raise Different(
                f"the file's {a.name!r} is several layers in your model, {b.name!r} among them"
            )


def _part(old: Node, new: Node, why: str) -> Exception:
    """Return the exception for two calls that differ."""
    shown = f"{_node_text(old)}, your model {_node_text(new)}" + (f" ({why})" if why else "")
    is_known = not (old.is_opaque or new.is_opaque)
    return Different(f"the file's model has {shown} there") if is_known else NotComparable(old.name)


def _node_text(node: Node) -> str:
    argument = f" {node.argument}" if node.kind == ACTIVATION else ""
    return (
        f"{node.kind}{argument} {node.name!r}"
        if node.leaf is not None
        else f"input {node.argument}"
    )


def _unlike(old: Leaf, new: Leaf, old_settings: JsonObject, new_settings: JsonObject) -> str | None:
    """Return the argument by which two layers of a class differ; None where they compute the same."""
    activated = record_of(old.layer.class_name, old.layer.config).applies_activation
    if why := config_difference(old_settings, new_settings, activated=activated):
        return why
    held = [*children(old.layer.stored)], [*children(new.layer.stored)]
    if len(held[0]) != len(held[1]):
        return "the models that it holds"
    for (_, a), (_, b) in zip(*held, strict=True):
        try:
            found = _Walk.of(a, b).stored
        except (Different, NotComparable) as e:
            return f"{e}"
        order = [leaf.path for leaf in leaves(a)]
        places = [order.index(found[leaf.path]) for leaf in leaves(b) if leaf.path in found]
        if places != sorted(places):
            return "the order of the layers that it holds"
    return None


def _in_order(
    stored: JsonObject, target: JsonObject, stored_shapes: Shapes, target_shapes: Shapes
) -> dict[LeafPath, LeafPath]:
    """Return the layers with weights that stand at the same place, where all else agrees. Raises Different."""
    old = [leaf for leaf in leaves(stored, order=_names_in_order) if stored_shapes.get(leaf.path)]
    new = [leaf for leaf in leaves(target, order=_names_in_order) if target_shapes.get(leaf.path)]
    if len(old) != len(new):
        raise Different(f"the file's model has {len(old)} layers with weights, yours {len(new)}")
    for a, b in zip(old, new, strict=True):
        if (
            current_class_name(a.layer.class_name) != current_class_name(b.layer.class_name)
            or stored_shapes[a.path] != target_shapes[b.path]
        ):
            raise Different(
                f"the file's {a.name!r} and your model's {b.name!r} stand at one place and are not alike"
            )
        if why := _unlike(a, b, a.layer.settings, b.layer.settings):
            raise Different(f"the file's {a.name!r} and your model's {b.name!r} differ: {why}")
    kinds = [(current_class_name(leaf.layer.class_name), stored_shapes[leaf.path]) for leaf in old]
    by_name = match_names_by_number(
        [leaf.path[-1] for leaf in new], [leaf.path[-1] for leaf in old]
    )
    for a, b, kind in zip(old, new, kinds, strict=True):
        if kinds.count(kind) > 1 and by_name.get(b.path[-1]) != a.path[-1]:
            raise Different(
                f"code keeps the two from being compared, and {b.name!r} may be several layers of the file"
            )
    return {b.path: a.path for a, b in zip(old, new, strict=True)}


def _names_in_order(graph: Graph) -> Iterable[str]:
    """Return the names of a graph's layers in the order in which Keras keeps them, whatever order the JSON has."""
    if graph.sequential:
        return graph.layers
    return keras_order(lambda at: graph.call(at).reads, graph.inputs, graph.outputs)
