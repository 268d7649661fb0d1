"""Path-keyed weights, `x.weights.h5`: what Keras 3 and Keras 2 from 2.12 on write from `save_weights`."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar, NamedTuple

import h5py

from unnest.core.architecture import is_model, read
from unnest.core.keras_facts.loading import shared_between_models
from unnest.core.keras_facts.weight_shapes import contradiction
from unnest.core.model import (
    Choices,
    Group,
    JsonObject,
    Move,
    Output,
    Plan,
    Rearranged,
    Refusal,
    Stored,
    Template,
    Tensor,
    Wrapper,
)
from unnest.core.plan import plan
from unnest.errors import Failed, Refused, Unreadable
from unnest.files.atomic import write_failed
from unnest.findings import Code, listed
from unnest.formats.base import BLOCK, MARK, MARKED, Container, OnBytes, Source
from unnest.formats.boundary import oneline
from unnest.formats.hdf5 import attributes as h5_attributes
from unnest.formats.hdf5.compare import slabs
from unnest.formats.hdf5.guarded_file import GuardedFile
from unnest.formats.keras3.path_tree import COMPILED_PARTS, Placement, Tree, join_path, moves_to
from unnest.formats.keras3.path_writing import compare, fill_anew, rearrange
from unnest.formats.keras3.shared_layers import SharedLayers, apart

#: A tree of which nothing is moved.
NOTHING_MOVED = (Move("", ""),)


class PathKeyedSource(Source):
    """A path-keyed file; where its architecture comes from is the container's business."""

    hdf5: GuardedFile

    def __init__(self, path: str, hdf5: GuardedFile, tree: Tree, stored: Stored) -> None:
        not_carried = Code.OPTIMIZER_DROPPED(why=f"/{tree.optimizer_group} is not numbered from 0 on without a gap")
        super().__init__(path, stored, (not_carried,) if tree.unnumbered_optimizer else ())
        self.hdf5 = hdf5
        self.tree = tree

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """Every tensor of the file."""
        return tuple(self.tree.tensor(path) for path in self.hdf5.datasets)

    def planned(self, stored: Stored, *, choices: Choices) -> Plan:
        """The plan for a full model, with the moves that carry it out."""
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
        return self.carrying(full_plan, moves)

    def _with_layers_apart(self, full_plan: Plan) -> Plan:
        """The plan whose model has a layer of its own, with a copy of the weights, wherever models share one.

        No Keras finds such layers again in a `.keras`. Weights alone are loaded into a model that shares them.
        """
        assert full_plan.output is not None
        model = full_plan.output.model
        shared_names = shared_between_models(model)
        if self.container != "keras" or not shared_names or model.architecture is None:
            return full_plan
        return full_plan._replace(
            output=full_plan.output._replace(model=model._replace(architecture=apart(model.architecture))),
            findings=(*full_plan.findings, Code.LAYERS_APART(layers=listed(shared_names))),
        )

    def carrying(self, full_plan: Plan, moves: Iterable[Move]) -> Plan:
        """The plan whose output, if it has one, is this file's own tree with sub-trees moved."""
        return (
            full_plan
            if full_plan.output is None
            else full_plan._replace(output=self.rearranged(full_plan.output.model, moves))
        )

    def rearranged(self, model: Stored, moves: Iterable[Move]) -> Rearranged:
        """The output that is this file's own tree with sub-trees moved."""
        moves = tuple(moves)
        makes_groups = any(move.new_layer is not None for move in moves)
        return Rearranged(model, moves, self.tree.optimizer_group, makes_groups and self.tree.stores_layer_names())

    def _naming(self, parallel: Plan) -> Plan:
        """The plan, which names what of nested models' own it leaves out, and of an optimizer whose order is lost."""
        if parallel.verdict == "parallel":
            state = map(self.tree.tensor, self.tree.unnumbered_optimizer)
            parallel = parallel._replace(dropped=(*parallel.dropped, *state))
        left_in_file = self.tree.left_by_compiled() if parallel.verdict == "parallel" else {}
        if not left_in_file:
            return parallel
        dropped = (self.tree.tensor(path) for paths in left_in_file.values() for path in paths)
        finding = Code.NOT_CARRIED(what=listed(["/" + place for place in left_in_file]))
        return parallel._replace(findings=(*parallel.findings, finding), dropped=(*parallel.dropped, *dropped))

    def _rest(self) -> list[Move]:
        """What belongs to no layer: optimizer, metrics and the like stay where they are."""
        tops = sorted({g.split("/")[0] for g in self.hdf5.groups if g} - {self.tree.attribute, "vars"})
        return [Move(t, t) for t in tops]

    def blocks(self, tensor: Tensor) -> Iterator[bytes]:
        """The tensor's bytes, decoded where they are compressed."""
        for slab in slabs(self.hdf5.dataset(tensor.ref)):
            for start in range(0, len(slab), BLOCK):
                yield slab[start : start + BLOCK]

    def close(self) -> None:
        """Close the file."""
        self.hdf5.close()


