"""Towers of a layer graph whose slices, or merges, are opaque: stored code, custom classes.

The merges are read off configs and code (`layer_joins`). Opaque slices claim their rows, which take the place of
computed ones in the one equation (`row_trial_of_slices_and_joins`). Where both leave something open, the wrapper is
"likely".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from unnest.core.architecture import read
from unnest.core.architecture.graph import Graph
from unnest.core.frontends.operation_layers_as_op_calls import is_operation
from unnest.core.interpreters.tensor_graph import Column
from unnest.core.keras_facts.stored_class_names import is_keras_layer
from unnest.core.model import CallId, Ref, Shape
from unnest.core.wrappers.claims import slice_claims
from unnest.core.wrappers.claims.slice_claims import ClaimStatus
from unnest.core.wrappers.layer_graph import layer_joins, stored_layer_shapes
from unnest.core.wrappers.layer_graph.batch_split_record import BatchSplit, InputSlices
from unnest.core.wrappers.layer_graph.find_slices_before_towers import (
    InputFacts,
    can_slice,
    check_shapes,
    split_batch,
)
from unnest.core.wrappers.layer_graph.layer_joins import LayerJoin
from unnest.core.wrappers.layer_graph.layer_tensor_graph import LayerTensors
from unnest.core.wrappers.layer_graph.row_trial_of_slices_and_joins import with_rows_tried
from unnest.core.wrappers.layer_graph.wrapper_records import (
    Merge,
    NotAWrapper,
)
from unnest.core.wrappers.search.batch_trials import Joined
from unnest.core.wrappers.search.match_towers import Copies, walk_back
from unnest.core.wrappers.search.tower_search import Candidate, TowerSet
from unnest.core.wrappers.stored_code import code_names_and_numbers


def calls_of_models(
    tensors: LayerTensors, vouched: Collection[str]
) -> Iterator[Iterator[Candidate]]:
    """Yield the calls of nested models that layers join; `vouched` are classes said to cut the batch."""
    groups: dict[tuple[CallId, ...], list[LayerJoin]] = {}
    for join in layer_joins.joins_of_models(tensors):
        groups.setdefault(join.towers, []).append(join)
    for joins in groups.values():
        alike = [join for join in joins if join.objection is None]
        yield iter((ModelCalls(tensors, alike or joins[:1], frozenset(vouched)),))


def differing_source(graph: Graph, column: Column) -> Ref | None:
    """Return the source of slices by stored code or custom classes; None if they are all the same."""
    layers = [graph.layers[ref.layer] for ref in column]
    for ref, layer in zip(column, layers, strict=True):
        is_custom = code_names_and_numbers.is_function(layer) or not is_keras_layer(layer)
        if (
            not can_slice(graph, ref.call)
            or is_operation(layer, graph.call(ref.call))
            or not is_custom
        ):
            return None
    is_split = len({ref.call for ref in column}) == 1
    settings = [
        {key: value for key, value in layer.settings.items() if key != "name"} for layer in layers
    ]
    if is_split or any(other != settings[0] for other in settings):
        return graph.call(column[0].call).reads[0]
    return None


class LayerTowers(Candidate):
    """Towers that layers join, each an output of all towers."""

    def __init__(
        self, tensors: LayerTensors, merges: Iterable[Merge], operands: Mapping[Ref, Column]
    ) -> None:
        """Search towers behind opaque slices; `operands`: joined tensor -> the operands of its merge."""
        self.tensors, self.graph = tensors, tensors.graph
        self.merges = tuple(merges)
        self.joins = [
            Joined(each.tensor, operands[each.tensor], frozenset(each.calls))
            for each in self.merges
        ]
        self.number = len(self.joins[0].operands)

    @property
    def merge_calls(self) -> set[CallId]:
        """The calls of all merges."""
        return {at for merge in self.merges for at in merge.calls}

    def with_rows_tried(self, split: BatchSplit, shapes: Sequence[Shape | None]) -> BatchSplit:
        """Return a split with the rows that come together; `shapes` are those of the inputs. Raises NotAWrapper."""
        pairs = zip(self.joins, self.merges, strict=True)
        joins = [
            joined for joined, merge in pairs if merge.on_batch_axis and self._is_operation(merge)
        ]
        return with_rows_tried(self.tensors, split, shapes, joins, self.merge_calls)

    def _is_operation(self, merge: Merge) -> bool:
        """Return True if all layers of a merge are carried out as operations; the code of others is checked alone."""
        return all(self.tensors.of(at).name for at in merge.calls)

    def are_shown(self, shapes: Mapping[Ref, Shape | None], split: BatchSplit) -> bool:
        """Return True if no merge has code that cannot be followed; `shapes` are those of the towers' outputs."""
        return all(
            layer_joins.is_shown(
                self.graph, merge, self.number, shapes.get(merge.tensor), dealt_out=split.dealt_out
            )
            for merge in self.merges
        )

    def tower_set(
        self, copies: Copies, columns: Sequence[Column], split: BatchSplit, *, is_known: bool
    ) -> TowerSet:
        """Return the towers with their slices; `columns` has the towers' tensors for every input of the split."""
        sources = dict(zip(columns, split.sources, strict=False))
        return TowerSet(
            Copies(sources, copies.calls, copies.shared),
            tuple(self.joins),
            split.calls,
            split.sentences,
            is_known=is_known,
            merges=self.merges,
            cuts=split.nearest,
            sources=tuple(dict.fromkeys(split.sources)),
        )


