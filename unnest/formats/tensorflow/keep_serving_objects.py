"""The object graph of a TensorFlow 2 SavedModel, reduced to what serves.

Objects are numbered, and named by the path of child names from number 0; restoring variables goes by these paths, so
that they stay. What goes are the functions that serving does not use (Keras stores each layer's calls, wrappers and
all), the optimizer, and Keras's own metadata. The bundle keeps the optimizer's state, under the paths that it had: an
object by that path, which is no optimizer any more, does not load (source: TensorFlow 2.0 to 2.3).
"""

from __future__ import annotations

from typing import Any, TypeAlias

from unnest.core.architecture.graph import reached
from unnest.formats.tensorflow import protobuf_messages

Message: TypeAlias = Any

#: A plain object, of no special class.
GENERIC = "_generic_user_object"
OPTIMIZER_KIND = "optimizer"
#: The methods that a resource (a table, say) is made, filled and removed with.
RESOURCE_METHODS = frozenset({"_create_resource", "_initialize", "_destroy_resource"})


def keep_serving_objects(meta: Message) -> None:
    """Drop functions that serving does not use and what only they needed; number the rest anew."""
    objects = meta.objects
    serving = _serving_functions(meta)
    dropped = {
        k
        for k, n in enumerate(objects.nodes)
        if (n.WhichOneof("kind") in ("function", "bare") and not _names(n) <= serving)
        or n.user.identifier == OPTIMIZER_KIND
    }
    keep = _reachable(objects, dropped)
    new_number = {old: new for new, old in enumerate(sorted(keep))}
    nodes = [objects.nodes[k] for k in sorted(keep)]
    copies = []
    for node in nodes:
        _forget_keras(node)
        _renumber(node, new_number)
        copy = protobuf_messages.new("SavedObject")
        copy.CopyFrom(node)
        copies.append(copy)
    del objects.nodes[:]
    objects.nodes.extend(copies)
    used = set().union(*(_names(n) for n in objects.nodes)) if copies else set()
    for name in [n for n in objects.functions if n not in used]:
        del objects.functions[name]
    for concrete in objects.functions.values():
        bound = [new_number[b] for b in concrete.bound]
        del concrete.bound[:]
        concrete.bound.extend(bound)


def _names(node: Message) -> set[str]:
    """Return the names of a function object's concrete functions."""
    return set(node.function.names) | ({node.bare.name} if node.bare.name else set())


def _serving_functions(meta: Message) -> set[str]:
    """Return concrete functions of the root's `signatures`, of resources, and those that they call."""
    nodes = meta.objects.nodes
    serving: set[str] = set()
    for node in nodes:
        for child in node.children:
            if node.WhichOneof("kind") == "resource" or child.local_name in RESOURCE_METHODS:
                serving |= _names(nodes[child.node_id])
        for saveable in node.saveables.values():
            serving |= _names(nodes[saveable.save]) | _names(nodes[saveable.restore])
        if node.user.identifier == "signature_map":
            for child in node.children:
                serving |= _names(nodes[child.node_id])
    bodies = {f.signature.name: f for f in meta.graph.library.function}

    def calls(name: str) -> list[str]:
        operations = bodies[name].node_def if name in bodies else ()
        return [
            value.func.name for op in operations for value in op.attr.values() if value.func.name
        ]

    return reached(serving, calls)


def _reachable(objects: Message, dropped: set[int]) -> set[int]:
    """Return the objects that the root still reaches, with those that the remaining functions capture."""

    def leads_to(number: int) -> list[int]:
        node = objects.nodes[number]
        numbers = [c.node_id for c in node.children]
        numbers += [n for s in node.saveables.values() for n in (s.save, s.restore)]
        for name in _names(node):
            if name in objects.functions:
                numbers += objects.functions[name].bound
        return [n for n in numbers if n not in dropped and 0 <= n < len(objects.nodes)]

    return reached({0} & set(range(len(objects.nodes))) - dropped, leads_to)


def _forget_keras(node: Message) -> None:
    """Remove Keras's class and metadata, which are untrue after the cut."""
    if node.WhichOneof("kind") == "user" and node.user.identifier.startswith("_tf_keras"):
        node.user.identifier = GENERIC
        node.user.metadata = ""
        node.registered_name = ""
        node.user_proto = b""
    del node.slot_variables[:]


def _renumber(node: Message, number: dict[int, int]) -> None:
    for field in ("children", "dependencies"):
        edges = getattr(node, field)
        kept_edges = [(number[e.node_id], e.local_name) for e in edges if e.node_id in number]
        del edges[:]
        for to, name in kept_edges:
            edges.add(node_id=to, local_name=name)
    for saveable in node.saveables.values():
        saveable.save, saveable.restore = number[saveable.save], number[saveable.restore]
