"""Path-keyed weights, `x.weights.h5`: what Keras 3 and Keras 2 from 2.12 on write from `save_weights`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import IO, ClassVar

import h5py
from h5py import h5p

from unnest.core.architecture import is_model
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
from unnest.formats.base import BLOCK, MARK, MARKED, Container, Progress, Source
from unnest.formats.boundary import oneline
from unnest.formats.evaluate import blocks_of
from unnest.formats.hdf5 import attributes as at
from unnest.formats.hdf5.compare import same_stream, slabs
from unnest.formats.hdf5.copy_tensors import Transfer, copy_dataset, new_hdf5
from unnest.formats.hdf5.guarded_file import Door
from unnest.formats.keras3.path_layout import lay_out
from unnest.formats.keras3.path_tree import ASIDE, OPTIMIZER, Placement, Tree, arrange, below

#: A tree of which nothing is moved.
AS_IT_LIES = (Move("", ""),)


class PathKeyedSource(Source):
    """A path-keyed file; where its architecture comes from is the container's business."""

    door: Door

    def __init__(self, path: str, door: Door, tree: Tree, stored: Stored) -> None:
        super().__init__(path, stored)
        self.door = door
        self.tree = tree

    @property
    def everything(self) -> tuple[Tensor, ...]:
        """Every tensor of the file."""
        return tuple(self.tree.tensor(path) for path in self.door.datasets)

    def planned(self, stored: Stored, *, choices: Choices) -> Plan:
        """The plan for a full model, with the moves that carry it out."""
        assert stored.architecture is not None
        placed = Placement(self.tree, stored.architecture)
        stored = stored._replace(groups=placed.groups, optimizer=self.tree.optimizer())
        made = self._naming(plan(stored, choices=choices))
        moves: Iterable[Move] = AS_IT_LIES
        if made.result is not None and made.result.architecture is not None:
            shares = {g.name: g.tensors for g in made.result.groups}
            root = _root_of(made.result.architecture, placed)
            moves = (*arrange(placed, made.result.architecture, shares, root), *self._rest())
        return self.carrying(made, moves)

    def carrying(self, made: Plan, moves: Iterable[Move]) -> Plan:
        """The plan whose output, if it has one, is this file's own tree with sub-trees moved."""
        return made if made.output is None else replace(made, output=self.rearranged(made.output.model, moves))

    def rearranged(self, model: Stored, moves: Iterable[Move]) -> Rearranged:
        """The output that is this file's own tree with sub-trees moved."""
        moves = tuple(moves)
        made = any(move.called is not None for move in moves)
        return Rearranged(model, moves, self.tree.state_at, made and self.tree.notes_names())

    def _naming(self, made: Plan) -> Plan:
        """The plan, with what it leaves in the file."""
        left = self.tree.left_aside() if made.verdict == "parallel" else {}
        if not left:
            return made
        dropped = (self.tree.tensor(path) for own in left.values() for path in own)
        finding = Code.NOT_CARRIED(what=listed(["/" + place for place in left]))
        return replace(made, findings=(*made.findings, finding), dropped=(*made.dropped, *dropped))

    def _rest(self) -> list[Move]:
        """What belongs to no layer: optimizer, metrics and the like stay where they are."""
        tops = sorted({g.split("/")[0] for g in self.door.groups if g} - {self.tree.attribute, "vars"})
        return [Move(t, t) for t in tops]

    def blocks(self, tensor: Tensor) -> Iterator[bytes]:
        """The tensor's bytes, decoded where they are compressed."""
        for slab in slabs(self.door.dataset(tensor.ref)):
            for start in range(0, len(slab), BLOCK):
                yield slab[start : start + BLOCK]

    def close(self) -> None:
        """Close the file."""
        self.door.close()


