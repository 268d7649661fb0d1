"""Path-keyed weights: what Keras 3 and Keras 2 from 2.12 on write from `save_weights`.

One file, `x.weights.h5`, or with Keras 3 the shards of `x.weights.json`. What is written is one file.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import ClassVar, NamedTuple

from unnest.core.architecture import is_model, mapping_calls_as_lists, read
from unnest.core.keras_facts.weight_shape_check import shape_contradiction
from unnest.core.make_plan import template_in, without_layers
from unnest.core.model import Group, JsonObject, Stored, Tensor, release_of
from unnest.core.plan import Choices, Move, Output, Plan, Refusal
from unnest.core.recognition_results import Template, Wrapper
from unnest.core.weight_assignment.flat_list.divide_flat_list import weights_by_leaf
from unnest.core.weight_assignment.layer_weights_record import Ambiguous
from unnest.core.weight_transfer.load_into_model import PlacedWeights, place_leaves
from unnest.core.weight_transfer.state_for_compiled_optimizer import StateAlone
from unnest.core.weight_transfer.target_model import TargetModel
from unnest.errors import Refused, Unreadable
from unnest.findings import Code
from unnest.formats.container_interface import MARK, Container, OnBytes, Source
from unnest.formats.hdf5.guarded_file import GuardedFile
from unnest.formats.keras3.join_shards import JoinedShards
from unnest.formats.keras3.layer_paths import COMPILED_PARTS, join_path
from unnest.formats.keras3.path_keyed_source import NOTHING_MOVED, OpenedHdf5, PathKeyedSource
from unnest.formats.keras3.path_keyed_tree import PathKeyedTree
from unnest.formats.keras3.path_keyed_weights_in_keras_order import in_order
from unnest.formats.keras3.path_keyed_writer import compare, write_weights
from unnest.formats.keras3.shared_layers import SharedLayers
from unnest.formats.keras3.sub_tree_moves import moves_to
from unnest.formats.keras3.weights_from_paths import Placement
from unnest.formats.keras3.weights_json_map import map_of
from unnest.formats.translate_errors import writing_file


class _PathWrapper(NamedTuple):
    """The surroundings of a lone model: the paths of the model around it, of the template and of the merges.

    `towers`: their number, if the paths show a wrapper, else None.
    """

    model: str
    template: str
    inputs: int
    towers: int | None
    merges: list[str]


class WeightsSource(PathKeyedSource):
    """The source for a `.weights.h5`, in one file or in shards."""

    container: ClassVar = "weights_h5"

    def __init__(self, path: str, hdf5: OpenedHdf5) -> None:
        try:
            tree = PathKeyedTree(hdf5)
            super().__init__(path, hdf5, tree, _weights_in(tree))
        except BaseException:
            hdf5.close()
            raise

    def plan(self, architecture: JsonObject | None, *, choices: Choices) -> Plan:
        """Plan with the architecture of the saved model, or of its template, or with none."""
        if architecture is None:
            return self._plan_by_paths()
        if not is_model(architecture):
            return without_layers(self.stored, architecture)
        version = _version_in(architecture)
        if (
            version is None
            and (called := mapping_calls_as_lists.model_called_differently(architecture))
            is not None
        ):
            return Plan(
                "clean",
                self.stored,
                refusal=Refusal("architecture-mismatch", _unknown_release(called)),
            )
        architecture = mapping_calls_as_lists.with_calls_of_release(
            architecture, release_of(version)
        )
        try:
            full_plan = self.plan_model(Stored("model", architecture), choices=choices)
        except Refused as e:
            return self._plan_with_template(architecture, e, choices)
        output = full_plan.output
        if output is not None:
            output = output._replace(
                model=output.model._replace(contents="weights", architecture=None, training=None)
            )
        return full_plan._replace(
            output=output,
            complete=self._completed(full_plan.result or full_plan.stored),
            stored=full_plan.stored._replace(contents="weights", architecture=None),
        )

    def placed_in(self, target: TargetModel) -> PlacedWeights:
        """Place the weights by their paths, which number the layers of a class; names noted there are checked."""
        tried = [
            self._placed_at(p, target)
            for p in ("", *(wrapper.template for wrapper in self._lone_models()))
        ]
        placed = next((each for each in tried if isinstance(each, PlacedWeights)), None)
        if placed is None:
            raise next(each for each in tried if isinstance(each, Refused))
        return placed

    def _placed_at(self, prefix: str, target: TargetModel) -> PlacedWeights | Refused:
        """Return the weights of the model at a path, or the reason why it is not the target."""
        try:
            placement = Placement(self.tree, target.architecture, prefix, has_its_names=False)
            version = "3.x" if self.tree.stores_layer_names() else "2.x"
            stored = Stored(
                "weights", target.architecture, groups=placement.groups, keras_version=version
            )
            weights = weights_by_leaf(target.architecture, in_order(stored, in_lists=False).groups)
            names = {
                path: self._layer_name(tensors) for path, tensors in weights.items() if tensors
            }
            state = self.state_alone(self.stored)
            return place_leaves(
                weights, target, names, is_keras_3=self.tree.stores_layer_names(), state=state
            )
        except Refused as refusal:
            return refusal
        except Ambiguous as doubt:
            return Refused("other-model", f"{doubt}")

    def state_alone(self, stored: Stored) -> StateAlone | None:
        """Return the optimizer's state; where layers' names stand beside their weights, so does the optimizer's."""
        if not self.stored.optimizer:
            return None
        name = self.tree.name(self.tree.optimizer_group.rpartition("/vars")[0])
        return StateAlone(
            self.stored.optimizer,
            (name,) if name else (),
            is_keras_3=self.tree.stores_layer_names() or stored.is_keras_3,
        )

    def _layer_name(self, tensors: Sequence[Tensor]) -> str | None:
        """Return the name that is stored beside a leaf layer's first weight."""
        return self.tree.name(tensors[0].ref.rpartition("/vars/")[0])

    def _plan_with_template(
        self, architecture: JsonObject, not_whole: Refused, choices: Choices
    ) -> Plan:
        """Plan with the architecture of the template that holds all weights, or of a model around it. Raises Refused.

        `not_whole` is why it is not that of the whole: a model within that this one holds has no better reason.
        """
        around: list[_PathWrapper] = []
        for wrapper in self._lone_models():
            around.append(wrapper)
            try:
                placement = Placement(self.tree, architecture, wrapper.template)
            except Refused:
                continue
            layers = read(architecture).layers
            if any(
                shape_contradiction(layers[g.name], [t.shape for t in g.tensors])
                for g in placement.groups
            ):
                continue
            shares = {g.name: g.tensors for g in placement.groups}
            moves = moves_to(
                placement, architecture, shares, wrapper.template, shared=SharedLayers()
            )
            of_template = Stored(
                "model", architecture, groups=placement.groups, optimizer=self.stored.optimizer
            )
            return self._without(around, moves)._replace(complete=self._completed(of_template))
        template = template_in(architecture, choices)
        if template is not None:  # these may be its weights: a file that was fixed already
            with suppress(Refused):
                return self.plan(template, choices=choices)
        why, _, _ = not_whole.message.removeprefix(f"{self.path}: ").partition(";")
        raise Refused(
            "architecture-mismatch",
            f"{self.path}: {why}, and no model in it has the layers of the architecture given; pass that of the saved "
            "model (to_json() does not say which layers its models share: fix the whole .keras of such a model)",
        ) from not_whole

    @staticmethod
    def _completed(model: Stored) -> Stored:
        """Return the model of the weights and the given architecture, whose JSON says which Keras it is of."""
        given = model.architecture or {}
        backend = given.get("backend")
        version = _version_in(given) or ("3.x" if "module" in given else None)
        architecture = {k: v for k, v in given.items() if k not in ("keras_version", "backend")}
        compile_config = architecture.pop("compile_config", None)
        return model._replace(
            contents="model",
            architecture=architecture,
            keras_version=version,
            backend=backend if isinstance(backend, str) else None,
            training=compile_config
            if isinstance(compile_config, Mapping) and compile_config
            else None,
        )

    def _children(self, prefix: str) -> list[str]:
        start = join_path(prefix, self.tree.attribute) + "/"
        return sorted(
            g for g in self.tree.hdf5.groups if g.startswith(start) and "/" not in g[len(start) :]
        )

    def _lone_models(self) -> Iterator[_PathWrapper]:
        """Yield the models that own all weights of the model around them, outermost first, as wrappers."""
        prefix, inputs = "", 0
        while True:
            with_weights = [c for c in self._children(prefix) if self.tree.tensor_paths_under(c)]
            if len(with_weights) != 1 or not self._children(with_weights[0]):
                return
            wrapper = self._wrapper(prefix, with_weights[0], inputs)
            yield wrapper
            prefix, inputs = wrapper.template, wrapper.inputs

    def _wrappers(self) -> Iterator[_PathWrapper]:
        """Yield the wrappers, outermost first: a lone model among layers without weights, by their class names."""
        return itertools.takewhile(lambda wrapper: wrapper.towers is not None, self._lone_models())

    def _wrapper(self, prefix: str, template_path: str, inputs: int) -> _PathWrapper:
        """Describe what surrounds a lone model at `prefix`: a wrapper if other layers look like slices and merges.

        A wrapper in a wrapper shares its input layers, which then have their groups outside: `inputs` of them.
        """
        kinds: dict[str, list[str]] = {}
        for child in self._children(prefix):
            if child != template_path:
                stem = child.rsplit("/", 1)[1].rstrip("0123456789").rstrip("_")
                kinds.setdefault(stem, []).append(child)
        inputs = len(kinds.pop("input_layer", ())) or inputs
        merging = [k for k in kinds if "concat" in k]
        cutting = [k for k in kinds if k not in merging]
        merges = [path for kind in merging for path in kinds[kind]]
        if not inputs or len(merging) != 1 or len(cutting) != 1:
            return _PathWrapper(prefix, template_path, inputs, None, merges)
        towers, remainder = divmod(len(kinds[cutting[0]]), inputs)
        return _PathWrapper(
            prefix, template_path, inputs, towers if towers > 1 and not remainder else None, merges
        )

    def _plan_by_paths(self) -> Plan:
        """Plan without an architecture."""
        as_it_is = self.rearranged(self.stored, NOTHING_MOVED)
        if self.stored.is_ours:
            return Plan(verdict="clean", stored=self.stored, output=as_it_is)
        wrappers = list(self._wrappers())
        if not wrappers or not self.tree.tensor_paths_under(
            join_path(wrappers[-1].template, self.tree.attribute)
        ):
            # Under a head, or cut by operations, which have no paths, a template looks like any model in a model.
            is_nested = any(d.count(f"{self.tree.attribute}/") > 1 for d in self.tree.hdf5.datasets)
            findings = (Code.NEEDS_ARCHITECTURE(),) if is_nested else ()
            return Plan(verdict="clean", stored=self.stored, output=as_it_is, findings=findings)
        names_alone = Code.NAMES_ALONE(
            merge=", ".join(self._wrapper_of_report(wrappers[-1], 0).merge)
        )
        template = wrappers[-1].template
        parallel = self._without(wrappers, [*self._lifted(template), *self._inputs(template)])
        return parallel._replace(findings=(names_alone, *parallel.findings))

    def _without(self, wrappers: Sequence[_PathWrapper], moves: Iterable[Move]) -> Plan:
        """Plan to remove wrappers, outermost first; `moves` put the innermost template in their place."""
        template = wrappers[-1].template
        tensors = tuple(self.tree.tensor(p) for p in self.tree.tensor_paths_under(template))
        result = self.stored._replace(groups=(Group("", tensors),))
        parallel = Plan(
            verdict="parallel",
            stored=self.stored,
            wrappers=tuple(
                self._wrapper_of_report(wrapper, depth) for depth, wrapper in enumerate(wrappers)
            ),
            output=self.rearranged(result, [*moves, *self._rest()]),
            template=Template(
                None, None, len(wrappers[-1].merges) or None, None, sum(t.size for t in tensors)
            ),
        )
        return self._naming(parallel)

    def _wrapper_of_report(self, wrapper: _PathWrapper, depth: int) -> Wrapper:
        """Return the wrapper as a report shows it."""
        beside = (
            "its architecture was given"
            if wrapper.towers is None
            else f"{wrapper.inputs * wrapper.towers} layers without weights stand before it"
        )
        evidence = (f"/{wrapper.template} holds all weights", beside)
        template, *merges = (
            self.tree.name(path) or path.rsplit("/", 1)[1]
            for path in (wrapper.template, *wrapper.merges)
        )
        name = self.tree.name(wrapper.model) or None
        return Wrapper(
            name, template, wrapper.towers, "whole", tuple(merges), depth, "likely", evidence
        )

    def _lifted(self, template_path: str) -> list[Move]:
        """Return the moves of the template to the root, without its own compiled state."""
        start = len(template_path) + 1
        names_inside = {
            g[start:].split("/")[0]
            for g in self.tree.hdf5.groups
            if g.startswith(template_path + "/")
        }
        parts = sorted(names_inside - {*COMPILED_PARTS, "vars"})
        return [
            Move(template_path, "", recursive=False),
            *(Move(join_path(template_path, part), part) for part in parts),
        ]

    def _inputs(self, template_path: str) -> list[Move]:
        """Return the moves of the wrapper's input layers if the template has them too; a Sequential has none."""
        own_inputs = [
            c for c in self._children(template_path) if "/input_layer" in c[len(template_path) :]
        ]
        if own_inputs or template_path.rsplit("/", 1)[1].startswith("sequential"):
            return []
        return [
            Move(c, c)
            for c in self._children("")
            if c.startswith(join_path(self.tree.attribute, "input_layer"))
        ]


