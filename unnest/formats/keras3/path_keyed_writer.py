"""Path-keyed HDF5, written and read back: parts of such a file moved, or another container's weights laid out anew."""

from __future__ import annotations

from typing import IO

import h5py

from unnest.core.model import Stored, Tensor
from unnest.core.plan import Output, Rearranged
from unnest.errors import Failed, Refused
from unnest.formats.container_interface import MARK, MARKED, OnBytes, Source
from unnest.formats.hdf5 import read_attributes as h5_attributes
from unnest.formats.hdf5 import write_attributes
from unnest.formats.hdf5.compare_tensors import TensorComparer
from unnest.formats.hdf5.guarded_file import GuardedFile
from unnest.formats.hdf5.tensors_into_hdf5 import TensorCopier, new_hdf5
from unnest.formats.keras3.layer_paths import OPTIMIZER_GROUP, join_path
from unnest.formats.keras3.path_keyed_source import PathKeyedSource
from unnest.formats.keras3.path_keyed_tree import PathKeyedTree
from unnest.formats.keras3.weights_to_paths import lay_out


def _moved(output: Rearranged, tree: PathKeyedTree) -> tuple[dict[str, str], dict[str, str]]:
    """Return groups and tensors of the output, as path there -> path in the source. Raises Refused on a clash."""
    hdf5 = tree.hdf5
    groups: dict[str, str] = {}
    tensors: dict[str, str] = {}
    for move in output.moves:
        if move.new_layer is not None:
            continue
        start = move.source + "/" if move.source else ""
        for old, paths_by_new in [
            *((g, groups) for g in hdf5.groups),
            *((d, tensors) for d in hdf5.datasets),
        ]:
            is_inside = old == move.source or old.startswith(start)
            if not is_inside or (
                not move.recursive
                and old[len(start) :].split("/")[0] not in ("", "vars")
                and old != move.source
            ):
                continue
            new = join_path(move.target, old[len(start) :] if old != move.source else "")
            if paths_by_new.setdefault(new, old) != old and paths_by_new is tensors:
                raise Refused(
                    "ambiguous", f"{hdf5.path}: two weights would both be /{new}; please report it"
                )
    state = output.model.optimizer
    for path in [p for p in tensors if p.startswith(OPTIMIZER_GROUP + "/")]:
        del tensors[path]
    for k, t in enumerate(state or ()):
        tensors[f"{OPTIMIZER_GROUP}/{k}"] = t.ref
    if state is not None and output.optimizer_group != OPTIMIZER_GROUP:
        groups |= {
            OPTIMIZER_GROUP.split("/")[0]: output.optimizer_group.rpartition("/")[0],
            OPTIMIZER_GROUP: output.optimizer_group,
        }
    if state is None:
        groups = {g: o for g, o in groups.items() if g.split("/")[0] != "optimizer"}
    return groups, tensors


def write_weights(
    file: IO[bytes], output: Output, source: Source, progress: OnBytes, *, marked: bool = False
) -> None:
    """Write path-keyed HDF5 into an empty, unbuffered file.

    A `Rearranged` output is the source's own tree with groups moved; any other is laid out anew from flat lists.
    `marked`: note that these are the weights of a single-device model.

    Raises:
        Refused: a weight has no path in the layout.

    """
    copier = TensorCopier(source, progress)
    with new_hdf5(file) as hdf5:
        if marked:
            write_attributes.write_text(hdf5, MARK, MARKED, write_attributes.STR_TEXT)
        if isinstance(output, Rearranged):
            assert isinstance(source, PathKeyedSource)
            _rearrange(hdf5, output, source, copier)
        else:
            _write_anew(hdf5, output.model, copier)
    copier.fill_declared(file)


def _rearrange(
    file: h5py.File, output: Rearranged, source: PathKeyedSource, copier: TensorCopier
) -> None:
    """Write groups, their names, and tensors copied as they are stored."""
    tree = source.tree
    groups, tensors = _moved(output, tree)
    for new in sorted(groups):
        group = file.require_group("/" + new) if new else file
        attributes = tree.hdf5.attributes(groups[new])
        name = h5_attributes.text(attributes, "name", source.path)
        if name is not None:
            write_attributes.write_text(
                group, "name", name, h5_attributes.text_dtype(attributes, "name")
            )
    for move in output.moves:
        if move.new_layer is not None:
            group = file.require_group(f"/{move.target}/vars")
            if output.stores_layer_names:
                write_attributes.write_text(
                    group, "name", move.new_layer, write_attributes.STR_TEXT
                )
    for new in sorted(tensors):
        copier.write_dataset(file, new, tree.tensor(tensors[new]))


def _write_anew(file: h5py.File, model: Stored, copier: TensorCopier) -> None:
    """Write groups, names and tensors in the order of their paths."""
    layout = lay_out(model)
    for path in sorted(layout.groups):
        group, name = file.require_group(path), layout.groups[path]
        if name is not None:
            write_attributes.write_text(group, "name", name, write_attributes.STR_TEXT)
    for path in sorted(layout.tensors):
        copier.write_dataset(file, path, layout.tensors[path])


def compare(
    hdf5: GuardedFile, output: Output, source: Source, path: str, progress: OnBytes
) -> None:
    """Raise Failed if the written file is not what was meant; messages call it `path`."""
    if isinstance(output, Rearranged):
        assert isinstance(source, PathKeyedSource)
        _compare_moved(hdf5, output, source, path, progress)
    else:
        _compare_anew(hdf5, output.model, source, path, progress)


def _compare_moved(
    hdf5: GuardedFile, output: Rearranged, source: PathKeyedSource, path: str, progress: OnBytes
) -> None:
    """Compare each moved tensor with the source's. Raises Failed."""
    groups, tensors = _moved(output, source.tree)
    if set(hdf5.datasets) != set(tensors) or not set(groups) <= hdf5.groups:
        raise Failed(
            "read-back", f"{path}: the layers read back differently; the disk may be failing"
        )
    if not {t.ref for g in output.model.groups for t in g.tensors} <= set(tensors.values()):
        raise Failed("incomplete", f"{path}: a weight would be missing; please report it")
    comparer = TensorComparer(source, hdf5, progress)
    for new, old in tensors.items():
        _check_same(comparer, source.tree.tensor(old), hdf5, new, path)


def _compare_anew(
    hdf5: GuardedFile, model: Stored, source: Source, path: str, progress: OnBytes
) -> None:
    """Compare every tensor at its path with the source's; nothing else may be there. Raises Failed."""
    layout = lay_out(model)
    if set(hdf5.datasets) != set(layout.tensors) or not set(layout.groups) <= hdf5.groups:
        raise Failed(
            "read-back", f"{path}: the layers read back differently; the disk may be failing"
        )
    comparer = TensorComparer(source, hdf5, progress)
    for place, tensor in layout.tensors.items():
        _check_same(comparer, tensor, hdf5, place, path)


def _check_same(
    comparer: TensorComparer, tensor: Tensor, hdf5: GuardedFile, place: str, path: str
) -> None:
    """Raise Failed unless a tensor is at its place in what was written."""
    node = hdf5.datasets[place]
    same = (node.shape, node.dtype) == (tensor.shape, tensor.dtype)
    if not same or not comparer.holds(tensor, hdf5.dataset(place)):
        raise Failed(
            "read-back", f"{path}: /{place} reads back differently; the disk may be failing"
        )
