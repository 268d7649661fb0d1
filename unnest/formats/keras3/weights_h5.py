"""Path-keyed weights, `x.weights.h5`: what Keras 3 and Keras 2 from 2.12 on write from `save_weights`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import IO, ClassVar

import h5py
from h5py import h5o, h5p

from unnest.core.architecture import is_model
from unnest.core.model import Choices, Group, JsonObject, Plan, Refusal, Stored, Template, Tensor, Wrapper
from unnest.core.plan import plan
from unnest.errors import Failed, Refused, Unreadable
from unnest.files.atomic import write_failed
from unnest.findings import Code, listed
from unnest.formats.base import BLOCK, MARK, MARKED, Container, Progress, Source
from unnest.formats.boundary import oneline
from unnest.formats.evaluate import blocks_of
from unnest.formats.hdf5 import attributes as at
from unnest.formats.hdf5.compare import same_stream, slabs
from unnest.formats.hdf5.copy_tensors import Transfer, new_hdf5
from unnest.formats.hdf5.guarded_file import Door, encoded
from unnest.formats.keras3.path_layout import lay_out
from unnest.formats.keras3.path_tree import OPTIMIZER, Move, Tree, arrange, below


class PathKeyedSource(Source):
    """A path-keyed file; where its architecture comes from is the container's business."""

    def __init__(self, path: str, door: Door) -> None:
        super().__init__(path, Stored("weights"))
        self.door = door
        self.tree = Tree(door)
        #: How the output's sub-trees come out of this file's; the plan says.
        self.moves: list[Move] | None = None

    def planned(self, stored: Stored, *, choices: Choices) -> Plan:
        """The plan for a full model, and the moves that carry it out."""
        assert stored.architecture is not None
        groups = self.tree.weights(stored.architecture)
        self.stored = replace(stored, groups=groups, optimizer=self.tree.optimizer())
        made = self._naming(plan(self.stored, choices=choices))
        if made.result is not None and made.result.architecture is not None:
            shares = {g.name: g.tensors for g in made.result.groups}
            root = self.root_of(made.result.architecture)
            self.moves = [*arrange(self.tree, made.result.architecture, shares, root), *self._rest()]
        return made

    def _naming(self, made: Plan) -> Plan:
        """The plan, with what it leaves in the file."""
        left = self.tree.left_aside() if made.verdict == "parallel" else {}
        if not left:
            return made
        dropped = (self.tree.tensor(path) for own in left.values() for path in own)
        finding = Code.NOT_CARRIED(what=listed(["/" + place for place in left]))
        return replace(made, findings=(*made.findings, finding), dropped=(*made.dropped, *dropped))

    @property
    def notes_names(self) -> bool:
        """Whether layers' names stand beside their weights, as Keras 3 writes them."""
        return any(self.tree.name(g.rpartition("/")[0]) for g in self.door.groups if g.endswith("/vars"))

    def root_of(self, model: JsonObject) -> str:
        """Where the result's own variables were: with the template where that is all that is left."""
        config = model.get("config")
        name = config.get("name") if isinstance(config, dict) else None
        found = self.tree.homes.get((str(name), str(model.get("class_name"))), [])
        return found[-1] if found else ""

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
        super().__init__(path, Door(path))
        try:
            self.stored = self._stored()
        except BaseException:
            self.close()
            raise

    def _stored(self) -> Stored:
        every = tuple(self.tree.tensor(p) for p in self.tree.under(self.tree.attribute))
        if not every:
            raise Unreadable("not-keras", f"{self.path}: is an HDF5 file, but holds no layers with weights")
        is_ours = MARK in self.door.attributes("")
        return Stored("weights", groups=(Group("", every),), optimizer=self.tree.optimizer(), is_ours=is_ours)

    def plan(self, architecture: JsonObject | None, *, choices: Choices) -> Plan:
        """With the saved model's architecture, its template's, or none."""
        if architecture is None:
            return self._bare()
        if not is_model(architecture):
            why = "the architecture given is not a graph of layers; pass the model's own"
            return Plan("clean", refusal=Refusal("architecture-mismatch", why))
        try:
            made = self.planned(Stored("model", architecture), choices=choices)
        except Refused:
            # Perhaps it is the template's.
            bare = self._bare()
            groups = self.tree.weights(architecture, self._template() or "")
            self.complete = self._completed(
                Stored("model", architecture, groups=groups, optimizer=self.stored.optimizer)
            )
            return bare
        self.complete = self._completed(made.result or self.stored)
        self.stored = replace(self.stored, contents="weights", architecture=None)
        result = made.result and replace(made.result, contents="weights", architecture=None, training=None)
        return replace(made, result=result)

    @staticmethod
    def _completed(whole: Stored) -> Stored:
        """The model that the weights make with the architecture given; its own JSON says which Keras it is of."""
        given = whole.architecture or {}
        told, backend = given.get("keras_version"), given.get("backend")
        version = told if isinstance(told, str) else "3.x" if "module" in given else None
        bare = {k: v for k, v in given.items() if k not in ("keras_version", "backend")}
        compiled = bare.pop("compile_config", None)
        return replace(
            whole, contents="model", architecture=bare, keras_version=version,
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
        if self.stored.is_ours:
            return Plan("clean")
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
            return Plan("clean", findings=(Code.NEEDS_ARCHITECTURE(),) if nested else ())
        tensors = tuple(self.tree.tensor(p) for p in self.tree.under(prefix))
        self.moves = [Move(prefix, ""), *self._inputs(prefix), *self._rest()]
        template_seen = Template(None, None, len(merges), None, sum(t.size for t in tensors))
        result = replace(self.stored, groups=(Group("", tensors),))
        warning = Code.NAMES_ALONE(merge=", ".join(wrappers[-1].merge))
        return self._naming(Plan("parallel", tuple(wrappers), template_seen, findings=(warning,), result=result))

    def _inputs(self, template: str) -> list[Move]:
        """The wrapper's input layers, where they are the template's too; a Sequential has none."""
        own = [c for c in self._children(template) if "/input_layer" in c[len(template) :]]
        if own or template.rsplit("/", 1)[1].startswith("sequential"):
            return []
        return [Move(c, c) for c in self._children("") if c.startswith(below(self.tree.attribute, "input_layer"))]


class WeightsContainer(Container):
    """Reads and writes path-keyed weights."""

    name: ClassVar = "weights_h5"
    suffix: ClassVar = ".weights.h5"

    def open(self, path: str) -> WeightsSource:
        """Read the layout; the tensors stay in the file."""
        return WeightsSource(path)

    def write(self, model: Stored, source: Source, path: str, progress: Progress) -> None:
        """Move the sub-trees as the source's plan says, or lay them out anew."""
        try:
            if isinstance(source, PathKeyedSource) and not is_new(model, source):
                with h5py.File(path, "w", libver="earliest") as file:
                    at.write_text(file, MARK, MARKED, at.STR_TEXT)
                    fill(file, model, source, progress)
            else:
                with open(path, "w+b", buffering=0) as spool:
                    fill_anew(spool, model, source, progress, marked=True)
        except OSError as e:
            raise write_failed(path, e) from e
        except (RuntimeError, ValueError, KeyError) as e:
            raise Failed("write", f"{path}: cannot be written ({oneline(e)})") from e

    def verify(self, model: Stored, source: Source, path: str, progress: Progress) -> tuple[str, ...]:
        """Every moved tensor against its source, by stored bytes, and nothing else there."""
        if isinstance(source, PathKeyedSource) and not is_new(model, source):
            compare(Door(path), model, source, path, progress)
        else:
            door = Door(path)
            try:
                compare_anew(door, model, source, path, progress)
            finally:
                door.close()
        return ("structure", "weights", *(("optimizer",) if model.optimizer is not None else ()))


def is_new(model: Stored, source: Source) -> bool:
    """Whether the layout is to be made anew: the model was made Keras 3's, and the source is not."""
    return model.is_keras_3 and not (source.complete or source.stored).is_keras_3


def pairs(model: Stored, source: PathKeyedSource) -> tuple[dict[str, str], dict[str, str]]:
    """(groups, tensors) of the output: path there -> path in the source. Raises Refused on a clash."""
    moves = source.moves if source.moves is not None else [Move("", "")]
    groups: dict[str, str] = {}
    tensors: dict[str, str] = {}
    for move in moves:
        if move.called is not None:
            continue
        start = move.source + "/" if move.source else ""
        for old, found in [*((g, groups) for g in source.door.groups), *((d, tensors) for d in source.door.datasets)]:
            inside = old == move.source or old.startswith(start)
            if not inside or (
                not move.whole and old[len(start) :].split("/")[0] not in ("", "vars") and old != move.source
            ):
                continue
            new = below(move.target, old[len(start) :] if old != move.source else "")
            if found.setdefault(new, old) != old and found is tensors:
                raise Refused("ambiguous", f"{source.path}: two weights would both be /{new}; please report it")
    state = model.optimizer
    for path in [p for p in tensors if p.startswith(OPTIMIZER + "/")]:
        del tensors[path]
    for k, t in enumerate(state or ()):
        tensors[f"{OPTIMIZER}/{k}"] = t.ref
    if state is not None and source.tree.state_at != OPTIMIZER:
        groups |= {OPTIMIZER.split("/")[0]: source.tree.state_at.rpartition("/")[0], OPTIMIZER: source.tree.state_at}
    if state is None:
        groups = {g: o for g, o in groups.items() if g.split("/")[0] != "optimizer"}
    return groups, tensors


def fill(file: h5py.File, model: Stored, source: Source, progress: Progress) -> None:
    """A new file's groups, their names, and the tensors, copied as they are stored."""
    assert isinstance(source, PathKeyedSource)
    groups, tensors = pairs(model, source)
    links = h5p.create(h5p.LINK_CREATE)
    links.set_create_intermediate_group(True)
    for new in sorted(groups):
        made = file.require_group("/" + new) if new else file
        found = source.door.attributes(groups[new])
        name = at.text(found, "name", source.path)
        if name is not None:
            at.write_text(made, "name", name, at.style(found, "name"))
    for move in source.moves or ():
        if move.called is not None:
            made = file.require_group(f"/{move.target}/vars")
            if source.notes_names:
                at.write_text(made, "name", move.called, at.STR_TEXT)
    for new in sorted(tensors):
        source.door.check_copy(tensors[new])
        h5o.copy(source.door.id, b"/" + encoded(tensors[new]), file.id, encoded(new), lcpl=links)
        progress(source.door.datasets[tensors[new]].stored)


def compare(door: Door, model: Stored, source: Source, path: str, progress: Progress) -> None:
    """Raises Failed where the written file is not what was meant."""
    assert isinstance(source, PathKeyedSource)
    groups, tensors = pairs(model, source)
    try:
        if set(door.datasets) != set(tensors) or not set(groups) <= door.groups:
            raise Failed("read-back", f"{path}: the layers read back differently; the disk may be failing")
        if not {t.ref for g in model.groups for t in g.tensors} <= set(tensors.values()):
            raise Failed("incomplete", f"{path}: a weight would be missing; please report it")
        for new, old in tensors.items():
            if not same_stream(slabs(source.door.dataset(old)), slabs(door.dataset(new))):
                raise Failed("read-back", f"{path}: /{new} reads back differently; the disk may be failing")
            progress(door.datasets[new].stored)
    finally:
        door.close()


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


def compare_anew(door: Door, model: Stored, source: Source, path: str, progress: Progress) -> None:
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


__all__ = ["PathKeyedSource", "WeightsContainer", "WeightsSource", "is_new"]