class ShardedSource(WeightsSource):
    """The shards of a map; `path` is the map's."""

    not_in_place = "is the map of several files, and what is written is one"

    def __init__(self, path: str) -> None:
        hdf5 = JoinedShards(path)
        super().__init__(path, hdf5)
        self._shards = tuple(file.path for file in hdf5.files.values())
        self.reformed = WeightsContainer.suffix

    def parts(self) -> tuple[str, ...]:
        """Return the shards, then the map."""
        return (*self._shards, self.path)


def _weights_in(tree: PathKeyedTree) -> Stored:
    """Return the weights alone, in one group, since paths do not show which layers own them.

    Raises:
        Unreadable: the group has no dataset.

    """
    every = tuple(tree.tensor(p) for p in tree.tensor_paths_under(tree.attribute))
    if not every and any(path.endswith("/vars") for path in tree.groups):
        what = "holds the layers of a model without weights; the model's JSON is all there is"
        raise Unreadable("no-weights", f"{tree.hdf5.path}: {what}")
    if not every:
        raise Unreadable(
            "not-keras", f"{tree.hdf5.path}: is an HDF5 file, but holds no layers with weights"
        )
    is_ours = MARK in tree.hdf5.attributes("")
    return Stored(
        "weights",
        groups=(Group("", every),),
        optimizer=tree.optimizer(),
        is_ours=is_ours,
        is_of_windows=tree.hdf5.is_of_windows,
    )


