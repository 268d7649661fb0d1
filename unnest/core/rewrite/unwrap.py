"""Wrappers out of one architecture and its weights, outermost first, until none is left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from unnest.core.architecture import children, compile_config, is_model, read, replace_children
from unnest.core.architecture.graph import Graph, Layer
from unnest.core.assign.flat_list import Ambiguous, Share, flat, split
from unnest.core.assign.trainable import trained_count
from unnest.core.model import JsonObject, NearMiss, Scope, Template, Tensor, Wrapper
from unnest.core.recognise import wrappers as towers
from unnest.core.rewrite import extract
from unnest.findings import Code, Finding, listed


@dataclass(frozen=True)
class Level:
    """A model with its weights: by layer where that is known, else as one flat list.

    A nested model's weights are stored flat, and stay so as long as nobody asks whose they are.
    """

    model: JsonObject
    groups: Mapping[str, Share] | None = None
    flat: Share = field(default_factory=Share)

    def by_layer(self) -> Mapping[str, Share]:
        """The weights of every layer. Raises Ambiguous."""
        return split(self.flat.tensors, read(self.model)) if self.groups is None else self.groups

    def together(self) -> Share:
        """The weights as a nested model stores them."""
        if self.groups is None:
            return self.flat
        own = [self.groups.get(name, Share()) for name in read(self.model).layers]
        trained = tuple(t for share in own for t in share.trained)
        return Share(trained, flat(own)[len(trained) :])


class Done(NamedTuple):
    """What was found, and what is left.

    `moved`: layers stand in another order than before. `removed`: slice and merge layers that went.
    """

    level: Level
    wrappers: tuple[Wrapper, ...]
    template: Template | None
    findings: tuple[Finding, ...]
    outputs: Mapping[str, str]
    moved: bool
    removed: frozenset[str]
    refusal: str | None
    near_misses: tuple[NearMiss, ...] = ()


def everything(start: Level, *, keep_nested: bool, slice_layers: frozenset[str] = frozenset()) -> Done:
    """All wrappers out of a top-level model; layers of `slice_layers` are said to cut the batch in order."""
    work = _Unwrapping(keep_nested, slice_layers, len(read(start.model).outputs))
    level, refusal = start, None
    try:
        level = work.top(start)
    except Ambiguous as doubt:
        refusal = str(doubt)
    names, renamed = (
        compile_config.output_names([r.layer for r in read(each.model).outputs]) for each in (start, level)
    )
    return Done(
        level,
        tuple(work.wrappers),
        work.innermost,
        tuple(work.findings),
        {old: renamed[at] for old, at in zip(names, work.outputs, strict=True) if at < len(renamed)},
        work.moved,
        frozenset(work.removed),
        refusal,
        tuple(dict.fromkeys(work.near_misses)),
    )


class _Unwrapping:
    """One walk over a model and the models nested in it."""

    def __init__(self, keep_nested: bool, slice_layers: frozenset[str], outputs: int) -> None:
        self._keep_nested = keep_nested
        self._slice_layers = slice_layers
        #: Which output of the model that is left each output of the parallel model is.
        self.outputs = list(range(outputs))
        self._deepest = -1
        self._whole: tuple[Graph, towers.Found] | None = None
        self.wrappers: list[Wrapper] = []
        self.findings: list[Finding] = []
        self.near_misses: list[NearMiss] = []
        self.innermost: Template | None = None
        self.moved = False
        self.removed: set[str] = set()

    def top(self, start: Level) -> Level:
        """The outermost model without wrappers, its weights layer by layer. Raises Ambiguous."""
        level = self._clean(start, depth=0, inside=False)
        try:
            return replace(level, groups=level.by_layer())
        except Ambiguous as doubt:
            if self._whole is None or not self._keep_nested:
                raise
            graph, found = self._whole
            self.findings.append(Code.STAYS_NESTED(template=found.template, why=str(doubt)))
            nested = extract.in_place(graph, replace(found))
            return Level(nested, {found.template: level.flat})

    def _clean(self, level: Level, depth: int, *, inside: bool) -> Level:
        """Every wrapper out of this model's own graph, then out of the models nested in it."""
        templates: dict[str, int] = {}
        while (seen := towers.recognise(graph := read(level.model), self._slice_layers)).wrappers:
            found = seen.wrappers[0]
            how = extract.scope(graph, found)
            if how == "whole" and found.inline is None and not extract.same_ends(graph, found):
                if inside:
                    how = "embedded"
                else:
                    self._follow_ends(graph, found)
            self._note(graph, found, how, depth, level, inside=inside)
            level = self._take_out(level, graph, found, how)
            if how != "whole" and found.template in read(level.model).layers:
                templates[found.template] = depth + 1
            else:
                depth += 1
        self.near_misses += seen.near_misses
        for name, layer in graph.layers.items():
            level = self._clean_layer(level, layer, templates.get(name, depth))
        return level

    def _follow_ends(self, graph: Graph, found: towers.Found) -> None:
        """The outputs are the template's own from here on, in its order and all of them."""
        merged = {merge.tensor: merge.output for merge in found.merges}
        self.outputs = [merged[graph.outputs[at]] for at in self.outputs]
        self.findings.append(Code.OTHER_ENDS(name=graph.name, template=found.template))

    def _note(self, graph: Graph, found: towers.Found, how: Scope, depth: int, level: Level, *, inside: bool) -> None:
        merges = tuple(merge.layer for merge in found.merges)
        if found.bound_late:
            self.findings.append(Code.BOUND_LATE(names=listed(found.bound_late)))
        self.wrappers.append(
            Wrapper(
                name=graph.name,
                template=found.template,
                towers=len(found.towers),
                scope="embedded" if inside else how,
                merge=merges,
                depth=depth,
                confidence=found.confidence,
                evidence=found.evidence,
            )
        )
        if depth > self._deepest:
            self._deepest = depth
            if found.inline is not None:
                self.innermost = _of_layers(graph, found, level)
                return
            layer = graph.layers[found.template]
            own = level.flat if how == "whole" and level.groups is None else _weights_of(level, layer)
            self.innermost = template_of(layer.stored, own)

    def _take_out(self, level: Level, graph: Graph, found: towers.Found, how: Scope) -> Level:
        """The level without this wrapper."""
        template = graph.layers[found.template]
        self.removed |= {c.layer for c in found.slices} | {c.layer for merge in found.merges for c in merge.calls}
        if found.inline is not None:
            return self._placed(level, graph, extract.in_place(graph, found), {})
        if how == "whole":
            self._whole = graph, found
            told = bool(level.flat.tensors) and all(t.owner for t in level.flat.tensors)
            groups = level.by_layer() if told else level.groups
            own = level.flat if groups is None else groups.get(template.name, Share())
            return Level(extract.standalone(graph.model, template), flat=own)
        shares: Mapping[str, Share] = {}
        reason = extract.cannot_flatten(graph, found) if how == "head" else None
        if how == "head" and reason is None:
            try:
                groups = level.by_layer()
                own = groups.get(template.name, Share())
                shares = split(own.tensors, read(extract.own_layers(graph, found)))
            except Ambiguous as doubt:
                if not self._keep_nested:
                    raise
                reason = str(doubt)
        if reason is not None:
            self.findings.append(Code.STAYS_NESTED(template=template.name, why=reason))
        flatten = how == "head" and reason is None
        model = extract.flattened(graph, found) if flatten else extract.in_place(graph, found)
        return self._placed(level, graph, model, {template.name: shares} if flatten else {})

    def _placed(
        self, level: Level, graph: Graph, model: JsonObject, within: Mapping[str, Mapping[str, Share]]
    ) -> Level:
        """The level with another model; `within` shares out what a layer held to those in its place."""
        after = list(read(model).layers)
        unpacked = [name for outer in graph.layers for name in within.get(outer, (outer,))]
        inner = {name: share for shares in within.values() for name, share in shares.items()}
        moved = _moved(unpacked, after, None if level.groups is None else {**level.groups, **inner})
        self.moved = self.moved or moved
        if level.groups is None and not moved and not within:
            return replace(level, model=model)
        groups = level.by_layer()
        return Level(model, {name: inner.get(name, groups.get(name, Share())) for name in after})

    def _clean_layer(self, level: Level, layer: Layer, depth: int) -> Level:
        """The level with every wrapper out of the models inside one layer."""
        if not is_model(layer.stored):
            return self._clean_held(level, layer, depth)
        inner = Level(layer.stored, flat=_weights_of(level, layer) or Share())
        new = self._clean(inner, depth, inside=True)
        if new.model is layer.stored:
            return level
        model, name = extract.instead_of_nested(read(level.model), layer.name, new.model)
        return _with_layer(replace(level, model=model), layer.name, name, new.together())

    def _clean_held(self, level: Level, layer: Layer, depth: int) -> Level:
        """The level with every wrapper out of the models in one layer's config (TimeDistributed's)."""
        held = dict(children(layer.stored))
        if not held:
            return level
        own = (_weights_of(level, layer) if len(held) == 1 else None) or Share()
        new = {path: self._clean(Level(child, flat=own), depth, inside=True) for path, child in held.items()}
        changed = {path: each.model for path, each in new.items() if each.model is not held[path]}
        if not changed:
            return level
        entry = replace_children(layer.stored, changed)
        level = replace(level, model=extract.with_entry(read(level.model), layer.name, entry))
        if len(held) > 1:
            return level
        (only,) = new.values()
        return _with_layer(level, layer.name, layer.name, only.together())


