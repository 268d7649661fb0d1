"""A SavedModel's serving graph reduced to one tower: cut among its operations, never rebuilt.

What the signatures, the saver, the variables' initializers and the resources' own functions reach is kept as it is
stored; training operations, gradients, the other towers and Keras's own metadata (stale after the cut) go. Works on
the flat graph of TensorFlow 1 and inside the functions of TensorFlow 2 alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from unnest.core.model import NearMiss, Scope
from unnest.core.reach import reached
from unnest.core.recognise import serving, serving_scope
from unnest.core.recognise.op_graph import CALLS, Broken, Function, Op, OpGraph, Place, View
from unnest.errors import Refused, Unreadable
from unnest.formats.tensorflow import graphdef, protos
from unnest.formats.tensorflow.prune_objects import prune_objects

Message: TypeAlias = Any

#: The signature key of TensorFlow's own that names the operation to train with.
TRAIN = "__saved_model_train_op"
#: Collections of VariableDefs, and of the names of operations that loading runs or looks up.
VARIABLES = frozenset(
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
#: Wrappers in wrappers; ten thousand levels are an attack.
MAX_WRAPPERS = 200


class ServedWrapper(NamedTuple):
    """A wrapper, and how it sits in what is served. `parameters` are tower 0's; None where the graph does not tell.

    `is_built` for the tower's share of a fixed batch means that tower 0 computes for no other number of rows.
    """

    towers: serving.ServingWrapper
    scope: Scope
    depth: int
    parameters: int | None
    is_built: bool


@dataclass
class ServingGraph:
    """The MetaGraph that serves, seen as graphs: the flat one, then each function that serving calls."""

    meta: Message
    wrappers: list[ServedWrapper] = field(default_factory=list)

    def graphs(self) -> tuple[list[OpGraph], dict[str, OpGraph]]:
        """What the signatures reach, the flat graph first, and all functions by name."""
        library = graphdef.library(self.meta.graph)
        main = graphdef.main_graph(self.meta.graph, outputs(self.meta))
        order = _callers_first(main, library)
        serving_scope: dict[str, list[tuple[str, Op]]] = {}
        for graph in (main, *(library[n] for n in order)):
            for op in (graph.ops[n] for n in (_live_ops(graph) if graph is main else graph.ops)):
                for callee in called(op.attrs.values()) if op.kind in CALLS else ():
                    serving_scope.setdefault(callee, []).append((graph.name, op))
        for name in order:
            calls = [
                _constants(View(library[n] if n else main, library), op, library[name])
                for n, op in serving_scope.get(name, ())
            ]
            constants_of_all_calls = {
                k: v for k, v in (calls[0] if calls else {}).items() if all(_same(c.get(k), v) for c in calls)
            }
            if constants_of_all_calls:
                library[name] = replace(library[name], known=constants_of_all_calls)
        return [main, *(library[n] for n in order)], library


def _callers_first(main: OpGraph, library: Mapping[str, OpGraph]) -> list[str]:
    """The functions that a graph reaches, each behind all that call it."""
    done: list[str] = []
    state: dict[str, bool] = {}
    stack: list[tuple[str, bool]] = [("", False)]
    while stack:
        name, leaving = stack.pop()
        if leaving:
            done.append(name)
        if leaving or name in state:
            continue
        state[name] = True
        graph = library[name] if name else main
        stack.append((name, True))
        for op in _live_ops(graph) if graph is main else graph.ops:
            stack += [(c, False) for c in called(graph.ops[op].attrs.values()) if c in library]
    return done[-2::-1]


def _same(left: np.ndarray | None, right: np.ndarray) -> bool:
    return left is not None and left.dtype == right.dtype and np.array_equal(left, right)


def _constants(view: View, call: Op, callee: OpGraph) -> dict[str, np.ndarray]:
    """The arguments that a call gives constants."""
    constants = {}
    for name, tensor in zip(callee.args, call.inputs, strict=False):
        place = view.resolve(Place((), tensor))
        op = view.op(place)
        if op is None and place.tensor in view.root.known:
            constants[name] = view.root.known[place.tensor]
        elif op is not None and op.value is not None:
            constants[name] = op.value
    return constants


def choose(model: Message, path: str) -> Message:
    """The MetaGraph that serves. Raises Unreadable where there is none."""
    candidates = [m for m in model.meta_graphs if "serve" in m.info.tags] or list(model.meta_graphs)
    usable = [m for m in candidates if outputs(m)]
    if not usable:
        raise Unreadable("no-signature", f"{path}: no signature says what this SavedModel serves; export it with one")
    return usable[0]


def outputs(meta: Message) -> list[str]:
    """The tensors that the signatures serve."""
    return [i.name for k in served(meta) for _, i in sorted(meta.signatures[k].outputs.items()) if i.name]


def served(meta: Message) -> list[str]:
    """The signatures' own keys."""
    return sorted(k for k in meta.signatures if not k.startswith("__saved_model"))


def _signature_outputs(meta: Message) -> list[list[str]]:
    """The tensors that each signature serves."""
    signatures = (meta.signatures[k] for k in served(meta))
    return [[graphdef.tensor(i.name) for i in s.outputs.values() if i.name] for s in signatures]


