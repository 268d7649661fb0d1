"""The values of recognition in layer graphs: `LayerWrapper`, `Merge`, and `NotAWrapper` with its reason."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from unnest.core.architecture import read
from unnest.core.architecture.graph import Graph
from unnest.core.model import CallId, Ref
from unnest.core.recognition_results import Confidence, MixedRows, NearMiss, Scope, UnevenTowers


class Merge(NamedTuple):
    """The calls that join output number `output` of every tower, the last of them first."""

    output: int
    calls: tuple[CallId, ...]
    on_batch_axis: bool | None

    @property
    def layer(self) -> str:
        """The merge layer's name."""
        return self.calls[0].layer

    @property
    def tensor(self) -> Ref:
        """The joined tensor."""
        return Ref(self.calls[0].layer, self.calls[0].call_index, 0)


class Inline(NamedTuple):
    """Towers that are made of the graph's own layers.

    `calls`: those of the first tower, but for layers that only hand a tensor on; `towers`: all calls of each tower.
    `sources_by_slice`: each slice that the first one reads -> the tensor that is sliced. `ends`: each merged tensor ->
    the first tower's own.
    """

    calls: frozenset[CallId]
    towers: tuple[frozenset[CallId], ...]
    sources_by_slice: Mapping[Ref, Ref]
    ends: Mapping[Ref, Ref]


class LayerWrapper(NamedTuple):
    """One wrapper in a graph of layers.

    `template`: the nested model that each tower calls; if the towers are the graph's own layers (`inline`), the layer
    that they end in. `towers`: the calls of the template, in order. `sources`: the tensors that are sliced, one per
    input of the template. `slices`: the calls that cut them, and compute bounds. `merges`: one for each joined output;
    none where a single tower is not merged. `called_on`: the sources of all tensors that a tower is called on, in
    order, among them inputs that the template does not store, as nothing in it reads them; empty for towers of own
    layers. `mask_doubt`: how the model may compute otherwise without the wrapper, if custom code makes a mask.
    """

    template: str
    towers: tuple[CallId, ...]
    sources: tuple[Ref, ...]
    slices: frozenset[CallId]
    merges: tuple[Merge, ...]
    confidence: Confidence
    evidence: tuple[str, ...]
    inline: Inline | None = None
    called_on: tuple[Ref, ...] = ()
    mask_doubt: str | None = None

    def sources_by_slice(self, graph: Graph) -> Mapping[Ref, Ref]:
        """Return the slices that the first tower reads, each with the tensor that is sliced."""
        if self.inline is not None:
            return self.inline.sources_by_slice
        return dict(
            zip(graph.call(self.towers[0]).reads, self.called_on or self.sources, strict=True)
        )

    @property
    def end_layer(self) -> str:
        """The layer that near misses name: the first merge, or the template if nothing is merged."""
        return self.merges[0].layer if self.merges else self.template

    @property
    def first(self) -> frozenset[CallId]:
        """The calls of the first tower."""
        return frozenset({self.towers[0]}) if self.inline is None else self.inline.calls

    @property
    def tower_calls(self) -> Sequence[frozenset[CallId]]:
        """The calls of each tower, in order: one of a nested model, or those of the graph's own layers."""
        if self.inline is not None:
            return self.inline.towers
        return [frozenset({call}) for call in self.towers]

    def scope(self, graph: Graph) -> Scope:
        """Return how the wrapper sits in its graph.

        A wrapper that lists inputs or outputs in its own order, or leaves an output out, is whole too. One with an
        added loss (`add_loss`), the layers of which lead to no output, is not.
        """
        results = self.results(graph)
        sources = self.called_on or self.sources
        nothing_else = set(sources) == set(graph.inputs) and set(graph.outputs) <= set(results)
        followed = any(ref in results for _, call in graph.calls() for ref in call.reads)
        is_listed_once = all(len(set(refs)) == len(refs) for refs in (self.sources, graph.outputs))
        if nothing_else and is_listed_once and not followed:
            return "whole"
        if set(self.sources) <= set(graph.inputs) and followed:
            return "head"
        return "embedded"

    def is_whole_model(self, graph: Graph) -> bool:
        """Return True if the graph does nothing but call a nested model in towers: the template can replace it."""
        return self.inline is None and self.scope(graph) == "whole"

    def results(self, graph: Graph) -> Mapping[Ref, int]:
        """Return the wrapper's results in the graph, and which output of the template each tensor is."""
        if self.merges:
            return {merge.tensor: merge.output for merge in self.merges}
        outputs = read(graph.layers[self.template].stored).outputs
        return {Ref(*self.towers[0], output): output for output in range(len(outputs))}

    @property
    def ends(self) -> Mapping[Ref, Ref]:
        """Merged tensor -> the tensor of the first tower that takes its place."""
        if self.inline is not None:
            return self.inline.ends
        return {
            m.tensor: Ref(self.towers[0].layer, self.towers[0].call_index, m.output)
            for m in self.merges
        }


class EnclosingModel(NamedTuple):
    """The place of a nested model: a layer of `graph`, or a model in the config of one; `outer`: that graph's place.

    Without a `graph`, code calls the nested model (a subclassed model in memory).
    """

    graph: Graph | None
    layer: str
    outer: EnclosingModel | None = None


class Assumptions(NamedTuple):
    """What recognition takes for granted and no graph stores.

    `slice_layers`: custom classes that cut the batch in order, by the caller's word. `in_tensorflow`: no Keras of its
    own wrote the model, before Keras 3. Then a mask ends at a custom class whose code does not say otherwise, where
    Keras of its own raises an error.
    """

    slice_layers: Collection[str] = ()
    in_tensorflow: bool = False


NO_ASSUMPTIONS = Assumptions()


def place_in_graph(
    layer: str, graph: Graph, wrappers: Sequence[LayerWrapper], outer: EnclosingModel | None
) -> EnclosingModel | None:
    """Return the place of a nested model once the wrappers of the graph around it are gone.

    The template of a whole wrapper takes the place of the graph itself, which is `outer`.
    """
    if any(w.template == layer and w.is_whole_model(graph) for w in wrappers):
        return outer
    return EnclosingModel(graph, layer, outer)


class Recognised(NamedTuple):
    """The wrappers of one graph, in the order of their templates, and near misses."""

    wrappers: tuple[LayerWrapper, ...] = ()
    near_misses: tuple[NearMiss, ...] = ()


class NotAWrapper(Exception):
    """A near miss: the condition that a candidate does not meet, in one sentence."""

    def near_miss(self, layer_name: str) -> NearMiss:
        """Return the near miss of the candidate that this layer joins."""
        return NearMiss(layer_name, str(self))


class AreUneven(NotAWrapper):
    """A candidate with a layer in some of its towers alone."""

    def near_miss(self, layer_name: str) -> NearMiss:
        """Return the near miss of the candidate that this layer joins."""
        return UnevenTowers(layer_name, str(self))


class MixesRows(NotAWrapper):
    """A candidate whose towers are known to weigh rows against each other."""

    def near_miss(self, layer_name: str) -> NearMiss:
        """Return the near miss of the candidate that this layer joins."""
        return MixedRows(layer_name, str(self))


MAX_NAMES_IN_EVIDENCE = 4
"""Names that a line of evidence lists."""


def listed(names: Sequence[str]) -> str:
    """Return the first of some names, for a line of evidence."""
    return ", ".join(names[:MAX_NAMES_IN_EVIDENCE]) + (
        ", ..." if names[MAX_NAMES_IN_EVIDENCE:] else ""
    )