class _PathWrapper(NamedTuple):
    """What is around a lone model: the paths of the model that it makes up, of its template and of its merges.

    Where paths tell that it is a wrapper, `towers` is their number, else None.
    """

    model: str
    template: str
    inputs: int
    towers: int | None
    merges: list[str]


class WeightsSource(PathKeyedSource):
    """A `.weights.h5`."""

    container: ClassVar = "weights_h5"

    def __init__(self, path: str) -> None:
        hdf5 = GuardedFile(path)
        try:
            tree = Tree(hdf5)
            super().__init__(path, hdf5, tree, _weights_in(tree))
        except BaseException:
            hdf5.close()
            raise

    def plan(self, architecture: JsonObject | None, *, choices: Choices) -> Plan:
        """With the saved model's architecture, its template's, or none."""
        if architecture is None:
            return self._plan_by_paths()
        if not is_model(architecture):
            why = "the architecture given is not a graph of layers; pass the model's own"
            return Plan(verdict="clean", stored=self.stored, refusal=Refusal("architecture-mismatch", why))
        try:
            full_plan = self.planned(Stored("model", architecture), choices=choices)
        except Refused:
            return self._plan_with_template(architecture)
        output = full_plan.output
        if output is not None:
            output = output._replace(model=output.model._replace(contents="weights", architecture=None, training=None))
        return full_plan._replace(
            output=output,
            complete=self._completed(full_plan.result or full_plan.stored),
            stored=full_plan.stored._replace(contents="weights", architecture=None),
        )

    def _plan_with_template(self, architecture: JsonObject) -> Plan:
        """With the architecture of a model that holds all weights of this one. Raises Refused where it is none."""
        around: list[_PathWrapper] = []
        for wrapper in self._lone_models():
            around.append(wrapper)
            try:
                placement = Placement(self.tree, architecture, wrapper.template)
            except Refused:
                continue
            layers = read(architecture).layers
            if any(contradiction(layers[g.name], [t.shape for t in g.tensors]) for g in placement.groups):
                continue
            shares = {g.name: g.tensors for g in placement.groups}
            moves = moves_to(placement, architecture, shares, wrapper.template, shared=SharedLayers())
            of_template = Stored("model", architecture, groups=placement.groups, optimizer=self.stored.optimizer)
            return self._without(around, moves)._replace(complete=self._completed(of_template))
        why = f"{self.path}: no model in it has the layers of the architecture given; pass that of the saved model"
        raise Refused("architecture-mismatch", why)

    @staticmethod
    def _completed(model: Stored) -> Stored:
        """The model that the weights make with the architecture given; its own JSON says which Keras it is of."""
        given = model.architecture or {}
        stored_version, backend = given.get("keras_version"), given.get("backend")
        version = stored_version if isinstance(stored_version, str) else "3.x" if "module" in given else None
        architecture = {k: v for k, v in given.items() if k not in ("keras_version", "backend")}
        compile_config = architecture.pop("compile_config", None)
        return model._replace(
            contents="model",
            architecture=architecture,
            keras_version=version,
            backend=backend if isinstance(backend, str) else None,
            training=compile_config if isinstance(compile_config, Mapping) and compile_config else None,
        )

    def _children(self, prefix: str) -> list[str]:
        start = join_path(prefix, self.tree.attribute) + "/"
        return sorted(g for g in self.hdf5.groups if g.startswith(start) and "/" not in g[len(start) :])

    def _lone_models(self) -> Iterator[_PathWrapper]:
        """The models that hold all weights of the one around them, outermost first, as wrappers around them."""
        prefix, inputs = "", 0
        while True:
            with_weights = [c for c in self._children(prefix) if self.tree.under(c)]
            if len(with_weights) != 1 or not self._children(with_weights[0]):
                return
            wrapper = self._wrapper(prefix, with_weights[0], inputs)
            yield wrapper
            prefix, inputs = wrapper.template, wrapper.inputs

    def _wrappers(self) -> Iterator[_PathWrapper]:
        """The wrappers, outermost first: a lone model among layers without weights, told by their classes' names."""
        return itertools.takewhile(lambda wrapper: wrapper.towers is not None, self._lone_models())

    def _wrapper(self, prefix: str, template: str, inputs: int) -> _PathWrapper:
        """What is around a lone model at `prefix`: a wrapper, where the layers beside it look like slices and merges.

        A wrapper in a wrapper shares its input layers, which then have their groups outside: `inputs` of them.
        """
        kinds: dict[str, list[str]] = {}
        for child in self._children(prefix):
            if child != template:
                stem = child.rsplit("/", 1)[1].rstrip("0123456789").rstrip("_")
                kinds.setdefault(stem, []).append(child)
        inputs = len(kinds.pop("input_layer", ())) or inputs
        merging = [k for k in kinds if "concat" in k]
        cutting = [k for k in kinds if k not in merging]
        merges = [path for kind in merging for path in kinds[kind]]
        if not inputs or len(merging) != 1 or len(cutting) != 1:
            return _PathWrapper(prefix, template, inputs, None, merges)
        towers, remainder = divmod(len(kinds[cutting[0]]), inputs)
        return _PathWrapper(prefix, template, inputs, towers if towers > 1 and not remainder else None, merges)

    def _plan_by_paths(self) -> Plan:
        """The plan without an architecture."""
        as_it_is = self.rearranged(self.stored, NOTHING_MOVED)
        if self.stored.is_ours:
            return Plan(verdict="clean", stored=self.stored, output=as_it_is)
        wrappers = list(self._wrappers())
        if not wrappers or not self.tree.under(join_path(wrappers[-1].template, self.tree.attribute)):
            # Under a head, or cut by operations, which have no paths, a template looks like any model in a model.
            is_nested = any(d.count(f"{self.tree.attribute}/") > 1 for d in self.hdf5.datasets)
            findings = (Code.NEEDS_ARCHITECTURE(),) if is_nested else ()
            return Plan(verdict="clean", stored=self.stored, output=as_it_is, findings=findings)
        names_alone = Code.NAMES_ALONE(merge=", ".join(self._shown(wrappers[-1], 0).merge))
        template = wrappers[-1].template
        parallel = self._without(wrappers, [*self._lifted(template), *self._inputs(template)])
        return parallel._replace(findings=(names_alone, *parallel.findings))

    def _without(self, wrappers: Sequence[_PathWrapper], moves: Iterable[Move]) -> Plan:
        """The plan that takes wrappers away, the outermost first; `moves` put the innermost template in their place."""
        template = wrappers[-1].template
        tensors = tuple(self.tree.tensor(p) for p in self.tree.under(template))
        result = self.stored._replace(groups=(Group("", tensors),))
        parallel = Plan(
            verdict="parallel",
            stored=self.stored,
            wrappers=tuple(self._shown(wrapper, depth) for depth, wrapper in enumerate(wrappers)),
            output=self.rearranged(result, [*moves, *self._rest()]),
            template=Template(None, None, len(wrappers[-1].merges) or None, None, sum(t.size for t in tensors)),
        )
        return self._naming(parallel)

    def _shown(self, wrapper: _PathWrapper, depth: int) -> Wrapper:
        """The wrapper as a report shows it."""
        beside = (
            "its architecture was given"
            if wrapper.towers is None
            else f"{wrapper.inputs * wrapper.towers} layers without weights stand before it"
        )
        evidence = (f"/{wrapper.template} holds all weights", beside)
        template, *merges = (
            self.tree.name(path) or path.rsplit("/", 1)[1] for path in (wrapper.template, *wrapper.merges)
        )
        name = self.tree.name(wrapper.model) or None
        return Wrapper(name, template, wrapper.towers, "whole", tuple(merges), depth, "likely", evidence)

    def _lifted(self, template: str) -> list[Move]:
        """The template in the place of the root, without what it has beside its layers, having been compiled itself."""
        start = len(template) + 1
        names_inside = {g[start:].split("/")[0] for g in self.hdf5.groups if g.startswith(template + "/")}
        parts = sorted(names_inside - {*COMPILED_PARTS, "vars"})
        return [Move(template, "", recursive=False), *(Move(join_path(template, part), part) for part in parts)]

    def _inputs(self, template: str) -> list[Move]:
        """The wrapper's input layers, where they are the template's too; a Sequential has none."""
        own_inputs = [c for c in self._children(template) if "/input_layer" in c[len(template) :]]
        if own_inputs or template.rsplit("/", 1)[1].startswith("sequential"):
            return []
        return [Move(c, c) for c in self._children("") if c.startswith(join_path(self.tree.attribute, "input_layer"))]


