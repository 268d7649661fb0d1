"""The only call of a model, behind stored code with the arguments of part one of one: a wrapper of a single tower."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from unnest.core.architecture import read
from unnest.core.architecture.graph import Graph, Layer
from unnest.core.model import CallId, Ref
from unnest.core.wrappers.claims import slice_claims
from unnest.core.wrappers.claims.check_slice_claims_by_code import takes_all_rows
from unnest.core.wrappers.claims.slice_claims import ClaimStatus
from unnest.core.wrappers.claims.stored_slice_numbers import Slice
from unnest.core.wrappers.layer_graph.find_slices_before_towers import (
    InputFacts,
    check_shapes,
    split_batch,
)
from unnest.core.wrappers.layer_graph.layer_tensor_graph import LayerTensors
from unnest.core.wrappers.layer_graph.wrapper_records import (
    NotAWrapper,
    listed,
)
from unnest.core.wrappers.search.match_towers import Copies
from unnest.core.wrappers.search.tower_search import Candidate, TowerSet
from unnest.core.wrappers.stored_code import code_names_and_numbers


def lone_calls(tensors: LayerTensors, taken: Collection[CallId]) -> Iterator[Iterator[Candidate]]:
    """Yield an attempt for each model that is called once, on slices alone whose numbers say that they are all rows."""
    graph = tensors.graph
    for name, layer in graph.layers.items():
        reads = [ref for call in layer.calls for ref in call.reads]
        is_called_once = len(layer.calls) == 1 and reads and layer.is_model
        if (
            is_called_once
            and CallId(name, 0) not in taken
            and all(claims_all_rows(graph, ref) for ref in reads)
        ):
            yield iter((LoneCall(tensors, CallId(name, 0)),))


class LoneCall(Candidate):
    """The only call of a model behind slices that take all rows, so that Keras 1 merges nothing.

    Many a function takes a 0 and a 1 (a mean and a deviation, two limits), so that the numbers alone are no evidence:
    the slices' code must give all rows back.
    """

    joins = ()

    def __init__(self, tensors: LayerTensors, call: CallId) -> None:
        self.tensors, self.graph, self.call = tensors, tensors.graph, call
        self.template: Layer = tensors.graph.layers[call.layer]
        self.reads = tensors.graph.call(call).reads

    @property
    def root(self) -> Ref:
        """The tensor that near misses name: the slice."""
        return self.reads[0]

    def towers(self) -> Copies:
        """Return the one tower."""
        return Copies({(ref,): ref for ref in self.reads}, [{self.call}])

    def judge(self, copies: Copies) -> TowerSet:
        """Return the tower if the code of its slices takes all rows. Raises NotAWrapper."""
        columns = [*copies.cut_points]
        split = split_batch(
            self.tensors,
            [(ref,) for ref in self.reads],
            [InputFacts()] * len(self.reads),
            {self.call},
        )
        check_shapes(self.graph, self.template, split.sources)
        for ref in self.reads:
            layer, call = self.graph.layers[ref.layer], self.graph.call(ref.call)
            if not code_names_and_numbers.shows_how(layer) or not takes_all_rows(
                Slice(layer, call, ref.tensor)
            ):
                raise NotAWrapper(
                    f"nothing is merged, and the code of {layer.name} does not show that it takes all rows"
                )
        if len(self.reads) != read(self.template.stored).arity:
            raise NotAWrapper(
                f"{self.template.name} is called with another number of tensors than it has"
            )
        slices = listed([ref.layer for ref in self.reads])
        return TowerSet(
            Copies(dict(zip(columns, split.sources, strict=False)), copies.calls),
            (),
            split.calls,
            (
                *split.sentences,
                f"the code of {slices} takes all rows, so that there is nothing to merge",
            ),
            cuts=split.nearest,
            sources=split.sources,
            called_on=split.sources,
        )


def claims_all_rows(graph: Graph, ref: Ref) -> bool:
    """Return True if a layer runs a function that may cut, and its arguments are those of part one of one."""
    layer, call = graph.layers[ref.layer], graph.call(ref.call)
    if not code_names_and_numbers.is_function(layer) or (
        code_names_and_numbers.stored_code(layer) and not code_names_and_numbers.shows_how(layer)
    ):
        return False
    return slice_claims.claim([Slice(layer, call, ref.tensor)]).status is ClaimStatus.ROWS
