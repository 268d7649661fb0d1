"""Models in object stores and on the web, by URL, through fsspec (extra `remote`).

`inspect` reads no tensor, so it is given a sparse copy: a local file of the object's size in which only the bytes of
tensors are missing. To know where these are, the file is opened through the store once, with all guards, in blocks
that go into the copy as they are read; the rest that is no tensor follows. `fix` is given a whole copy, and its output
is sent when it is complete, read back and checked. What the rest of the program sees are ordinary local files.

An object that is not the same before and after it was read is an error. URLs are shown without user, password, query.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import IO, TYPE_CHECKING, Any, TypeVar

from unnest.budget import Budget, limited, spend
from unnest.errors import Failed, Refused, UnnestError, Unreadable, UsageError
from unnest.files import atomic
from unnest.files.readable import Readable
from unnest.files.spool import full
from unnest.formats.detect import HDF5_MAGIC, SAVED_MODEL_MARKS, ZIP_MAGIC

if TYPE_CHECKING:
    from unnest.options import FixOptions
    from unnest.report.result import Result

T = TypeVar("T")

URL = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)

#: Bytes that are asked for at once; HDF5 asks for a few hundred at a time.
BLOCK = 8 << 10
#: Bytes of a whole copy that are asked for at once.
PIECE = 8 << 20
#: Bytes before the name in the local header of a zip's member.
LOCAL_HEADER = 30
#: Tensors that are smaller are copied, too.
SMALL = 4096
#: Bytes beside the tensors that a sparse copy may take unless the file is trusted.
MOST = 256 << 20

#: What tells one state of an object from another, by the names that the drivers have for it.
MARKS = (
    *("size", "ETag", "etag", "md5Hash", "generation", "version", "blob_id"),
    *("LastModified", "last_modified", "mtime", "updated", "created"),
)

#: How a local disk says that a copy does not fit.
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

#: Data files of TensorFlow's checkpoints, SavedModels' among them.
SHARD = re.compile(r"\.data-\d{5}-of-\d{5}$")


def is_remote(path: str) -> bool:
    """Whether a path is a URL."""
    return URL.match(path) is not None


def shown(url: str) -> str:
    """The URL without what may be secret: user and password, and the query (signatures). A path stays as it is."""
    if not is_remote(url):
        return url
    from urllib.parse import urlsplit, urlunsplit  # only for URLs: it takes part of every start otherwise

    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def default_output(url: str, name: str) -> str:
    """Beside the input, in its store."""
    from urllib.parse import urlsplit, urlunsplit

    parts = urlsplit(url)
    return urlunsplit((*parts[:2], parts.path.rstrip("/").rpartition("/")[0] + "/" + name, "", ""))


def redacted(text: str) -> str:
    """A message without what may be secret in the URLs that it names."""
    return re.sub(r"(\b[a-z][a-z0-9+.-]+://)(?:[^/\s@]*@)?([^\s?]*)(?:\?\S*)?", r"\1\2", text)


@contextlib.contextmanager
def copied(url: str, *, with_tensors: bool, trust: bool = False) -> Iterator[str]:
    """The path of a local copy of what the URL names: a file, a SavedModel's folder, or the prefix of a checkpoint.

    `with_tensors`, or without their bytes. Raises Unreadable, Refused where it changed, UsageError without the driver.
    """
    import tempfile

    store = _Store(url)
    with tempfile.TemporaryDirectory(prefix="unnest-") as folder, store.errors():
        local_root = os.path.join(folder, store.name)
        objects = store.objects()
        for name, size in sorted(objects.items()):
            local_path = _below(local_root, name)
            os.makedirs(os.path.dirname(local_path), exist_ok=True)
            with open(local_path, "x+b", buffering=0) as file:
                copy = _Copy(file, size, functools.partial(store.read, name))
                if with_tensors:
                    copy.complete(())
                elif not SHARD.search(name):
                    with limited(Budget.of(store.shown, size, trust=trust)):
                        tensors = _tensor_ranges(copy, local_path, store.shown)
                    others = copy.beside(tensors)
                    if others > MOST and not trust:
                        message = f"{store.shown}: {others >> 20} MiB beside its tensors; download it, or pass --trust"
                        raise Unreadable("over-budget", message)
                    copy.complete(tensors)
        if not with_tensors:
            _copy_texts(local_root, objects, store)
        if store.objects() != objects or store.changed():
            raise atomic.changed(store.shown)
        yield local_root


def renamed(value: T, old: str, new: str) -> T:
    """A report with one path for another in all its texts."""
    changed: Any = value
    if isinstance(value, str):
        changed = value.replace(old, new)
    elif isinstance(value, tuple):
        entries = [renamed(v, old, new) for v in value]
        changed = value._make(entries) if hasattr(value, "_make") else tuple(entries)
    elif isinstance(value, dict):
        changed = {k: renamed(v, old, new) for k, v in value.items()}
    elif is_dataclass(value) and not isinstance(value, type):
        changed = replace(value, **{f.name: renamed(getattr(value, f.name), old, new) for f in fields(value)})
    return changed  # type: ignore[no-any-return]


def fix(url: str, options: FixOptions, run: Callable[[str, FixOptions], Result]) -> Result:
    """`run` on local copies, and what it made sent to where it belongs: whole, or not at all as far as the store can.

    Raises UnnestError.
    """
    import tempfile

    if options.in_place:
        raise Refused("cannot-write", f"{shown(url)}: --in-place is for files of this machine; use -o")
    source = copied(url, with_tensors=True) if is_remote(url) else contextlib.nullcontext(url)
    with source as path, tempfile.TemporaryDirectory(prefix="unnest-") as folder:
        output = options.output
        if output is None:
            probe = run(path, options._replace(output=None, dry_run=True))
            if probe.output is None or probe.error is not None:
                return renamed(probe, path, shown(url))
            output = default_output(url, os.path.basename(probe.output))
        if not is_remote(output):
            return renamed(run(path, options), path, shown(url))
        store = _Store(output)
        local_output = os.path.join(folder, store.name)
        with contextlib.suppress(Unreadable), copied(output, with_tensors=True) as present_output:
            if os.path.exists(present_output):
                os.rename(present_output, local_output)
        existed = os.path.lexists(local_output)
        result = run(path, options._replace(output=local_output))
        is_new = result.error is None and result.output is not None and not (existed and result.action == "unchanged")
        if is_new and not options.dry_run:
            store.send(local_output)
        return renamed(renamed(result, local_output, store.shown), path, shown(url))


class _Store:
    """One URL and the file system that it is in."""

    def __init__(self, url: str) -> None:
        from urllib.parse import urlsplit

        self.shown = shown(url)
        if "::" in url:
            raise UsageError("usage", f"{self.shown}: chained URLs are not taken; name the object itself")
        try:
            from fsspec.core import url_to_fs

            with self.errors():
                self.system, self.path = url_to_fs(url, use_listings_cache=False)
        except ImportError as e:
            message = (
                f"{self.shown}: needs the extra: pip install 'unnest[remote]', and the driver of {urlsplit(url).scheme}"
            )
            raise UsageError("usage", f"{message} ({e.name or 'fsspec'})") from e
        self.path = self.path.rstrip("/")
        self.name = os.path.basename(urlsplit(url).path.rstrip("/"))
        if self.name in ("", ".", ".."):
            self.name = "model"
        self._marks: dict[str, Any] = {}

    @contextlib.contextmanager
    def errors(self) -> Iterator[None]:
        """What drivers raise, in one line without what it says: that may hold credentials."""
        try:
            yield
        except (UnnestError, ImportError):
            raise
        except FileNotFoundError as e:
            raise Unreadable("not-found", f"{self.shown}: no such object") from e
        except PermissionError as e:
            raise Unreadable("cannot-open", f"{self.shown}: the store does not let us; check your credentials") from e
        except Exception as e:
            if isinstance(e, OSError) and e.errno in FULL:
                raise full(e) from e
            what = f"{self.shown}: the store cannot be reached, or does not answer as it should ({type(e).__name__})"
            raise Failed("read", f"{what}; try again") from e

    def objects(self) -> dict[str, int]:
        """Size of every object, by its path below the URL: "" is the one object; a checkpoint's begin with a dot."""
        self.system.invalidate_cache()
        try:
            info = self.system.info(self.path)
        except FileNotFoundError:
            parts = self._parts()
            if not parts:
                raise
            return parts
        if info["type"] != "directory":
            return {"": self._size_noted("", info)}
        infos = self.system.find(self.path, detail=True)
        names = {name[len(self.path) + 1 :]: info for name, info in infos.items() if name.startswith(self.path + "/")}
        if not set(SAVED_MODEL_MARKS) & set(names):
            raise Unreadable("no-model", f"{self.shown}: holds no SavedModel; name the files in it one by one")
        return {name: self._size_noted(name, info) for name, info in names.items()}

    def _parts(self) -> dict[str, int]:
        """The files of the checkpoint of that prefix."""
        folder = self.path.rpartition("/")[0]
        infos = self.system.find(folder, maxdepth=1, detail=True) if self.system.exists(self.path + ".index") else {}
        return {
            name[len(self.path) :]: self._size_noted(name[len(self.path) :], info)
            for name, info in infos.items()
            if name.startswith(self.path + ".")
        }

    def _size_noted(self, name: str, info: dict[str, Any]) -> int:
        marks = {key: str(info[key]) for key in MARKS if key in info}
        if self._marks.setdefault(name, marks) != marks:
            self._marks["changed"] = True
        size = info["size"]
        if not isinstance(size, int):
            raise Unreadable("cannot-read", f"{self.shown}: the server does not tell its size; download it first")
        return size

    def changed(self) -> bool:
        """Whether an object was not what it had been when it was looked at again."""
        return bool(self._marks.get("changed"))

    def read(self, name: str, start: int, end: int) -> bytes:
        """A range of an object."""
        path = _below(self.path, name)
        data: bytes = self.system.cat_file(path, start=start, end=end)
        if len(data) > end - start:  # the server sends no ranges
            data = data[start:end]
        if len(data) != end - start:
            raise atomic.changed(self.shown)
        return data

    def send(self, local: str) -> None:
        """A file, or a folder's files, the deciding one last; what was sent goes again where not all could be."""
        if not os.path.exists(local):
            raise Refused("cannot-write", f"{self.shown}: a checkpoint is several files; write them to this machine")
        names = [""]
        if os.path.isdir(local):
            names = [os.path.relpath(os.path.join(root, n), local) for root, _, files in os.walk(local) for n in files]
            names.sort(key=lambda name: (name in SAVED_MODEL_MARKS, name))
        sent: list[str] = []
        try:
            for name in names:
                path = _below(self.path, name.replace(os.sep, "/"))
                sent.append(path)
                self._send(_below(local, name), path)
        except BaseException as e:
            for path in sent if len(names) > 1 or isinstance(e, Failed) else ():
                with contextlib.suppress(Exception):
                    self.system.rm_file(path)
            if isinstance(e, (UnnestError, KeyboardInterrupt)):
                raise
            what = f"{self.shown}: cannot be written there ({type(e).__name__})"
            raise Failed("write", f"{what}; check your credentials, or write elsewhere with -o") from e

    def _send(self, local: str, path: str) -> None:
        self.system.put_file(local, path)
        self.system.invalidate_cache()
        if self.system.info(path)["size"] != os.path.getsize(local):
            raise Failed("read-back", f"{self.shown}: the store has another size than was sent; try again")


