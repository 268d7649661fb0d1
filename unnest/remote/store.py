"""An object store: what is below a URL, its bytes in ranges, and new objects."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Collection, Iterator
from typing import Any

from unnest.errors import Failed, Refused, UnnestError, Unreadable, UsageError
from unnest.files import write_errors
from unnest.files.temporary_files import no_room_error
from unnest.formats.detect_container import CHECKPOINT_PART, SAVED_MODEL_MARKS, holds_model
from unnest.remote.urls import safe_url

#: Fields that differ between two states of an object, by the drivers' names.
MARKS = (
    *("size", "ETag", "etag", "md5Hash", "generation", "version", "blob_id"),
    *("LastModified", "last_modified", "mtime", "updated", "created"),
)

#: The packages through which fsspec reads some kinds of stores.
DRIVERS = {
    "s3": "s3fs",
    "gs": "gcsfs",
    "hf": "huggingface_hub",
    "http": "aiohttp",
    "https": "aiohttp",
}

#: How a local disk says that a copy does not fit.
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class RemoteStore:
    """One URL and the file system that it is in."""

    def __init__(self, url: str) -> None:
        from urllib.parse import urlsplit

        self.safe_url, self._url = safe_url(url), url.rstrip("/")
        if "::" in url:
            raise UsageError(
                "usage", f"{self.safe_url}: chained URLs are not taken; name the object itself"
            )
        try:
            from fsspec.core import url_to_fs

            with self.errors():
                self.system, self.path = url_to_fs(url, use_listings_cache=False)
        except ImportError as e:
            scheme = urlsplit(url).scheme
            driver = f" {DRIVERS[scheme]}" if scheme in DRIVERS else ""
            message = f"{self.safe_url}: needs fsspec, and its driver of {scheme}: pip install fsspec{driver}"
            raise UsageError("usage", f"{message} ({e.name or 'fsspec'})") from e
        self.path = self.path.rstrip("/")
        self.name = os.path.basename(urlsplit(url).path.rstrip("/"))
        if self.name in ("", ".", ".."):
            self.name = "model"
        self._marks: dict[str, Any] = {}

    @contextlib.contextmanager
    def errors(self) -> Iterator[None]:
        """Translate a driver's exception into one line without its text, which may hold credentials.

        Raises Failed, Unreadable.
        """
        try:
            yield
        except (UnnestError, ImportError):
            raise
        except FileNotFoundError as e:
            raise Unreadable("not-found", f"{self.safe_url}: no such object; check the URL") from e
        except PermissionError as e:
            raise Unreadable(
                "cannot-open", f"{self.safe_url}: the store does not let us; check your credentials"
            ) from e
        except Exception as e:
            if isinstance(e, OSError) and e.errno in FULL:
                raise no_room_error(e) from e
            what = f"{self.safe_url}: the store cannot be reached, or does not answer as it should ({type(e).__name__})"
            raise Failed("read", f"{what}; try again") from e

    def touches(self, other: RemoteStore) -> bool:
        """Return True if one is the other under any name of its store, lies in it, or is a file of that checkpoint."""
        hosts = {each.system.storage_options.get("host") for each in (self, other)}
        if type(self.system) is not type(other.system) or len(hosts) > 1:
            return False
        return (
            f"{self.path}/".startswith(f"{other.path}/")
            or f"{other.path}/".startswith(f"{self.path}/")
            or CHECKPOINT_PART.sub("", self.path) == other.path
        )

    def objects(self) -> dict[str, int]:
        """Relative path -> size of every object: "" is the object itself; a checkpoint's parts begin with a dot.

        Raises Unreadable.
        """
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
        names = {
            name[len(self.path) + 1 :]: info
            for name, info in infos.items()
            if name.startswith(self.path + "/")
        }
        if not holds_model(names):
            raise Unreadable(
                "no-model",
                f"{self.safe_url}: is no model's folder; name the files in it one by one",
            )
        return {name: self._size_noted(name, info) for name, info in names.items()}

    def walk(self) -> Iterator[tuple[str, dict[str, str], Collection[str]]]:
        """Yield (URL, folder names, object names) of each folder, itself first, those below in order.

        It does not go into folders that the caller takes out of the names. Raises UnnestError.

        Raises Unreadable.
        """
        with self.errors():
            if self.system.isfile(self.path):
                raise Unreadable(
                    "no-model", f"{self.safe_url}: is no folder; leave out the slash at its end"
                )
            pending = [self.path]
            while pending:
                path = pending.pop()
                types = {
                    info["name"].rstrip("/"): info["type"]
                    for info in self.system.ls(path, detail=True)
                }
                types.pop(path, None)  # some stores keep an empty object for a folder, and list it
                paths = {each.rpartition("/")[2]: each for each in types}
                folders = {name: each for name, each in paths.items() if types[each] == "directory"}
                yield self._url_below(path), folders, paths.keys() - folders.keys()
                pending += (folders[name] for name in sorted(folders, reverse=True))

    def _url_below(self, path: str) -> str:
        """Return the URL of a path of the store, with the credentials of the whole URL."""
        return self._url + path[len(self.path) :]

    def _parts(self) -> dict[str, int]:
        """Return the files of the checkpoint of that prefix, with their sizes."""
        folder = self.path.rpartition("/")[0]
        infos = (
            self.system.find(folder, maxdepth=1, detail=True)
            if self.system.exists(self.path + ".index")
            else {}
        )
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
            raise Unreadable(
                "cannot-read",
                f"{self.safe_url}: the server does not send its size; download it first",
            )
        return size

    def changed(self) -> bool:
        """Return True if an object had changed when it was looked at again."""
        return bool(self._marks.get("changed"))

    def read(self, name: str, start: int, end: int) -> bytes:
        """Return the bytes of a range of an object."""
        path = below(self.path, name)
        data: bytes = self.system.cat_file(path, start=start, end=end)
        if len(data) > end - start:  # the server sends no ranges
            data = data[start:end]
        if len(data) != end - start:
            raise write_errors.changed(self.safe_url)
        return data

    def download(self, name: str, local: str, size: int) -> None:
        """Download a whole object to a new file, in one stream."""
        self.system.get_file(below(self.path, name), local)
        if os.path.getsize(local) != size:
            raise write_errors.changed(self.safe_url)

    def send(self, local: str) -> None:
        """Upload a file, or a folder's files, the index last; what was sent is removed if not all could be.

        Raises Failed, Refused.
        """
        if not os.path.exists(local):
            raise Refused(
                "cannot-write",
                f"{self.safe_url}: a checkpoint is several files; write them to this machine",
            )
        names = [""]
        if os.path.isdir(local):
            names = [
                os.path.relpath(os.path.join(root, n), local)
                for root, _, files in os.walk(local)
                for n in files
            ]
            names.sort(key=lambda name: (name in SAVED_MODEL_MARKS, name))
        sent: list[str] = []
        try:
            for name in names:
                path = below(self.path, name.replace(os.sep, "/"))
                sent.append(path)
                self._send(below(local, name), path)
        except BaseException as e:
            for path in sent if len(names) > 1 or isinstance(e, Failed) else ():
                with contextlib.suppress(Exception):
                    self.system.rm_file(path)
            if isinstance(e, (UnnestError, KeyboardInterrupt)):
                raise
            what = f"{self.safe_url}: cannot be written there ({type(e).__name__})"
            raise Failed(
                "write", f"{what}; check your credentials, or write elsewhere with -o"
            ) from e

    def _send(self, local: str, path: str) -> None:
        self.system.put_file(local, path)
        self.system.invalidate_cache()
        if self.system.info(path)["size"] != os.path.getsize(local):
            raise Failed(
                "read-back", f"{self.safe_url}: the store has another size than was sent; try again"
            )


def below(path: str, name: str) -> str:
    """Return the path of a part: of a folder, of a checkpoint, or the file itself. Raises Unreadable."""
    if name and (os.path.isabs(name) or ".." in name.split("/")):
        raise Unreadable("link", f"{name}: leads out of its folder")
    return path + name if not name or name.startswith(".") else f"{path}/{name}"