def _root_of(model: JsonObject, placement: Placement) -> str:
    """Where the result's own variables were: with the template where that is all that is left."""
    config = model.get("config")
    name = config.get("name") if isinstance(config, dict) else None
    paths = placement.layer_paths.get((str(name), str(model.get("class_name"))), [])
    return paths[-1] if paths else ""


def _weights_in(tree: Tree) -> Stored:
    """The weights alone, in one group: whose they are, paths do not tell. Raises Unreadable."""
    every = tuple(tree.tensor(p) for p in tree.under(tree.attribute))
    if not every:
        raise Unreadable("not-keras", f"{tree.hdf5.path}: is an HDF5 file, but holds no layers with weights")
    is_ours = MARK in tree.hdf5.attributes("")
    return Stored("weights", groups=(Group("", every),), optimizer=tree.optimizer(), is_ours=is_ours)


class WeightsContainer(Container):
    """Reads and writes path-keyed weights."""

    name: ClassVar = "weights_h5"
    suffix: ClassVar = ".weights.h5"

    def open(self, path: str) -> WeightsSource:
        """Read the layout; the tensors stay in the file."""
        return WeightsSource(path)

    def write(self, output: Output, source: Source, path: str, progress: OnBytes) -> None:
        """Move the sub-trees as the plan says, or lay them out anew."""
        try:
            if isinstance(output, Rearranged):
                with h5py.File(path, "w", libver="earliest") as file:
                    h5_attributes.write_text(file, MARK, MARKED, h5_attributes.STR_TEXT)
                    rearrange(file, output, source, progress)
            else:
                with open(path, "w+b", buffering=0) as spool:
                    fill_anew(spool, output.model, source, progress, marked=True)
        except (OSError, RuntimeError) as e:
            raise write_failed(path, e) from e
        except (ValueError, KeyError) as e:
            raise Failed("write", f"{path}: cannot be written ({oneline(e)})") from e

    def verify(self, output: Output, source: Source, path: str, progress: OnBytes) -> tuple[str, ...]:
        """Every tensor against its source, by its bytes, and nothing else there."""
        hdf5 = GuardedFile(path)
        try:
            compare(hdf5, output, source, path, progress)
        finally:
            hdf5.close()
        return ("structure", "weights", *(("optimizer",) if output.model.optimizer is not None else ()))


__all__ = ["PathKeyedSource", "WeightsContainer", "WeightsSource"]