class WeightsContainer(Container):
    """Reads and writes path-keyed weights."""

    name: ClassVar = "weights_h5"
    suffix: ClassVar = ".weights.h5"

    def open(self, path: str) -> WeightsSource:
        """Read the layout; the tensors stay in the file. A shard stands for all of them."""
        map_path = map_of(path)
        return (
            WeightsSource(path, GuardedFile(path)) if map_path is None else ShardedSource(map_path)
        )

    def write(self, output: Output, source: Source, path: str, progress: OnBytes) -> None:
        """Move the sub-trees as the plan says, or lay them out anew. Raises Failed."""
        with writing_file(path), open(path, "x+b", buffering=0) as file:
            write_weights(file, output, source, progress, marked=True)

    def verify(
        self, output: Output, source: Source, path: str, progress: OnBytes
    ) -> tuple[str, ...]:
        """Compare every tensor with its source's bytes; nothing else may be there. Return what was compared."""
        hdf5 = GuardedFile(path)
        try:
            compare(hdf5, output, source, path, progress)
        finally:
            hdf5.close()
        return (
            "structure",
            "weights",
            *(("optimizer",) if output.model.optimizer is not None else ()),
        )


__all__ = ["WeightsContainer", "WeightsSource"]


def _version_in(architecture: JsonObject) -> str | None:
    """Return the version of Keras that stands in an architecture's JSON; Keras 3 writes none there."""
    version = architecture.get("keras_version")
    return version if isinstance(version, str) else None


def _unknown_release(called: str) -> str:
    """Return the reason for which inputs that are given by name stay in doubt."""
    return (
        f"{called} is called with a dict, whose order Keras 3.4 to 3.6 reads otherwise than other releases, and the "
        'JSON does not say which wrote it; add "keras_version": "3.6.0", say, beside "class_name"'
    )