class WeightsSource(PathKeyedSource):
    """A `.weights.h5`."""

    container: ClassVar = "weights_h5"

    def __init__(self, path: str) -> None:
        door = Door(path)
        try:
            tree = Tree(door)
            super().__init__(path, door, tree, _weights_in(tree))
        except BaseException:
            door.close()
            raise

    def plan(self, architecture: JsonObject | None, *, choices: Choices) -> Plan:
        """With the saved model's architecture, its template's, or none."""
        if architecture is None:
            return self._bare()
        if not is_model(architecture):
            why = "the architecture given is not a graph of layers; pass the model's own"
            return Plan(verdict="clean", stored=self.stored, refusal=Refusal("architecture-mismatch", why))
        try:
            made = self.planned(Stored("model", architecture), choices=choices)
        except Refused:
            # Perhaps it is the template's.
            groups = Placement(self.tree, architecture, self._template() or "").groups
            of_template = Stored("model", architecture, groups=groups, optimizer=self.stored.optimizer)
            return replace(self._bare(), complete=self._completed(of_template))
        output = made.output
        if output is not None:
            output = output._replace(model=output.model._replace(contents="weights", architecture=None, training=None))
        return replace(
            made, output=output, complete=self._completed(made.result or made.stored),
            stored=made.stored._replace(contents="weights", architecture=None),
        )  # fmt: skip

    @staticmethod
    def _completed(whole: Stored) -> Stored:
        """The model that the weights make with the architecture given; its own JSON says which Keras it is of."""
        given = whole.architecture or {}
        told, backend = given.get("keras_version"), given.get("backend")
        version = told if isinstance(told, str) else "3.x" if "module" in given else None
        bare = {k: v for k, v in given.items() if k not in ("keras_version", "backend")}
        compiled = bare.pop("compile_config", None)
        return whole._replace(contents="model", architecture=bare, keras_version=version,
            backend=backend if isinstance(backend, str) else None,
            training=compiled if isinstance(compiled, Mapping) and compiled else None,
        )  # fmt: skip

    def _children(self, prefix: str) -> list[str]:
        start = below(prefix, self.tree.attribute) + "/"
        return sorted(g for g in self.door.groups if g.startswith(start) and "/" not in g[len(start) :])

    def _template(self) -> str | None:
        """The one layer under the root that holds all weights and is a model."""
        prefix, inputs = "", 0
        found: str | None = None
        while True:
            weighted = [c for c in self._children(prefix) if self.tree.under(c)]
            lone = len(weighted) == 1 and bool(self._children(weighted[0]))
            seen = self._towers(prefix, weighted[0], inputs) if lone else None
            if seen is None:
                return found
            prefix, inputs = weighted[0], seen[0]
            found = prefix

    def _towers(self, prefix: str, template: str, inputs: int = 0) -> tuple[int, int, list[str]] | None:
        """(inputs, towers, merges) where the layers beside a template look like slices and merges of it.

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
        if not inputs or len(merging) != 1 or len(cutting) != 1:
            return None
        towers, rest = divmod(len(kinds[cutting[0]]), inputs)
        return (inputs, towers, kinds[merging[0]]) if towers > 1 and not rest else None

    def _bare(self) -> Plan:
        """Paths alone: a lone model among layers without weights, slices and a merge by their classes' names."""
        as_it_is = self.rearranged(self.stored, AS_IT_LIES)
        if self.stored.is_ours:
            return Plan(verdict="clean", stored=self.stored, output=as_it_is)
        wrappers: list[Wrapper] = []
        prefix, inputs, merges = "", 0, list[str]()
        while True:
            weighted = [c for c in self._children(prefix) if self.tree.under(c)]
            lone = len(weighted) == 1 and bool(self._children(weighted[0]))
            seen = self._towers(prefix, weighted[0], inputs) if lone else None
            if seen is None:
                break
            inputs, towers, merges = seen
            told = (f"/{weighted[0]} holds all weights", f"{inputs * towers} layers without weights stand before it")
            names = tuple(self.tree.name(m) or m.rsplit("/", 1)[1] for m in merges)
            template = self.tree.name(weighted[0]) or weighted[0].rsplit("/", 1)[1]
            wrappers.append(
                Wrapper(self.tree.name(prefix) or None, template, towers, "whole", names, len(wrappers), "likely", told)
            )
            prefix = weighted[0]
        if not wrappers:
            # Under a head, or cut by operations, which have no paths, a template looks like any model in a model.
            nested = any(d.count(f"{self.tree.attribute}/") > 1 for d in self.door.datasets)
            findings = (Code.NEEDS_ARCHITECTURE(),) if nested else ()
            return Plan(verdict="clean", stored=self.stored, output=as_it_is, findings=findings)
        tensors = tuple(self.tree.tensor(p) for p in self.tree.under(prefix))
        result = self.stored._replace(groups=(Group("", tensors),))
        made = Plan(
            verdict="parallel", stored=self.stored, wrappers=tuple(wrappers),
            output=self.rearranged(result, [*self._lifted(prefix), *self._inputs(prefix), *self._rest()]),
            template=Template(None, None, len(merges), None, sum(t.size for t in tensors)),
            findings=(Code.NAMES_ALONE(merge=", ".join(wrappers[-1].merge)),),
        )  # fmt: skip
        return self._naming(made)

    def _lifted(self, template: str) -> list[Move]:
        """The template in the place of the root, without what it has beside its layers, having been compiled itself."""
        start = len(template) + 1
        inside = {g[start:].split("/")[0] for g in self.door.groups if g.startswith(template + "/")}
        parts = sorted(inside - {*ASIDE, "vars"})
        return [Move(template, "", whole=False), *(Move(below(template, part), part) for part in parts)]

    def _inputs(self, template: str) -> list[Move]:
        """The wrapper's input layers, where they are the template's too; a Sequential has none."""
        own = [c for c in self._children(template) if "/input_layer" in c[len(template) :]]
        if own or template.rsplit("/", 1)[1].startswith("sequential"):
            return []
        return [Move(c, c) for c in self._children("") if c.startswith(below(self.tree.attribute, "input_layer"))]


