"""Towers of a layer graph that are the model's own layers, called once for each tower."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from unnest.core.interpreters.tensor_graph import Column
from unnest.core.model import Ref
from unnest.core.wrappers.claims.slice_claims import ClaimStatus
from unnest.core.wrappers.layer_graph import layer_joins
from unnest.core.wrappers.layer_graph.batch_split_record import BatchSplit
from unnest.core.wrappers.layer_graph.find_slices_before_towers import (
    InputFacts,
    check_shapes,
    split_batch,
)
from unnest.core.wrappers.layer_graph.layer_joins import LayerJoin
from unnest.core.wrappers.layer_graph.layer_tensor_graph import LayerTensors
from unnest.core.wrappers.layer_graph.opaque_slice_towers import (
    LayerTowers,
    differing_source,
)
from unnest.core.wrappers.layer_graph.wrapper_from_towers import check_own_layers
from unnest.core.wrappers.layer_graph.wrapper_records import NotAWrapper
from unnest.core.wrappers.search.match_towers import Copies, Unlike, walk_back
from unnest.core.wrappers.search.tower_search import Candidate, TowerSet, with_rows_kept


def towers_of_own_layers(tensors: LayerTensors) -> Iterator[Iterator[Candidate]]:
    """Yield the towers of the graph's own layers behind slices whose arguments name their parts."""
    found: list[tuple[LayerJoin, Copies]] = []
    for join in layer_joins.joins_of_tensors(tensors.graph):
        try:
            copies = walk_back(
                tensors, join.operands, lambda column: differing_source(tensors.graph, column)
            )
        except Unlike:
            continue
        if copies.cut_points:
            found.append((join, copies))
    for numbers in _of_the_same_towers([copies for _, copies in found]):
        yield iter((OwnLayers(tensors, [found[number] for number in numbers]),))


def _of_the_same_towers(found: Sequence[Copies]) -> Iterator[list[int]]:
    """Yield the numbers of those that read one slice in the same places: the same towers, with several outputs."""
    groups: dict[int, list[int]] = {}
    group_of: dict[Column, int] = {}
    for number, copies in enumerate(found):
        own, *others = sorted({group_of.get(column, number) for column in copies.cut_points})
        groups.setdefault(own, []).append(number)
        for other in others:
            moved = groups.pop(other, ())
            groups[own] += moved
            group_of |= {column: own for each in moved for column in found[each].cut_points}
        group_of |= dict.fromkeys(copies.cut_points, own)
    yield from map(sorted, groups.values())


class OwnLayers(LayerTowers):
    """Towers of the graph's own layers, and the layers that join them."""

    def __init__(self, tensors: LayerTensors, joins: Sequence[tuple[LayerJoin, Copies]]) -> None:
        operands = {join.merge.tensor: join.operands for join, _ in joins}
        super().__init__(tensors, (join.merge for join, _ in joins), operands)
        self.ends_in = self.joins[0].operands[0].layer
        copies = [each for _, each in joins]
        columns = {column: source for each in copies for column, source in each.cut_points.items()}
        calls = [
            set().union(*towers) for towers in zip(*(each.calls for each in copies), strict=True)
        ]
        self.copies = Copies(columns, calls, set().union(*(each.shared for each in copies)))

    def towers(self) -> Copies:
        """Return the towers of all joins. Raises NotAWrapper where joins disagree on a call's tower."""
        copies = self.copies
        if len(set().union(*copies.calls)) < sum(map(len, copies.calls)):
            raise NotAWrapper("a call is part of two towers")
        return copies

    def judge(self, copies: Copies) -> TowerSet:
        """Return the towers if their slices claim all rows, in order. Raises NotAWrapper."""
        columns = [*copies.cut_points]
        split = self._split(copies)
        sources = {column: each.source for column, each in zip(columns, split.inputs, strict=True)}
        self._check_claims(copies, sources, split)
        check_own_layers(self.graph, copies.calls[0], self.ends_in)
        split = self.with_rows_tried(split, [None] * len(columns))
        is_shown = self._is_shown(sources, split)
        return with_rows_kept(
            self.tensors,
            self.tower_set(copies, columns, split, is_known=is_shown and split.is_proven),
        )

    def _split(self, copies: Copies) -> BatchSplit:
        """Return the slices that the towers read. Raises NotAWrapper where another layer reads a part of them."""
        first, merge = next(iter(copies.cut_points))[0], self.merges[0].layer
        if not all(copies.calls):
            raise NotAWrapper(
                f"{merge} joins the outputs of {first.layer} and similar layers, not of towers"
            )
        calls = set().union(*copies.calls)
        columns = [*copies.cut_points]
        split = split_batch(self.tensors, columns, [InputFacts()] * len(columns), calls)
        if self.tensors.read_by_others(calls, calls | self.merge_calls) is not None:
            raise NotAWrapper(
                f"the towers that end in {self.ends_in} are read by other layers than {merge} too"
            )
        return split

    def _check_claims(
        self, copies: Copies, sources: Mapping[Column, Ref], split: BatchSplit
    ) -> None:
        """Raise NotAWrapper for rows of another shape, and for slices that are not told all rows."""
        source_of = {column[0]: source for column, source in sources.items()}
        for at in sorted(at for at in copies.calls[0] if self.graph.layers[at.layer].is_model):
            reads = self.graph.call(at).reads
            if all(ref in source_of for ref in reads):
                check_shapes(
                    self.graph, self.graph.layers[at.layer], [source_of[ref] for ref in reads]
                )
        if not split.claims or not split.statuses <= {ClaimStatus.ROWS, ClaimStatus.DEALT}:
            first = split.sliced[0]
            slices = first.steps[0][0].layer
            raise NotAWrapper(
                f"the file does not show that {slices} and similar layers cut {first.source.layer}"
            )

    def _is_shown(self, sources: Mapping[Column, Ref], split: BatchSplit) -> bool:
        """Return True if no code of a merge is beyond following. Raises NotAWrapper unless it gives the rows back."""
        rows = {column[0]: self.tensors.rows_alone(source) for column, source in sources.items()}
        ends = {joined.root: joined.operands[0] for joined in self.joins}
        shapes = {root: self.tensors.shape(end, {**rows}) for root, end in ends.items()}
        for merge in self.merges:
            layer_joins.check_code(
                self.graph, merge, self.number, shapes[merge.tensor], dealt_out=split.dealt_out
            )
        is_shown = self.are_shown(shapes, split)
        if not is_shown and not all(merge.on_batch_axis for merge in self.merges):
            raise NotAWrapper(
                f"it cannot be told whether {self.merges[0].layer} gives the rows of its towers back"
            )
        return is_shown