def called(attributes: Iterable[object]) -> list[str]:
    """The functions that these attributes name."""
    functions: list[str] = []
    for value in attributes:
        if isinstance(value, Function):
            functions.append(value.name)
        elif isinstance(value, tuple):
            functions += [v.name for v in value if isinstance(v, Function)]
    return functions


def _live_ops(graph: OpGraph) -> set[str]:
    """The operations that a graph's results need, by name."""

    def reads(name: str) -> list[str]:
        op = graph.ops[name]
        names = (*(tensor.partition(":")[0] for tensor in op.inputs), *op.controls)
        return [n for n in names if n in graph.ops]

    return reached((n for n in (tensor.partition(":")[0] for tensor in graph.rets) if n in graph.ops), reads)


class Recognised(NamedTuple):
    """All wrappers of a MetaGraph, outermost first, and where there is none, why the nearest candidates are none."""

    wrappers: Sequence[ServedWrapper]
    near_misses: tuple[NearMiss, ...] = ()


def recognise(meta: Message, path: str) -> Recognised:
    """All wrappers; the MetaGraph loses them one by one. Raises Unreadable, Refused."""
    serving_graph = ServingGraph(meta)
    try:
        while True:
            graphs, library = serving_graph.graphs()
            towers, near_misses = serving.find(graphs, library)
            if towers is None:
                return Recognised(_distinct(serving_graph.wrappers), () if serving_graph.wrappers else near_misses)
            if len(serving_graph.wrappers) >= MAX_WRAPPERS:
                raise Refused(
                    "too-deep", f"{path}: more than {MAX_WRAPPERS} wrappers; this is no model that was trained"
                )
            serving_graph.wrappers.append(_served_wrapper(meta, graphs[0], library, towers, serving_graph.wrappers))
            _rewire(meta, towers, next(g for g in graphs if g.name == towers.graph))
    except Broken as e:
        raise broken(path, e) from e


def _served_wrapper(
    meta: Message,
    main: OpGraph,
    library: Mapping[str, OpGraph],
    towers: serving.ServingWrapper,
    earlier: Sequence[ServedWrapper],
) -> ServedWrapper:
    outer_wrappers = [f for f in earlier if _inside(f.towers, towers, library, main)]
    depth = max((f.depth + 1 for f in outer_wrappers), default=0)
    scope = serving_scope.scope(main, library, _signature_outputs(meta), towers)
    parameters, is_built = (
        serving_scope.parameters(main, library, towers),
        serving_scope.is_built_for(main, library, towers),
    )
    return ServedWrapper(towers, scope, depth, parameters, is_built)


def _distinct(wrappers: Sequence[ServedWrapper]) -> list[ServedWrapper]:
    """Without the further traces of a wrapper: TensorFlow 2 stores the model anew for every signature."""
    traces: dict[tuple[object, ...], dict[str, list[ServedWrapper]]] = {}
    for wrapper in wrappers:
        towers = wrapper.towers
        key = (wrapper.depth, towers.towers, len({*towers.sources}))
        traces.setdefault(key, {}).setdefault(towers.graph, []).append(wrapper)
    order: tuple[Scope, ...] = ("whole", "head", "embedded")

    def plainness(trace: list[ServedWrapper]) -> tuple[int, int]:
        return order.index(trace[0].scope), -len(trace[0].towers.merges)

    plainest = (min(by_graph.values(), key=plainness) for by_graph in traces.values())
    return sorted(
        (wrapper for chosen in plainest for wrapper in chosen),
        key=lambda wrapper: (wrapper.depth, wrappers.index(wrapper)),
    )


def _inside(
    outer: serving.ServingWrapper, inner: serving.ServingWrapper, library: Mapping[str, OpGraph], main: OpGraph
) -> bool:
    """Whether a wrapper is part of another one's tower 0, or of a function that this calls."""
    pending = [(outer.graph, name) for name in outer.first]
    entered: set[str] = set()
    merging = {(inner.graph, m.partition(":")[0]) for m in inner.merges}
    while pending:
        current = pending.pop()
        if current in merging:
            return True
        graph = library[current[0]] if current[0] else main
        op = graph.ops.get(current[1])
        for callee in called(op.attrs.values()) if op is not None and op.kind in CALLS else ():
            if callee in library and callee not in entered:
                entered.add(callee)
                pending += [(callee, name) for name in library[callee].ops]
    return False


def broken(path: str, error: Broken) -> Unreadable:
    """A graph that refers to what it does not hold, in one line."""
    return Unreadable("damaged-graph", f"{path}: the graph does not add up ({error}); copy it again")


def _rewire(meta: Message, towers: serving.ServingWrapper, graph: OpGraph) -> None:
    """Read tower 0 in place of the merge, and what was sliced in place of its slices."""
    dead = towers.others | _downstream(graph, towers)
    if not towers.graph:
        nodes, spell = meta.graph.node, _flat
        for key in served(meta):
            for info in meta.signatures[key].outputs.values():
                if info.name:
                    info.name = serving.follow(graphdef.tensor(info.name), towers.replace)
    else:
        f = next(f for f in meta.graph.library.function if f.signature.name == towers.graph)
        nodes, spell = f.node_def, _as_it_is
        for key, value in list(f.ret.items()):
            f.ret[key] = serving.follow(value, towers.replace)
    for node in nodes:
        _redirect_inputs(node, towers, dead, spell)
    if towers.graph:
        _prune_function(f)


