"""A SavedModel's serving graph reduced to one tower: cut among its operations, never rebuilt.

What the signatures, the saver, the variables' initializers and the resources' own functions reach is kept as it is
stored; training operations, gradients, the other towers and Keras's own metadata (stale after the cut) go. Works on
the flat graph of TensorFlow 1 and inside the functions of TensorFlow 2 alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from unnest.core.architecture.graph import reached
from unnest.core.wrappers.serving_graph import recognise_serving_graph
from unnest.core.wrappers.serving_graph.serving_op_graph import OpGraph
from unnest.errors import Unreadable
from unnest.formats.tensorflow import graphdef_to_op_graph, protobuf_messages
from unnest.formats.tensorflow.keep_serving_objects import keep_serving_objects
from unnest.formats.tensorflow.serving_meta_graph import served

Message: TypeAlias = Any

#: The signature key of TensorFlow's own that names the operation to train with.
TRAIN = "__saved_model_train_op"
#: Collections of VariableDefs, and of the names of operations that loading runs or looks up.
VARIABLE_COLLECTIONS = frozenset(
    {
        "variables",
        "trainable_variables",
        "local_variables",
        "model_variables",
        "moving_average_variables",
        "metric_variables",
        "concatenated_variables",
        "resources",
        "table_initializer",
        "asset_filepaths",
        "saved_model_main_op",
        "legacy_init_op",
        "saved_model_assets",
    }
)


def rewire(meta: Message, towers: recognise_serving_graph.ServingWrapper, graph: OpGraph) -> None:
    """Let a graph read tower 0 in place of the merge, and what was sliced in place of its slices; `meta` is changed."""
    dead = towers.others | _downstream(graph, towers)
    if not towers.graph:
        nodes, spell = meta.graph.node, _flat
        for key in served(meta):
            for info in meta.signatures[key].outputs.values():
                if info.name:
                    info.name = recognise_serving_graph.follow(
                        graphdef_to_op_graph.tensor(info.name), towers.replace
                    )
    else:
        f = next(f for f in meta.graph.library.function if f.signature.name == towers.graph)
        nodes, spell = f.node_def, _as_it_is
        for key, value in list(f.ret.items()):
            f.ret[key] = recognise_serving_graph.follow(value, towers.replace)
    for node in nodes:
        _redirect_inputs(node, towers, dead, spell)
    if towers.graph:
        _prune_function(f)


def _flat(tensor_name: str) -> str:
    return tensor_name.removesuffix(":0")


def _as_it_is(tensor_name: str) -> str:
    return tensor_name


def _redirect_inputs(
    node: Message,
    towers: recognise_serving_graph.ServingWrapper,
    dead: set[str],
    spell: Callable[[str], str],
) -> None:
    """Replace a node's inputs that the wrapper makes, and drop control edges to what is removed."""
    normal = graphdef_to_op_graph.tensor if spell is _flat else str
    new = []
    for read in node.input:
        if read.startswith("^"):
            if read[1:] not in dead or node.name in dead:
                new.append(read)
            continue
        instead = recognise_serving_graph.follow(normal(read), towers.replace)
        new.append(read if instead == normal(read) else spell(instead))
    if new != list(node.input):
        del node.input[:]
        node.input.extend(new)
    if node.name in towers.first:
        # Notes of shapes that were a share of the batch.
        node.attr.pop("_output_shapes", None)


def _downstream(graph: OpGraph, towers: recognise_serving_graph.ServingWrapper) -> set[str]:
    """Return operations that depend on other towers and pass no merge: only control edges keep them alive."""
    readers: dict[str, list[str]] = {}
    for op in graph.ops.values():
        for name in (*(t.partition(":")[0] for t in op.inputs), *op.controls):
            readers.setdefault(name, []).append(op.name)
    merges = {m.partition(":")[0] for m in towers.merges}
    shared = towers.first | merges
    dependents: set[str] = set()
    pending = [n for n in towers.others if n in graph.ops]
    while pending:
        for reader in readers.get(pending.pop(), ()):
            op = graph.ops[reader]
            by_data = any(t.partition(":")[0] in towers.others | dependents for t in op.inputs)
            if (
                reader not in dependents
                and reader not in shared
                and reader not in towers.others
                and by_data
            ):
                dependents.add(reader)
                pending.append(reader)
    return dependents


def _prune_function(f: Message) -> None:
    """Drop what neither the results nor the remaining side effects need."""
    nodes = {n.name: n for n in f.node_def}
    alive = _nodes_behind(nodes, (v.partition(":")[0] for v in f.ret.values()))
    dead_controls = [k for k, v in f.control_ret.items() if v not in alive]
    for key in dead_controls:
        del f.control_ret[key]
    live_controls = [c for c in f.signature.control_output if c in f.control_ret]
    del f.signature.control_output[:]
    f.signature.control_output.extend(live_controls)
    _keep_nodes(f.node_def, alive)


