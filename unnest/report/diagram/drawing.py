"""Drawing of a model: boxes and arrows, with the part that each box plays in a wrapper.

A figure is one graph of layers. Towers beyond the first few are one box, and so are layers far from any wrapper, so
that a figure stays readable for any number of both. What a box stands for is in `inside`, for renderers that can open
it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Literal, NamedTuple, TypeAlias

from unnest.core.architecture import children, is_input, read
from unnest.core.architecture.graph import Graph, Layer
from unnest.core.model import CallId, JsonObject
from unnest.core.recognition_results import Wrapper
from unnest.core.wrappers.layer_graph.recognise_layer_graph import recognise
from unnest.core.wrappers.layer_graph.wrapper_records import (
    NO_ASSUMPTIONS,
    Assumptions,
    EnclosingModel,
    LayerWrapper,
    place_in_graph,
)

#: input, layer: as they are. slice, tower, merge: of a wrapper. more: towers that are not drawn one by one. group:
#: layers that are not. kept: of the template, in the model that is left.
Role: TypeAlias = Literal["input", "layer", "slice", "tower", "merge", "more", "group", "kept"]

#: Up to so many towers each is drawn; of more, the first TOWERS_AHEAD and the last.
TOWERS_DRAWN = 4
TOWERS_AHEAD = 2
#: Up to so many layers outside of wrappers each is drawn; more become boxes that stand for several.
LAYERS_DRAWN = 24
#: Wrappers side by side in one graph that are drawn; what is beyond is layers like others.
WRAPPERS_DRAWN = 16
#: The kinds of boxes of a wrapper whose graph is not stored.
ROWS, TEMPLATE = "rows of the batch", "template model"
#: Levels of models in models that can be opened.
DEEPEST = 8


class Box(NamedTuple):
    """One box. `key` is its name in the figure's edges; `stands_for` layers or towers, where it is not one.

    Of towers, `wrapper` is the number of their wrapper in the figure.
    """

    key: str
    name: str
    kind: str
    role: Role
    inside: Figure | None = None
    stands_for: int = 1
    wrapper: int | None = None


class Figure(NamedTuple):
    """Boxes in an order in which each comes after those that it reads, and arrows between them, by their keys."""

    title: str
    nodes: tuple[Box, ...]
    edges: tuple[tuple[str, str], ...]
    layers: int


class Drawing(NamedTuple):
    """A model as it is, level by level where wrappers sit inside models, and as `fix` leaves it.

    `after` is None where nothing would change, or `refusal` says why nothing can be written. `kept`: the layers of the
    model that is left which are the template's; None for all.
    """

    before: tuple[Figure, ...]
    after: Figure | None = None
    refusal: str | None = None
    kept: frozenset[str] | None = None


def draw(
    before: JsonObject | None,
    after: JsonObject | None,
    wrappers: Sequence[Wrapper],
    assumptions: Assumptions = NO_ASSUMPTIONS,
    refusal: str | None = None,
    *,
    whole: bool = False,
) -> Drawing | None:
    """Return the drawing of an architecture, and of the one that `fix` writes; None if there is nothing to draw.

    `wrappers` are those that were found: where the architecture is not stored (weights alone, a serving graph), or has
    none of them, they are all that can be drawn. `assumptions`: those of the verdict. With `whole` no layers are
    folded into groups, and `before` is the outermost graph alone, whose boxes open to the others. None where there is
    nothing to draw.
    """
    depth = 1 if whole else 0
    levels = [] if before is None else [*_with_nested(_level(before, assumptions))]
    if wrappers and not any(level.wrappers for level in levels):
        last = Figure(
            "after", _chain([_template(wrappers[-1], "kept")]), (("batch", "template"),), 1
        )
        output = last if after is None else draw_output(after, None, assumptions, whole=whole)
        return Drawing((_schema(wrappers),), None if refusal else output, refusal)
    if not levels:
        return None
    top, *inner = levels
    shown = [top, *(level for level in inner if level.wrappers)]
    titles = [
        "before" if wrappers else top.graph.name,
        *(f"inside {level.graph.name}" for level in shown[1:]),
    ]
    figures = tuple(
        _figure(level, depth=depth)._replace(title=title)
        for title, level in [*zip(titles, shown, strict=True)][: 1 if whole else None]
    )
    kept = _template_layers(shown)
    if after is None or refusal or not (wrappers or whole):
        return Drawing(figures, None, refusal, kept)
    return Drawing(figures, draw_output(after, kept, assumptions, whole=whole), None, kept)


def draw_output(
    model: JsonObject,
    kept: frozenset[str] | None,
    assumptions: Assumptions = NO_ASSUMPTIONS,
    *,
    whole: bool = False,
) -> Figure:
    """Return the graph of a model that is written; `kept` as in `Drawing`, the rest as in `draw`."""
    depth = 1 if whole else 0
    return _figure(_Level(read(model), (), assumptions), kept=kept, depth=depth)._replace(
        title="after"
    )


class _Level(NamedTuple):
    """One graph of a model, at its place in the model around it, with the wrappers found there."""

    graph: Graph
    wrappers: tuple[LayerWrapper, ...]
    assumptions: Assumptions
    outer: EnclosingModel | None = None

    def nested(self, layer: Layer, model: JsonObject) -> _Level:
        """Return the level of a model that a layer of this one is, or has in its config."""
        place = place_in_graph(layer.name, self.graph, self.wrappers, self.outer)
        return _level(model, self.assumptions, place)


def _level(
    model: JsonObject, assumptions: Assumptions, outer: EnclosingModel | None = None
) -> _Level:
    graph = read(model)
    return _Level(graph, recognise(graph, assumptions, outer).wrappers, assumptions, outer)


def _with_nested(level: _Level, depth: int = 0) -> Iterator[_Level]:
    """Yield a level and all levels in it, outermost first."""
    yield level
    if depth == DEEPEST:
        return
    for layer in level.graph.layers.values():
        models = [layer.stored] if layer.is_model else [c for _, c in children(layer.stored)]
        for model in models:
            yield from _with_nested(level.nested(layer, model), depth + 1)


def _template_layers(levels: Iterable[_Level]) -> frozenset[str]:
    """Names that a template's layers have in the model that is left: their own, or the template's where it is kept."""
    names: set[str] = set()
    for level in levels:
        for wrapper in level.wrappers:
            if wrapper.inline is not None:
                names |= {call.layer for call in wrapper.first}
            else:
                names |= {
                    wrapper.template,
                    *read(level.graph.layers[wrapper.template].stored).layers,
                }
    return frozenset(names)


def _figure(level: _Level, *, kept: frozenset[str] | None = frozenset(), depth: int = 0) -> Figure:
    """Return the figure of one graph. `kept`: the layers that are a template's; None for all."""
    graph, found = level.graph, level.wrappers[:WRAPPERS_DRAWN]
    roles = {call: role for wrapper in found for call, role in _roles(wrapper)}
    wrapper_of = {
        call: n
        for n, wrapper in enumerate(found)
        for tower in wrapper.tower_calls
        for call in tower
    }
    boxes, edges = _boxes(graph, _drawn_as_one(graph, found, roles, depth))
    insides: dict[str, Figure | None] = {}
    nodes = []
    for key, calls in boxes.items():
        wrapper = next((wrapper_of[call] for call in calls if call in wrapper_of), None)
        if key == _key(calls[0]):
            layer = graph.layers[calls[0].layer]
            if layer.name not in insides:
                insides[layer.name] = _inside(level, layer, depth)
            is_kept = kept is None or layer.name in kept
            role = roles.get(calls[0]) or (
                "input" if is_input(layer.stored) else "kept" if is_kept else "layer"
            )
            nodes.append(
                Box(key, layer.name, layer.class_name, role, insides[layer.name], wrapper=wrapper)
            )
        else:
            nodes.append(_folded(graph, key, calls, found, kept)._replace(wrapper=wrapper))
    return Figure(graph.name, tuple(nodes), edges, len(graph.layers))