def _below(path: str, name: str) -> str:
    """The path of a part: of a folder, of a checkpoint, or the file itself."""
    if name and (os.path.isabs(name) or ".." in name.split("/")):
        raise Unreadable("link", f"{name}: leads out of its folder")
    return path + name if not name or name.startswith(".") else f"{path}/{name}"


class _Copy(Readable):
    """A local file that becomes the copy of an object as it is read."""

    def __init__(self, file: IO[bytes], size: int, read: Callable[[int, int], bytes]) -> None:
        super().__init__(size)
        self._file, self._read = file, read
        self._has_block = bytearray(-(-size // BLOCK))
        file.truncate(size)

    def fetch(self, start: int, end: int) -> None:
        """Have these bytes, in whole blocks."""
        block, last = start // BLOCK, -(-min(end, self.size) // BLOCK)
        while block < last:
            if self._has_block[block]:
                block += 1
                continue
            stop = block
            while stop < last and not self._has_block[stop] and (stop - block) * BLOCK < PIECE:
                stop += 1
            spend(stop - block)
            self._file.seek(block * BLOCK)
            self._file.write(self._read(block * BLOCK, min(stop * BLOCK, self.size)))
            self._has_block[block:stop] = b"\1" * (stop - block)
            block = stop

    def complete(self, holes: Iterable[tuple[int, int]]) -> None:
        """Have everything but these ranges."""
        for start, end in self._gaps(holes):
            self.fetch(start, end)

    def beside(self, holes: Iterable[tuple[int, int]]) -> int:
        """How many bytes that are."""
        return sum(end - start for start, end in self._gaps(holes))

    def _gaps(self, holes: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        end_of_hole = 0
        for start, end in [*sorted(holes), (self.size, self.size)]:
            if start > end_of_hole:
                yield end_of_hole, start
            end_of_hole = max(end_of_hole, end)

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - any writable buffer
        """As any file."""
        count = self.next_count(len(buffer))
        self.fetch(self.position, self.position + count)
        self._file.seek(self.position)
        data = self._file.read(count)
        buffer[: len(data)] = data
        self.position += len(data)
        return len(data)


class _Part(Readable):
    """Part of a copy as a file of its own."""

    def __init__(self, copy: _Copy, start: int, size: int) -> None:
        super().__init__(size)
        self._copy, self._start = copy, start

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - any writable buffer
        """As any file; nothing beyond the part."""
        view = memoryview(buffer)[: self.next_count(len(buffer))]
        self._copy.seek(self._start + self.position)
        count = self._copy.readinto(view)
        self.position += count
        return count


def _tensor_ranges(copy: _Copy, local: str, name: str) -> list[tuple[int, int]]:
    """The ranges of a file that are tensors' bytes; none where it is neither HDF5 nor a zip with HDF5 in it."""
    copy.seek(0)
    start = copy.read(max(len(HDF5_MAGIC), len(ZIP_MAGIC))) or b""
    if start.startswith(HDF5_MAGIC):
        return _in_hdf5(_Part(copy, 0, copy.size), copy.size, name)
    if start.startswith(ZIP_MAGIC) and local.lower().endswith(".keras"):
        return _in_zip(copy, name)
    return []


def _in_hdf5(window: _Part, size: int, name: str) -> list[tuple[int, int]]:
    from h5py import h5d

    from unnest.formats.hdf5.guarded_file import GuardedFile

    ranges: list[tuple[int, int]] = []
    try:
        hdf5 = GuardedFile(name, window, size)
    except Unreadable:
        return ranges  # the whole file is copied, and whoever reads that says what is wrong with it
    with contextlib.closing(hdf5):
        for path, node in hdf5.datasets.items():
            if node.stored < SMALL:
                continue
            dataset = hdf5.dataset(path)
            if node.layout == h5d.CONTIGUOUS:
                ranges.append((dataset.get_offset(), dataset.get_offset() + node.stored))
            elif node.layout == h5d.CHUNKED:
                for number in range(dataset.get_num_chunks()):
                    spend()
                    chunk = dataset.get_chunk_info(number)
                    ranges.append((chunk.byte_offset, chunk.byte_offset + chunk.size))
    return ranges


def _in_zip(copy: _Copy, name: str) -> list[tuple[int, int]]:
    import zipfile

    try:
        with zipfile.ZipFile(copy) as archive:
            info = archive.getinfo("model.weights.h5")
            with archive.open(info) as member:
                member.read(1)
            copy.seek(info.header_offset)
            header = copy.read(LOCAL_HEADER) or b""
    except (zipfile.BadZipFile, KeyError, NotImplementedError, RuntimeError, OSError, ValueError):
        return []
    if info.compress_type != zipfile.ZIP_STORED or len(header) < LOCAL_HEADER:
        return []
    name_size, extra_size = (int.from_bytes(header[k : k + 2], "little") for k in (26, 28))
    start = info.header_offset + LOCAL_HEADER + name_size + extra_size
    window = _Part(copy, start, info.file_size)
    return [(start + a, start + b) for a, b in _in_hdf5(window, info.file_size, name)]


def _copy_texts(local_root: str, objects: dict[str, int], store: _Store) -> None:
    """The texts in the data files of checkpoints: the object graph is one; all else in there are tensors."""
    from unnest.formats.tensorflow.bundle import Bundle

    prefixes = {SHARD.sub("", name) for name in objects if SHARD.search(name)}
    for prefix in prefixes:
        if prefix + ".index" not in objects:
            continue
        try:
            bundle = Bundle(_below(local_root, prefix) if prefix else local_root)
        except Unreadable:
            continue  # whoever reads it says so
        with contextlib.closing(bundle):
            for entry in bundle.entries.values():
                for piece in entry.pieces if entry.dtype == "string" else ():
                    shard = f"{prefix}.data-{piece.shard:05d}-of-{bundle.shards:05d}"
                    with open(_below(local_root, shard), "r+b", buffering=0) as file:
                        file.seek(piece.offset)
                        file.write(store.read(shard, piece.offset, piece.offset + piece.size))