def _moved(before: Sequence[str], after: Sequence[str], shares: Mapping[str, Share] | None) -> bool:
    """Whether layers that stay stand in another order than before: those with weights, where that is known."""
    staying = {name for name in after if shares is None or shares.get(name, Share()).tensors}
    return [n for n in after if n in staying] != [n for n in dict.fromkeys(before) if n in staying]


def _weights_of(level: Level, layer: Layer) -> Share | None:
    """One layer's weights, None where nobody can tell."""
    try:
        return level.by_layer().get(layer.name)
    except Ambiguous:
        return None


def _with_layer(level: Level, old: str, new: str, share: Share) -> Level:
    if level.groups is None:
        return level
    groups = {new if name == old else name: own for name, own in level.groups.items()}
    return replace(level, groups={**groups, new: share})


def template_of(model: JsonObject, share: Share | None) -> Template:
    """A template model as a report shows it."""
    graph = read(model)
    return Template(
        class_name=str(model.get("class_name")),
        inputs=graph.arity,
        outputs=len(graph.outputs),
        layers=len(graph.layers),
        parameters=None if share is None else sum(t.size for t in share.tensors),
    )


def _of_layers(graph: Graph, found: towers.Found, level: Level) -> Template:
    """The template whose layers are the graph's own, as a report shows it."""
    names = {at.layer for at in found.first}
    shares = [_weights_of(level, graph.layers[name]) for name in sorted(names)]
    known = [share for share in shares if share is not None]
    return Template(
        class_name=str(graph.model.get("class_name")),
        inputs=len(found.sources),
        outputs=len(found.merges),
        layers=len(names) + len(found.sources),
        parameters=sum(t.size for share in known for t in share.tensors) if len(known) == len(shares) else None,
    )


def trained_in_order(level: Level) -> list[Tensor] | None:
    """The weights that the optimizer holds state for, in its order; None where a layer does not tell."""
    graph = read(level.model)
    parts = [_trained(graph.layers[name], share) for name, share in level.by_layer().items() if name in graph.layers]
    known = [part for part in parts if part is not None]
    return [t for part in known for t in part] if len(known) == len(parts) else None


def _trained(layer: Layer, share: Share) -> tuple[Tensor, ...] | None:
    if share.sorted_out or not share.tensors:
        return share.trained
    if is_model(layer.stored):
        try:
            inner = split(share.tensors, read(layer.stored))
        except Ambiguous:
            return None
        return tuple(t for part in inner.values() for t in part.trained)
    count = trained_count(layer, len(share.tensors))
    return None if count is None else share.tensors[:count]