def _key(call: CallId) -> str:
    return f"{call.layer} {call.call_index}"


def _drawn_as_one(
    graph: Graph, found: Sequence[LayerWrapper], roles: Mapping[CallId, Role], depth: int
) -> dict[CallId, str]:
    """Call -> the key of the box it shares: towers of several layers, towers of many, layers of many."""
    shared = {
        call: f"\0tower {n} {i}"
        for n, wrapper in enumerate(found)
        for i, tower in enumerate(wrapper.tower_calls)
        if len(tower) > 1
        for call in tower
    }
    shared |= {
        call: f"\0more {n}" for n, wrapper in enumerate(found) for call in _hidden(graph, wrapper)
    }
    plain = [call for call in _in_order(graph) if call not in roles]
    return (
        shared | _groups(graph, plain, found)
        if len(plain) > LAYERS_DRAWN and depth == 0
        else shared
    )


def _boxes(
    graph: Graph, shared: Mapping[CallId, str]
) -> tuple[dict[str, list[CallId]], tuple[tuple[str, str], ...]]:
    """Return the calls of every box, each box after those that it reads, and the arrows between boxes.

    Calls that would read one another in a circle are not merged into a box: each has its own.
    """
    boxes: dict[str, list[CallId]] = {}
    edges: dict[tuple[str, str], None] = {}
    for call in _in_order(graph):
        end = shared.get(call, _key(call))
        boxes.setdefault(end, []).append(call)
        for ref in graph.call(call).reads:
            start = shared.get(ref.call, _key(ref.call))
            if start != end:
                edges[start, end] = None
    sorter: TopologicalSorter[str] = TopologicalSorter(dict.fromkeys(boxes, ()))
    for start, end in edges:
        sorter.add(end, start)
    try:
        order = [*sorter.static_order()]
    except CycleError as circle:
        return _boxes(
            graph, {call: key for call, key in shared.items() if key not in circle.args[1]}
        )
    return {key: boxes[key] for key in order}, tuple(edges)