def _flat(tensor: str) -> str:
    return tensor.removesuffix(":0")


def _as_it_is(tensor: str) -> str:
    return tensor


def _redirect_inputs(
    node: Message, towers: serving.ServingWrapper, dead: set[str], spell: Callable[[str], str]
) -> None:
    normal = graphdef.tensor if spell is _flat else str
    new = []
    for read in node.input:
        if read.startswith("^"):
            if read[1:] not in dead or node.name in dead:
                new.append(read)
            continue
        instead = serving.follow(normal(read), towers.replace)
        new.append(read if instead == normal(read) else spell(instead))
    if new != list(node.input):
        del node.input[:]
        node.input.extend(new)
    if node.name in towers.first:
        # Notes of shapes that were a share of the batch.
        node.attr.pop("_output_shapes", None)


def _downstream(graph: OpGraph, towers: serving.ServingWrapper) -> set[str]:
    """What depends on the other towers without going through a merge: kept alive by control edges alone."""
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
            if reader not in dependents and reader not in shared and reader not in towers.others and by_data:
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
        copy = protos.new("Node")
        copy.CopyFrom(node)
        copies.append(copy)
    del nodes[:]
    nodes.extend(copies)


def _colocate(node: Message, alive: set[str]) -> None:
    """A node may not ask to be placed with one that is gone."""
    places = [s for s in node.attr["_class"].list.s if not s.startswith(b"loc:@") or s[5:].decode() in alive]
    if not places:
        del node.attr["_class"]
        return
    del node.attr["_class"].list.s[:]
    node.attr["_class"].list.s.extend(places)


def prune(model: Message, meta: Message) -> Message:
    """A SavedModel of this MetaGraph alone, with nothing that serving and loading do not need; `meta` is changed."""
    meta.signatures.pop(TRAIN, None)
    if meta.HasField("objects"):
        prune_objects(meta)
    roots = _roots(meta)
    nodes = {n.name: n for n in meta.graph.node}
    alive = _nodes_behind(nodes, roots)
    _keep_nodes(meta.graph.node, alive)
    _filter_collections(meta, alive)
    _filter_library(meta)
    result = protos.new("SavedModel")
    result.schema_version = model.schema_version
    result.meta_graphs.append(meta)
    return result


def _roots(meta: Message) -> list[str]:
    """The operations that serving, saving, restoring and initializing start from."""
    tensors = [i.name for s in meta.signatures.values() for m in (s.inputs, s.outputs) for i in m.values()]
    for signature in meta.signatures.values():
        for info in (*signature.inputs.values(), *signature.outputs.values()):
            tensors += [info.sparse.values, info.sparse.indices, info.sparse.shape]
            tensors += [c.name for c in info.composite.components]
    tensors += [meta.saver.filename, meta.saver.save, meta.saver.restore]
    tensors += [a.info.name for a in meta.assets]
    for node in meta.objects.nodes:
        tensors += [node.constant.operation]
    for key, collection in meta.collections.items():
        if key in VARIABLES:
            tensors += list(collection.nodes.value)
            for data in collection.bytes.value:
                variable = _variable(data)
                tensors += [variable.name, variable.initializer, variable.snapshot, variable.initial]
    return [f.partition(":")[0] for f in tensors if f]


def _variable(data: bytes) -> Message:
    try:
        return protos.parse("Variable", data, "a collection")
    except Unreadable:
        return protos.new("Variable")  # an asset path or a resource handle, kept as it is


def _nodes_behind(nodes: Mapping[str, Message], roots: Iterable[str]) -> set[str]:
    """The nodes that some of them need, by name; names that are no node's lead nowhere."""

    def reads(name: str) -> list[str]:
        return [n for n in (i.lstrip("^").partition(":")[0] for i in nodes[name].input) if n in nodes]

    return reached((name for name in roots if name in nodes), reads)


def _filter_collections(meta: Message, alive: set[str]) -> None:
    for key in list(meta.collections):
        collection = meta.collections[key]
        if key in VARIABLES:
            names = [n for n in collection.nodes.value if n.partition(":")[0] in alive]
            if list(collection.nodes.value) != names:
                del collection.nodes.value[:]
                collection.nodes.value.extend(names)
        else:
            del meta.collections[key]


def _filter_library(meta: Message) -> None:
    """The functions that are still called, without their gradients."""
    functions = {f.signature.name: f for f in meta.graph.library.function}
    called_first = [*(c for n in meta.graph.node for c in _called_functions(n)), *meta.objects.functions]

    def calls(name: str) -> list[str]:
        return [c for n in functions[name].node_def for c in _called_functions(n) if c in functions]

    live = reached((name for name in called_first if name in functions), calls)
    library = protos.new("Library")
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