def _root_of(model: JsonObject, placed: Placement) -> str:
    """Where the result's own variables were: with the template where that is all that is left."""
    config = model.get("config")
    name = config.get("name") if isinstance(config, dict) else None
    homes = placed.homes.get((str(name), str(model.get("class_name"))), [])
    return homes[-1] if homes else ""


def _weights_in(tree: Tree) -> Stored:
    """The weights alone, in one group: whose they are, paths do not tell. Raises Unreadable."""
    every = tuple(tree.tensor(p) for p in tree.under(tree.attribute))
    if not every:
        raise Unreadable("not-keras", f"{tree.door.path}: is an HDF5 file, but holds no layers with weights")
    is_ours = MARK in tree.door.attributes("")
    return Stored("weights", groups=(Group("", every),), optimizer=tree.optimizer(), is_ours=is_ours)


class WeightsContainer(Container):
    """Reads and writes path-keyed weights."""

    name: ClassVar = "weights_h5"
    suffix: ClassVar = ".weights.h5"

    def open(self, path: str) -> WeightsSource:
        """Read the layout; the tensors stay in the file."""
        return WeightsSource(path)

    def write(self, output: Output, source: Source, path: str, progress: Progress) -> None:
        """Move the sub-trees as the plan says, or lay them out anew."""
        try:
            if isinstance(output, Rearranged):
                with h5py.File(path, "w", libver="earliest") as file:
                    at.write_text(file, MARK, MARKED, at.STR_TEXT)
                    rearrange(file, output, source, progress)
            else:
                with open(path, "w+b", buffering=0) as spool:
                    fill_anew(spool, output.model, source, progress, marked=True)
        except (OSError, RuntimeError) as e:
            raise write_failed(path, e) from e
        except (ValueError, KeyError) as e:
            raise Failed("write", f"{path}: cannot be written ({oneline(e)})") from e

    def verify(self, output: Output, source: Source, path: str, progress: Progress) -> tuple[str, ...]:
        """Every tensor against its source, by its bytes, and nothing else there."""
        door = Door(path)
        try:
            compare(door, output, source, path, progress)
        finally:
            door.close()
        return ("structure", "weights", *(("optimizer",) if output.model.optimizer is not None else ()))


def _moved(output: Rearranged, door: Door) -> tuple[dict[str, str], dict[str, str]]:
    """(groups, tensors) of the output: path there -> path in the source. Raises Refused on a clash."""
    groups: dict[str, str] = {}
    tensors: dict[str, str] = {}
    for move in output.moves:
        if move.called is not None:
            continue
        start = move.source + "/" if move.source else ""
        for old, taken in [*((g, groups) for g in door.groups), *((d, tensors) for d in door.datasets)]:
            inside = old == move.source or old.startswith(start)
            if not inside or (
                not move.whole and old[len(start) :].split("/")[0] not in ("", "vars") and old != move.source
            ):
                continue
            new = below(move.target, old[len(start) :] if old != move.source else "")
            if taken.setdefault(new, old) != old and taken is tensors:
                raise Refused("ambiguous", f"{door.path}: two weights would both be /{new}; please report it")
    state = output.model.optimizer
    for path in [p for p in tensors if p.startswith(OPTIMIZER + "/")]:
        del tensors[path]
    for k, t in enumerate(state or ()):
        tensors[f"{OPTIMIZER}/{k}"] = t.ref
    if state is not None and output.state_at != OPTIMIZER:
        groups |= {OPTIMIZER.split("/")[0]: output.state_at.rpartition("/")[0], OPTIMIZER: output.state_at}
    if state is None:
        groups = {g: o for g, o in groups.items() if g.split("/")[0] != "optimizer"}
    return groups, tensors