def _inside(level: _Level, layer: Layer, depth: int) -> Figure | None:
    """Return what a box opens to: the layers of a nested model, one level a box."""
    if not layer.is_model or depth == DEEPEST:
        return None
    return _figure(level.nested(layer, layer.stored), depth=depth + 1)


def _roles(found: LayerWrapper) -> Iterator[tuple[CallId, Role]]:
    yield from ((call, "slice") for call in found.slices)
    yield from ((call, "tower") for tower in found.tower_calls for call in tower)
    yield from ((call, "merge") for merge in found.merges for call in merge.calls)


def _hidden(graph: Graph, found: LayerWrapper) -> frozenset[CallId]:
    """Return the calls of towers that are not drawn for their number, with their slices and merges."""
    if len(found.towers) <= TOWERS_DRAWN:
        return frozenset()
    towers = found.tower_calls
    hidden = set().union(*towers[TOWERS_AHEAD:-1]) - towers[0]
    last = {merge.calls[0] for merge in found.merges}
    joins = [call for merge in found.merges for call in merge.calls if call not in last]
    for call in reversed([c for c in _in_order(graph) if c in found.slices]):
        users = {user for user, _ in graph.readers.get(call, ())}
        if users and users <= hidden:
            hidden.add(call)
    for call in (c for c in _in_order(graph) if c in joins):
        if all(ref.call in hidden for ref in graph.call(call).reads):
            hidden.add(call)
    return frozenset(hidden)


def _in_order(graph: Graph) -> list[CallId]:
    """Return all calls, each after the calls that it reads."""
    waiting = {at: len({ref.call for ref in call.reads}) for at, call in graph.calls()}
    ready = [at for at, count in waiting.items() if not count][::-1]
    done: list[CallId] = []
    while ready:
        at = ready.pop()
        done.append(at)
        for user in reversed([*dict.fromkeys(user for user, _ in graph.readers.get(at, ()))]):
            waiting[user] -= 1
            if not waiting[user]:
                ready.append(user)
    return done


