"""A path-keyed model or weights, open for reading: its plan is its own tree with sub-trees moved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from unnest.core.keras_facts.unloadable_models import layers_shared_between_models
from unnest.core.make_plan import plan
from unnest.core.model import JsonObject, Stored, Tensor
from unnest.core.plan import Choices, Move, Plan, Rearranged
from unnest.findings import Code, listed
from unnest.formats.container_interface import Source
from unnest.formats.hdf5.fast_reader import PlainFile
from unnest.formats.hdf5.guarded_file import GuardedFile
from unnest.formats.hdf5.read_datasets import blocks
from unnest.formats.keras3.join_shards import JoinedShards
from unnest.formats.keras3.path_keyed_tree import PathKeyedTree
from unnest.formats.keras3.shared_layers import SharedLayers, with_separate_layers
from unnest.formats.keras3.sub_tree_moves import moves_to
from unnest.formats.keras3.weights_from_paths import Placement

#: How a path-keyed file is open: by the fast reader, by HDF5's library, or in shards.
OpenedHdf5: TypeAlias = PlainFile | GuardedFile | JoinedShards

#: A tree of which nothing is moved.
NOTHING_MOVED = (Move("", ""),)


class PathKeyedSource(Source):
    """A path-keyed file; where its architecture comes from is the container's business."""

    def __init__(self, path: str, hdf5: OpenedHdf5, tree: PathKeyedTree, stored: Stored) -> None:
        """Open a source; `tree` is the index of `hdf5`."""
        not_carried = Code.OPTIMIZER_DROPPED(
            why=f"/{tree.optimizer_group} is not numbered from 0 on without a gap"
        )
        super().__init__(path, stored, (not_carried,) if tree.unnumbered_optimizer else ())
        self.tree = tree
        self._plain = hdf5 if isinstance(hdf5, PlainFile) else None
        self._guarded = None if isinstance(hdf5, PlainFile) else hdf5

    @property
    def hdf5(self) -> GuardedFile | JoinedShards:
        """The file as HDF5's library has it open."""
        if self._guarded is None:
            self._guarded = self.open_by_library()
        return self._guarded

    def open_by_library(self) -> GuardedFile:
        """Open the file that the fast reader has read. Raises Unreadable."""
        return GuardedFile(self.path)

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """Every tensor of the file."""
        return tuple(self.tree.tensor(path) for path in self.tree.hdf5.datasets)

    def plan_model(self, stored: Stored, *, choices: Choices) -> Plan:
        """Return the plan for a full model, with the moves that carry it out."""
        assert stored.architecture is not None
        placement = Placement(self.tree, stored.architecture)
        stored = stored._replace(groups=placement.groups, optimizer=self.tree.optimizer())
        full_plan = self._naming(plan(stored, choices=choices))
        moves: Iterable[Move] = NOTHING_MOVED
        if full_plan.result is not None and full_plan.result.architecture is not None:
            full_plan = self._with_layers_apart(full_plan)
            assert full_plan.result is not None
            assert full_plan.result.architecture is not None
            architecture = full_plan.result.architecture
            shares = {g.name: g.tensors for g in full_plan.result.groups}
            root, shared = _root_of(architecture, placement), SharedLayers()
            moves = (*moves_to(placement, architecture, shares, root, shared=shared), *self._rest())
        if placement.by_order:
            by_order = Code.BY_ORDER(layers=listed(placement.by_order))
            full_plan = full_plan._replace(findings=(*full_plan.findings, by_order))
        return self.carrying(full_plan, moves)

    def _with_layers_apart(self, full_plan: Plan) -> Plan:
        """Give each model its own layer, with a copy of the weights, wherever two models share one.

        No Keras finds such a layer again in a `.keras`. Weights alone are loaded into a model that shares it already.
        """
        assert full_plan.output is not None
        model = full_plan.output.model
        shared_names = layers_shared_between_models(model)
        if self.container != "keras" or not shared_names or model.architecture is None:
            return full_plan
        return full_plan._replace(
            output=full_plan.output._replace(
                model=model._replace(architecture=with_separate_layers(model.architecture))
            ),
            findings=(*full_plan.findings, Code.LAYERS_APART(layers=listed(shared_names))),
        )

    def carrying(self, full_plan: Plan, moves: Iterable[Move]) -> Plan:
        """Return the plan with this file's own tree, its sub-trees moved, as its output, if it has an output."""
        return (
            full_plan
            if full_plan.output is None
            else full_plan._replace(output=self.rearranged(full_plan.output.model, moves))
        )

    def rearranged(self, model: Stored, moves: Iterable[Move]) -> Rearranged:
        """Return the output that is this file's own tree with sub-trees moved."""
        moves, model = tuple(moves), model._replace(is_of_windows=False)
        makes_groups = any(move.new_layer is not None for move in moves)
        return Rearranged(
            model, moves, self.tree.optimizer_group, makes_groups and self.tree.stores_layer_names()
        )

    def _naming(self, parallel: Plan) -> Plan:
        """Add to the plan which variables of nested models, and of an optimizer without an order, are left out."""
        if parallel.verdict == "parallel":
            state = map(self.tree.tensor, self.tree.unnumbered_optimizer)
            parallel = parallel._replace(dropped=(*parallel.dropped, *state))
        left_in_file = self.tree.leftover_variables() if parallel.verdict == "parallel" else {}
        if not left_in_file:
            return parallel
        dropped = (self.tree.tensor(path) for paths in left_in_file.values() for path in paths)
        finding = Code.NOT_CARRIED(what=listed(["/" + place for place in left_in_file]))
        return parallel._replace(
            findings=(*parallel.findings, finding), dropped=(*parallel.dropped, *dropped)
        )

    def _rest(self) -> list[Move]:
        """Return moves that leave optimizer, metrics and the like in place."""
        tops = sorted(
            {g.split("/")[0] for g in self.tree.groups if g} - {self.tree.attribute, "vars"}
        )
        return [Move(t, t) for t in tops]

    def hdf5_of(self, tensor: Tensor) -> GuardedFile | None:
        """Return the file, or the shard, that contains the tensor."""
        return self.hdf5.holder(tensor.ref) if tensor.recipe is None else None

    def blocks(self, tensor: Tensor) -> Iterator[bytes]:
        """Yield the tensor's bytes, decompressed."""
        return blocks(self.hdf5.dataset(tensor.ref))

    def close(self) -> None:
        """Close the file."""
        for file in (self._plain, self._guarded):
            if file is not None:
                file.close()


def _root_of(model: JsonObject, placement: Placement) -> str:
    """Return the path of the result's own variables: the template's path if only the template is left."""
    config = model.get("config")
    name = config.get("name") if isinstance(config, dict) else None
    paths = placement.layer_paths.get((str(name), str(model.get("class_name"))), [])
    return paths[-1] if paths else ""
