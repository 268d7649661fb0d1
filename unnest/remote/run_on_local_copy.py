"""Models in object stores and on the web, by URL, through fsspec (extra `remote`).

`inspect` reads no tensor, so it is given a sparse copy: a local file of the object's size in which only the bytes of
tensors are missing. To know where these are, the file is opened through the store once, with all guards, in blocks
that go into the copy as they are read; the rest that is no tensor follows. `fix` is given a whole copy, and its output
is sent when it is complete, read back and checked. What the rest of the program sees are ordinary local files.

An object that is not the same before and after it was read is an error. URLs are shown without user, password, query.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from unnest.budget import Budget, limited
from unnest.errors import Refused, Unreadable
from unnest.files import write_errors
from unnest.formats.keras3.weights_json_map import map_of
from unnest.formats.tfjs.detection import is_model_json
from unnest.remote.sparse_copy import SparseCopy, tensor_ranges
from unnest.remote.store import RemoteStore, below
from unnest.remote.urls import default_output, is_remote, is_repository, safe_url
from unnest.report.result import with_path_replaced

if TYPE_CHECKING:
    from unnest.options import FixOptions
    from unnest.report.result import Result

#: Bytes beside the tensors that a sparse copy may take unless the file is trusted.
MAX_SPARSE_BYTES = 256 << 20

#: Data files of TensorFlow's checkpoints, SavedModels' among them.
SHARD = re.compile(r"\.data-\d{5}-of-\d{5}$")


@contextlib.contextmanager
def local_copy(url: str, *, with_tensors: bool, trust: bool = False) -> Iterator[str]:
    """Make a local copy of the file, SavedModel folder or checkpoint at the URL for the block; its path.

    `with_tensors`, or without their bytes. Raises Unreadable, Refused where it changed, UsageError without the driver.
    """
    import tempfile

    store = RemoteStore(url)
    with tempfile.TemporaryDirectory(prefix="unnest-") as folder, store.errors():
        local_root = os.path.join(folder, store.name)
        objects = store.objects()
        for name, size in sorted(objects.items()):
            local_path = below(local_root, name)
            os.makedirs(os.path.dirname(local_path), exist_ok=True)
            if with_tensors:
                store.download(name, local_path, size)
            else:
                _copy_without_tensors(store, name, size, local_path, trust=trust)
        if not with_tensors:
            _copy_texts(local_root, objects, store)
        if store.objects() != objects or store.changed():
            raise write_errors.changed(store.safe_url)
        is_map = map_of(local_root) is not None
        if is_map or (os.path.isfile(local_root) and is_model_json(local_root)):
            kind = (
                "the map of sharded weights" if is_map else "a TensorFlow.js model of several files"
            )
            what = f"{store.safe_url}: {kind}, which can only be read from this machine"
            raise Unreadable("not-supported-yet", f"{what}; download it with all its files")
        yield local_root


def _copy_without_tensors(
    store: RemoteStore, name: str, size: int, local_path: str, *, trust: bool
) -> None:
    """Make a sparse copy of one object. Raises Unreadable."""
    with open(local_path, "x+b", buffering=0) as file:
        if SHARD.search(name):
            file.truncate(size)
            return
        copy = SparseCopy(file, size, functools.partial(store.read, name))
        with limited(Budget.of(store.safe_url, size, trust=trust)):
            tensors = tensor_ranges(copy, local_path, store.safe_url)
            others = copy.size_outside(tensors)
            if others > MAX_SPARSE_BYTES and not trust:
                message = f"{store.safe_url}: {others >> 20} MiB beside its tensors; download it, or pass --trust"
                raise Unreadable("over-budget", message)
            copy.complete(tensors)


def fix(url: str, options: FixOptions, run: Callable[[str, FixOptions], Result]) -> Result:
    """Run `fix` (`run`) on a local copy of the input, and send its output to the store: whole, or not at all.

    The output's URL is the one given, or the default name beside the input or in the folder `into`; that name is known
    once a dry run has told the output's container.

    Raises:
        UnnestError: the input cannot be copied, or the output must not be written.

    """
    import tempfile

    if options.in_place:
        raise Refused(
            "cannot-write", f"{safe_url(url)}: --in-place is for files of this machine; use -o"
        )
    source = local_copy(url, with_tensors=True) if is_remote(url) else contextlib.nullcontext(url)
    with source as path, tempfile.TemporaryDirectory(prefix="unnest-") as folder:
        into, output = options.into, options.output
        if not is_remote(output or into or url):
            return with_path_replaced(run(path, options), path, safe_url(url))
        if into is not None:
            options = options._replace(into=os.path.join(folder, os.path.basename(into)))
        if output is None:
            probe = run(path, options._replace(dry_run=True))
            if probe.output is None or probe.error is not None:
                return with_path_replaced(probe, path, safe_url(url))
            output = default_output(into or url, os.path.basename(probe.output))
        _check_is_no_repository(output, path)
        store = RemoteStore(output)
        _check_inputs(store, [*filter(is_remote, [url]), *options.input_urls], force=options.force)
        local_output = os.path.join(folder, store.name)
        _copy_present_output(output, local_output)
        existed = os.path.lexists(local_output)
        result = run(path, options if into is not None else options._replace(output=local_output))
        is_written = result.error is None and result.output is not None
        is_new = is_written and not (existed and result.action == "unchanged")
        if is_new and not options.dry_run:
            store.send(local_output)
        return with_path_replaced(
            with_path_replaced(result, local_output, store.safe_url), path, safe_url(url)
        )


def _check_is_no_repository(output: str, path: str) -> None:
    """Raise Refused if the output's URL is a whole repository of a hub, which is no file's name."""
    if is_repository(output):
        file_url = f"{output}/{os.path.basename(path)}"
        raise Refused(
            "in-the-way",
            f"{output}: is a repository, and the output is a file; name the file, as {file_url}",
        )


def _copy_present_output(output: str, local_output: str) -> None:
    """Put a copy of what the output's URL holds in the place of the local output, as if it were there already."""
    with contextlib.suppress(Unreadable), local_copy(output, with_tensors=True) as present_output:
        if os.path.exists(present_output):
            os.rename(present_output, local_output)