def _groups(
    graph: Graph, plain: Sequence[CallId], found: Sequence[LayerWrapper]
) -> dict[CallId, str]:
    """Call -> the key of its box, for layers between the same wrappers, inputs excepted.

    That leaves no circle: whoever is behind a wrapper stays so.
    """
    order = _in_order(graph)
    ends = {result.call: n for n, wrapper in enumerate(found) for result in wrapper.results(graph)}
    starts = {call: n for n, wrapper in enumerate(found) for call in wrapper.slices}
    behind: dict[CallId, frozenset[int]] = {}
    for at in order:
        own = frozenset([ends[at]] if at in ends else [])
        behind[at] = own.union(*(behind[ref.call] for ref in graph.call(at).reads))
    before: dict[CallId, frozenset[int]] = {}
    for at in reversed(order):
        own = frozenset([starts[at]] if at in starts else [])
        before[at] = own.union(*(before[user] for user, _ in graph.readers.get(at, ())))
    between = {
        at: (behind[at], before[at]) for at in plain if not is_input(graph.layers[at.layer].stored)
    }
    numbers = {key: n for n, key in enumerate(dict.fromkeys(between.values()))}
    many = {key for key, count in Counter(between.values()).items() if count > 1}
    return {at: f"\0group {numbers[key]}" for at, key in between.items() if key in many}


def _folded(
    graph: Graph,
    key: str,
    calls: Sequence[CallId],
    found: Sequence[LayerWrapper],
    kept: frozenset[str] | None,
) -> Box:
    """The box that stands for several calls."""
    if key.startswith("\0more "):
        towers = len(found[int(key.removeprefix("\0more "))].towers) - TOWERS_AHEAD - 1
        return Box(key, f"{towers} more towers", "drawn as one", "more", stands_for=towers)
    names = [*dict.fromkeys(call.layer for call in calls)]
    inner = set(calls)
    role: Role = (
        "tower"
        if key.startswith("\0tower ")
        else "kept"
        if kept is None or names[0] in kept
        else "group"
    )
    nodes = tuple(
        Box(
            f"{c.layer} {c.call_index}",
            c.layer,
            graph.layers[c.layer].class_name,
            "kept" if role == "kept" else "layer",
        )
        for c in calls
    )
    edges = dict.fromkeys(
        (f"{ref.layer} {ref.call_index}", f"{c.layer} {c.call_index}")
        for c in calls for ref in graph.call(c).reads if ref.call in inner
    )  # fmt: skip
    title = f"{names[0]} to {names[-1]}"
    inside = Figure(title, nodes, tuple(edges), len(names))
    return Box(key, title, "layers", role, inside, stands_for=len(names))


def _schema(wrappers: Sequence[Wrapper]) -> Figure:
    """Return wrappers as the report lists them if no graph is stored, inner ones inside the outer ones' towers."""
    inside: Figure | None = None
    for wrapper in reversed(wrappers):
        shown = wrapper.towers or TOWERS_AHEAD
        lanes = [*range(shown)] if shown <= TOWERS_DRAWN else [*range(TOWERS_AHEAD), shown - 1]
        merges = wrapper.merge or ("merge",)
        nodes = [Box("batch", "batch", "input", "input")]
        edges = []
        for lane in lanes:
            nodes.append(Box(f"slice {lane}", f"slice {lane + 1}", ROWS, "slice"))
            nodes.append(
                _template(wrapper, "tower")._replace(key=f"tower {lane}", inside=inside, wrapper=0)
            )
            edges += [("batch", f"slice {lane}"), (f"slice {lane}", f"tower {lane}")]
            edges += [(f"tower {lane}", f"merge {m}") for m in range(len(merges))]
        if len(lanes) < shown:
            more = shown - len(lanes)
            nodes.append(
                Box(
                    "more",
                    f"{more} more towers",
                    "drawn as one",
                    "more",
                    stands_for=more,
                    wrapper=0,
                )
            )
            edges += [("batch", "more"), *(("more", f"merge {m}") for m in range(len(merges)))]
        nodes += [Box(f"merge {m}", name, "merge", "merge") for m, name in enumerate(merges)]
        inside = Figure(wrapper.name or "before", tuple(nodes), tuple(edges), len(nodes))
    assert inside is not None
    return inside._replace(title="before")


def _template(wrapper: Wrapper, role: Role) -> Box:
    return Box("template", wrapper.template, TEMPLATE, role)


def _chain(nodes: Iterable[Box]) -> tuple[Box, ...]:
    return (Box("batch", "batch", "input", "input"), *nodes)