def _keep_nodes(nodes: Message, alive: set[str]) -> None:
    copies = []
    for node in nodes:
        if node.name not in alive:
            continue
        if "_class" in node.attr:
            _colocate(node, alive)
        copy = protobuf_messages.new("Node")
        copy.CopyFrom(node)
        copies.append(copy)
    del nodes[:]
    nodes.extend(copies)


def _colocate(node: Message, alive: set[str]) -> None:
    """Drop a node's request to be placed with a node that is gone."""
    places = [
        s
        for s in node.attr["_class"].list.s
        if not s.startswith(b"loc:@") or s[5:].decode() in alive
    ]
    if not places:
        del node.attr["_class"]
        return
    del node.attr["_class"].list.s[:]
    node.attr["_class"].list.s.extend(places)


def prune(model: Message, meta: Message) -> Message:
    """Return a SavedModel of this MetaGraph alone, with only what serving and loading need; `meta` is changed."""
    meta.signatures.pop(TRAIN, None)
    if meta.HasField("objects"):
        keep_serving_objects(meta)
    roots = _roots(meta)
    nodes = {n.name: n for n in meta.graph.node}
    alive = _nodes_behind(nodes, roots)
    _keep_nodes(meta.graph.node, alive)
    _filter_collections(meta, alive)
    _filter_library(meta)
    result = protobuf_messages.new("SavedModel")
    result.schema_version = model.schema_version
    result.meta_graphs.append(meta)
    return result


def _roots(meta: Message) -> list[str]:
    """Return the operations at which serving, saving, restoring and initializing start."""
    tensors = [
        i.name for s in meta.signatures.values() for m in (s.inputs, s.outputs) for i in m.values()
    ]
    for signature in meta.signatures.values():
        for info in (*signature.inputs.values(), *signature.outputs.values()):
            tensors += [info.sparse.values, info.sparse.indices, info.sparse.shape]
            tensors += [c.name for c in info.composite.components]
    tensors += [meta.saver.filename, meta.saver.save, meta.saver.restore]
    tensors += [a.info.name for a in meta.assets]
    for node in meta.objects.nodes:
        tensors += [node.constant.operation]
    for key, collection in meta.collections.items():
        if key in VARIABLE_COLLECTIONS:
            tensors += list(collection.nodes.value)
            for data in collection.bytes.value:
                variable = _variable(data)
                tensors += [
                    variable.name,
                    variable.initializer,
                    variable.snapshot,
                    variable.initial,
                ]
    return [f.partition(":")[0] for f in tensors if f]


def _variable(data: bytes) -> Message:
    try:
        return protobuf_messages.parse("Variable", data, "a collection")
    except Unreadable:
        # An asset path or a resource handle, kept as it is.
        return protobuf_messages.new("Variable")


def _nodes_behind(nodes: Mapping[str, Message], roots: Iterable[str]) -> set[str]:
    """Return the names of the nodes that `roots` depend on."""

    def reads(name: str) -> list[str]:
        return [
            n for n in (i.lstrip("^").partition(":")[0] for i in nodes[name].input) if n in nodes
        ]

    return reached((name for name in roots if name in nodes), reads)


def _filter_collections(meta: Message, alive: set[str]) -> None:
    for key in list(meta.collections):
        collection = meta.collections[key]
        if key in VARIABLE_COLLECTIONS:
            names = [n for n in collection.nodes.value if n.partition(":")[0] in alive]
            if list(collection.nodes.value) != names:
                del collection.nodes.value[:]
                collection.nodes.value.extend(names)
        else:
            del meta.collections[key]


def _filter_library(meta: Message) -> None:
    """Drop the functions that are no longer called, and gradients."""
    functions = {f.signature.name: f for f in meta.graph.library.function}
    called_first = [
        *(c for n in meta.graph.node for c in _called_functions(n)),
        *meta.objects.functions,
    ]

    def calls(name: str) -> list[str]:
        return [c for n in functions[name].node_def for c in _called_functions(n) if c in functions]

    live = reached((name for name in called_first if name in functions), calls)
    library = protobuf_messages.new("Library")
    library.function.extend(f for name, f in functions.items() if name in live)
    meta.graph.library.Clear()
    meta.graph.library.CopyFrom(library)
    for name in [n for n in meta.info.function_aliases if n not in live]:
        del meta.info.function_aliases[name]


def _called_functions(node: Message) -> list[str]:
    functions = []
    for value in node.attr.values():
        kind = value.WhichOneof("v")
        if kind == "func":
            functions.append(value.func.name)
        elif kind == "list":
            functions += [f.name for f in value.list.func]
    return functions