def _check_inputs(store: RemoteStore, urls: Sequence[str], *, force: bool) -> None:
    """Raise Refused if sending would write to an input; in a folder of inputs nothing may be replaced."""
    for url in urls:
        if (force or not url.endswith("/")) and store.touches(RemoteStore(url)):
            what = (
                "a folder of inputs; write elsewhere, or without --force"
                if url.endswith("/")
                else "an input"
            )
            raise Refused(
                "in-the-way",
                f"{store.safe_url}: is, or lies in or around, {safe_url(url)}, which is {what}",
            )


def _copy_texts(local_root: str, objects: dict[str, int], store: RemoteStore) -> None:
    """Copy the strings in the data files of checkpoints (the object graph); all else in them are tensors."""
    from unnest.formats.tensorflow.read_tensor_bundle import Bundle

    prefixes = {SHARD.sub("", name) for name in objects if SHARD.search(name)}
    for prefix in prefixes:
        if prefix + ".index" not in objects:
            continue
        try:
            bundle = Bundle(below(local_root, prefix) if prefix else local_root)
        except Unreadable:
            continue  # whoever reads it says so
        with contextlib.closing(bundle):
            for entry in bundle.entries.values():
                for piece in entry.pieces if entry.dtype == "string" else ():
                    shard = f"{prefix}.data-{piece.shard:05d}-of-{bundle.shards:05d}"
                    with open(below(local_root, shard), "r+b", buffering=0) as file:
                        file.seek(piece.offset)
                        file.write(store.read(shard, piece.offset, piece.offset + piece.size))