def rearrange(file: h5py.File, output: Rearranged, source: Source, progress: Progress) -> None:
    """A new file's groups, their names, and the tensors, copied as they are stored."""
    door = source.door
    assert door is not None
    groups, tensors = _moved(output, door)
    links = h5p.create(h5p.LINK_CREATE)
    links.set_create_intermediate_group(True)
    for new in sorted(groups):
        made = file.require_group("/" + new) if new else file
        attributes = door.attributes(groups[new])
        name = at.text(attributes, "name", source.path)
        if name is not None:
            at.write_text(made, "name", name, at.style(attributes, "name"))
    for move in output.moves:
        if move.called is not None:
            made = file.require_group(f"/{move.target}/vars")
            if output.notes_names:
                at.write_text(made, "name", move.called, at.STR_TEXT)
    for new in sorted(tensors):
        copy_dataset(door, tensors[new], file.id, new, links)
        progress(door.datasets[tensors[new]].stored)


def compare(door: Door, output: Output, source: Source, path: str, progress: Progress) -> None:
    """Raises Failed where the written file is not what was meant; `path` is what it is called."""
    if isinstance(output, Rearranged):
        _compare_moved(door, output, source, path, progress)
    else:
        _compare_anew(door, output.model, source, path, progress)


def _compare_moved(door: Door, output: Rearranged, source: Source, path: str, progress: Progress) -> None:
    before = source.door
    assert before is not None
    groups, tensors = _moved(output, before)
    if set(door.datasets) != set(tensors) or not set(groups) <= door.groups:
        raise Failed("read-back", f"{path}: the layers read back differently; the disk may be failing")
    if not {t.ref for g in output.model.groups for t in g.tensors} <= set(tensors.values()):
        raise Failed("incomplete", f"{path}: a weight would be missing; please report it")
    for new, old in tensors.items():
        if not same_stream(slabs(before.dataset(old)), slabs(door.dataset(new))):
            raise Failed("read-back", f"{path}: /{new} reads back differently; the disk may be failing")
        progress(door.datasets[new].stored)


def fill_anew(file: IO[bytes], model: Stored, source: Source, progress: Progress, *, marked: bool = False) -> None:
    """A new file laid out from another container's lists; `file` is unbuffered. Raises Refused."""
    layout, transfer = lay_out(model), Transfer(source, progress)
    with new_hdf5(file) as made:
        if marked:
            at.write_text(made, MARK, MARKED, at.STR_TEXT)
        for path in sorted(layout.groups):
            group = made.require_group(path)
            name = layout.groups[path]
            if name is not None:
                at.write_text(group, "name", name, at.STR_TEXT)
        for path in sorted(layout.tensors):
            transfer.put(made, path, layout.tensors[path])
    transfer.fill(file)


def _compare_anew(door: Door, model: Stored, source: Source, path: str, progress: Progress) -> None:
    """Every tensor where its path says, and nothing else there. Raises Failed."""
    layout = lay_out(model)
    if set(door.datasets) != set(layout.tensors) or not set(layout.groups) <= door.groups:
        raise Failed("read-back", f"{path}: the layers read back differently; the disk may be failing")
    for place, tensor in layout.tensors.items():
        node = door.datasets[place]
        same = (node.shape, node.dtype) == (tensor.shape, tensor.dtype)
        if not same or not same_stream(blocks_of(source, tensor), slabs(door.dataset(place))):
            raise Failed("read-back", f"{path}: /{place} reads back differently; the disk may be failing")
        progress(node.stored)


__all__ = ["PathKeyedSource", "WeightsContainer", "WeightsSource"]