class ModelCalls(LayerTowers):
    """Calls of one nested model, and the layers that join their outputs."""

    def __init__(
        self, tensors: LayerTensors, joins: Sequence[LayerJoin], vouched: frozenset[str]
    ) -> None:
        graph = tensors.graph
        self.objection, self.vouched = joins[0].objection, vouched
        self.calls = joins[0].towers
        self.template = graph.layers[self.calls[0].layer]
        self.model = read(self.template.stored)
        self.columns: list[Column] = [
            *zip(*(graph.call(at).reads for at in self.calls), strict=False)
        ]
        merges = _with_outputs(graph, self.model, [join.merge for join in joins])
        operands = {join.merge.tensor: join.operands for join in joins}
        super().__init__(tensors, sorted(merges, key=lambda merge: merge.output), operands)

    def is_near(self, reason: NotAWrapper) -> bool:
        """Return True if there are several towers: every layer behind a model joins one."""
        del reason
        return len(self.calls) > 1

    def towers(self) -> Copies:
        """Return the calls with their inputs. Raises NotAWrapper."""
        if self.objection is not None:
            raise NotAWrapper(self.objection)
        outputs = [merge.output for merge in self.merges]
        if len({*outputs}) < len(outputs):
            raise NotAWrapper(f"one output of {self.template.name} is joined more than once")
        if self.tensors.read_by_others(self.calls, self.merge_calls) is not None:
            reader = self.merges[0].layer
            raise NotAWrapper(
                f"the outputs of {self.template.name} are read by other layers than {reader} too"
            )
        inputs = {*self.columns}
        return walk_back(
            self.tensors,
            self.joins[0].operands,
            lambda column: column[0] if column in inputs else None,
            may_share=True,
        )

    def judge(self, copies: Copies) -> TowerSet:
        """Return the towers with their slices.

        They are known for certain only if the slices are proven to take all rows in order, and every merge joins along
        the batch without code that cannot be followed. Slices or merges that say nothing of it are believed where the
        other side says enough.

        Raises:
            NotAWrapper: the calls do not read slices of all rows, the merges do not give all rows back, or neither says
                that the batch is put together again.

        """
        split, called_on = self._split()
        self._check_split(split)
        shapes = self._merge_input_shapes()
        layer_joins.check_joins(
            self.graph, self.model, self.calls, self.merges, shapes, dealt_out=split.dealt_out
        )
        some_merge_says_so = any(merge.on_batch_axis for merge in self.merges)
        if not some_merge_says_so and not self._slices_say_enough(split):
            raise NotAWrapper(
                f"neither {self.merges[0].layer} nor the slices say that the batch is put together again"
            )
        is_joined = all(merge.on_batch_axis for merge in self.merges) and self.are_shown(
            shapes, split
        )
        towers = self.tower_set(copies, self.columns, split, is_known=is_joined and split.is_proven)
        return towers._replace(sources=split.sources, called_on=called_on)

    def _split(self) -> tuple[BatchSplit, tuple[Ref, ...]]:
        """Return the slices of the template's inputs, and the sources of all tensors of its calls.

        Raises:
            NotAWrapper: the calls do not read slices, or not all rows in order.

        """
        stored_shapes = stored_layer_shapes.template_shapes(self.template.stored) or ()
        shapes = [*stored_shapes, *[None] * len(self.columns)][: len(self.columns)]
        inputs = len(self.graph.call(self.calls[0]).inputs)
        has_unread = self.model.arity < inputs
        facts = [InputFacts(None if has_unread else shape, self.vouched) for shape in shapes]
        split = split_batch(self.tensors, self.columns, facts, {*self.calls})
        called_on = split.sources
        split, shapes = split._replace(inputs=split.inputs[:inputs]), shapes[:inputs]
        if has_unread:
            split, shapes = self._of_stored_inputs(split), [*stored_shapes]
        check_shapes(self.graph, self.template, split.sources)
        return self.with_rows_tried(split, shapes), called_on

    def _of_stored_inputs(self, split: BatchSplit) -> BatchSplit:
        """Return the slices that the template's inputs read, if it is called with more tensors than it stores inputs.

        Keras 1 to 2.3 leave an input that no layer reads out of a nested model's config, and not out of its calls; such
        a call cannot be loaded, and nothing but the template can be taken out. (Source: files of Keras 2.0.9 to 2.3.1.)
        The tensors are in the order of the inputs: names tell which are theirs, or else shapes.

        Raises:
            NotAWrapper: neither names nor shapes tell it.

        """
        names = [ref.layer for ref in self.model.inputs]
        by_name = {each.source.layer: each for each in split.inputs}
        inputs = [by_name[name] for name in names if name in by_name]
        if len(inputs) < len(names):
            inputs = self._fitting(split.inputs)
        merged = {merge.tensor for merge in self.merges}
        is_whole = {*split.sources} == {*self.graph.inputs} and {*self.graph.outputs} <= merged
        if not is_whole or not inputs or len(inputs) < len(names):
            raise NotAWrapper(
                f"{self.template.name} is called with {len(split.inputs)} tensors, and stores {len(names)} inputs"
            )
        return split._replace(inputs=tuple(inputs))

    def _fitting(self, inputs: Sequence[InputSlices]) -> list[InputSlices]:
        """Return, for each input of the template in turn, the next source with rows of its shape."""
        following = iter(inputs)
        fitting = []
        for shape in stored_layer_shapes.template_shapes(self.template.stored) or ():
            for each in following:
                if stored_layer_shapes.same_rows(
                    stored_layer_shapes.stored_shape(self.graph.layers[each.source.layer]), shape
                ):
                    fitting.append(each)
                    break
        return fitting

    def _check_split(self, split: BatchSplit) -> None:
        """Raise NotAWrapper where the slices do not belong to the calls of the template and the merges."""
        name = self.template.name
        if len(self.calls) == 1 and ClaimStatus.PARTLY in split.statuses:
            raise NotAWrapper(f"{name} is called once, on a slice that may be a part of the batch")
        has_output = self.merges[-1].output < len(self.model.outputs)
        if not has_output or len(split.inputs) != self.model.arity:
            raise NotAWrapper(f"{name} is called with another number of tensors than it has")
        if self._leaves_a_tower_out(split):
            raise NotAWrapper(
                f"{name} is called on one more slice, which {self.merges[0].layer} does not join"
            )

    def _leaves_a_tower_out(self, split: BatchSplit) -> bool:
        """Return True if the template is called on a slice of the same sources that no layer merges."""
        for call_index, call in enumerate(self.template.calls):
            if CallId(self.template.name, call_index) in self.calls:
                continue
            slices = (ref.call for ref in call.reads if can_slice(self.graph, ref.call))
            if any(self.graph.call(at).reads[0] in split.sources for at in slices):
                return True
        return False

    def _merge_input_shapes(self) -> dict[Ref, Shape | None]:
        """Return the shapes of the template's outputs that merges with stored code join, by the joined tensor."""
        tensors = LayerTensors(self.model)
        with_code = [merge for merge in self.merges if layer_joins.has_code(self.graph, merge)]
        return {
            merge.tensor: tensors.shape(self.model.outputs[merge.output]) for merge in with_code
        }

    def _slices_say_enough(self, split: BatchSplit) -> bool:
        """Return True if the slices alone show that the batch is cut, where no merge says what it does."""
        is_told = bool(split.statuses & {ClaimStatus.ROWS, ClaimStatus.DEALT, ClaimStatus.LATE})
        if len(self.calls) > 1:
            is_computed = split.computed is not None or split.reach is not None
            return is_told or is_computed or split.dealt_out
        if split.computed is not None or not is_told:
            return split.computed is not None
        slices = (
            self.graph.layers[at.layer]
            for each in split.sliced
            for step in each.steps
            for at in step
        )
        merging = (self.graph.layers[merge.layer] for merge in self.merges)
        return all(map(slice_claims.is_part_one_of_one, slices)) and all(
            map(slice_claims.says_nothing, merging)
        )


def _with_outputs(graph: Graph, model: Graph, merges: Sequence[Merge]) -> Iterator[Merge]:
    """Yield the merges, each of an output of its own where the template lists one tensor several times.

    A layer that reads such a tensor is stored as reading the last of these outputs, whichever it read. (Source: files
    of Keras 2.0.9 to 2.2.4 and of tf.keras 2.3.)
    """
    outputs_of: dict[Ref, list[int]] = {}
    for output, ref in enumerate(model.outputs):
        outputs_of.setdefault(ref, []).append(output)
    times = Counter(merge.output for merge in merges)
    equal = {
        outputs[-1]: iter(outputs)
        for outputs in outputs_of.values()
        if 1 < len(outputs) == times[outputs[-1]]
    }
    places = {ref: place for place, ref in enumerate(graph.outputs)}
    for merge in sorted(merges, key=lambda each: places.get(each.tensor, len(places))):
        yield merge._replace(output=next(equal[merge.output])) if merge.output in equal else merge
