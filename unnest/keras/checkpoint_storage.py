"""Storage of checkpoints: files served by TensorFlow, local ones among them, or by fsspec."""

from __future__ import annotations

import contextlib
import os
import shutil
import zlib
from importlib import import_module
from typing import Any, Protocol

from unnest.keras.keras_api import backend_in_use

PARTIAL_SUFFIX = ".part"
"""How names end under which a remote file is on its way."""

BLOCKS, BLOCK = 64, 4096


def _tensorflow() -> Any | None:
    """Return TensorFlow if Keras runs on it, else None."""
    return import_module("tensorflow") if backend_in_use() == "tensorflow" else None


def missing_file_error() -> type[Exception]:
    """Return what a store raises where files are not there: TensorFlow's error, or OSError."""
    tf = _tensorflow()
    return OSError if tf is None else tf.errors.OpError


class Store(Protocol):
    """Files by name. What is not there raises FileNotFoundError, tf.errors.NotFoundError or another OSError."""

    def open(self, path: str) -> Any:
        """Open a file for reading bytes."""

    def size(self, path: str) -> int:
        """Return the size of a file, in bytes."""

    def exists(self, path: str) -> bool:
        """Return True if a file or folder of that name exists."""

    def names(self, folder: str) -> list[str]:
        """Return the names in a folder; an empty list if there is no folder."""

    def upload(self, local: str, path: str) -> None:
        """Copy a local file there. Readers see it complete or, as far as the store allows, not at all."""

    def remove(self, path: str) -> None:
        """Delete a file, or a folder with all that is in it."""


class GFileStore:
    """Storage that `tf.io.gfile` serves."""

    def __init__(self) -> None:
        self._files = import_module("tensorflow").io.gfile

    def is_folder(self, path: str) -> bool:
        """Return True for a folder, empty or not."""
        return bool(self._files.isdir(path))

    def open(self, path: str) -> Any:
        """Open a file for reading bytes."""
        return self._files.GFile(path, "rb")

    def size(self, path: str) -> int:
        """Return the size of a file, in bytes."""
        return int(self._files.stat(path).length)

    def exists(self, path: str) -> bool:
        """Return True if a file or folder of that name exists."""
        return bool(self._files.exists(path))

    def names(self, folder: str) -> list[str]:
        """Return the names in a folder."""
        entries = self._files.listdir(folder or ".") if self._files.isdir(folder or ".") else []
        return sorted(name.rstrip("/") for name in entries)

    def upload(self, local: str, path: str) -> None:
        """Copy a local file there."""
        self._files.makedirs(path.rpartition("/")[0] or ".")
        try:
            self._files.copy(local, path + PARTIAL_SUFFIX, overwrite=True)
            self._files.rename(path + PARTIAL_SUFFIX, path, overwrite=True)
        except BaseException:
            with contextlib.suppress(missing_file_error()):
                self._files.remove(path + PARTIAL_SUFFIX)
            raise

    def remove(self, path: str) -> None:
        """Delete a file or folder."""
        (self._files.rmtree if self._files.isdir(path) else self._files.remove)(path)


class LocalStore:
    """Files of this machine, where TensorFlow does not serve them."""

    def is_folder(self, path: str) -> bool:
        """Return True for a folder, empty or not."""
        return os.path.isdir(path)

    def open(self, path: str) -> Any:
        """Open a file for reading bytes."""
        return open(path, "rb")

    def size(self, path: str) -> int:
        """Return the size of a file, in bytes."""
        return os.path.getsize(path)

    def exists(self, path: str) -> bool:
        """Return True if a file or folder of that name exists."""
        return os.path.exists(path)

    def names(self, folder: str) -> list[str]:
        """Return the names in a folder."""
        return sorted(os.listdir(folder or ".")) if os.path.isdir(folder or ".") else []

    def upload(self, local: str, path: str) -> None:
        """Copy a local file there."""
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        try:
            shutil.copyfile(local, path + PARTIAL_SUFFIX)
            os.replace(path + PARTIAL_SUFFIX, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.remove(path + PARTIAL_SUFFIX)
            raise

    def remove(self, path: str) -> None:
        """Delete a file or folder."""
        (shutil.rmtree if os.path.isdir(path) else os.remove)(path)


class FsspecStore:
    """Storage that fsspec serves; a file appears when it is complete, if the store knows transactions."""

    def __init__(self, path: str) -> None:
        self._files, _ = import_module("fsspec").core.url_to_fs(path)

    def _inner(self, path: str) -> str:
        return str(self._files._strip_protocol(path))

    def open(self, path: str) -> Any:
        """Open a file for reading bytes."""
        return self._files.open(self._inner(path), "rb")

    def size(self, path: str) -> int:
        """Return the size of a file, in bytes."""
        return int(self._files.size(self._inner(path)))

    def exists(self, path: str) -> bool:
        """Return True if a file or folder of that name exists."""
        return bool(self._files.exists(self._inner(path)))

    def names(self, folder: str) -> list[str]:
        """Return the names in a folder."""
        inner = self._inner(folder)
        entries = self._files.ls(inner, detail=False) if self._files.isdir(inner) else []
        return sorted(name.rstrip("/").rpartition("/")[2] for name in entries)

    def upload(self, local: str, path: str) -> None:
        """Copy a local file there."""
        inner = self._inner(path)
        self._files.makedirs(inner.rpartition("/")[0], exist_ok=True)
        with self._files.transaction:
            self._files.put_file(local, inner)

    def remove(self, path: str) -> None:
        """Delete a file or folder."""
        self._files.rm(self._inner(path), recursive=True)


def is_remote(path: str) -> bool:
    """Return True if a path begins with a scheme (`gs://`)."""
    return "://" in path


def is_served_by_keras(path: str) -> bool:
    """Return True if Keras itself can handle the path: local, or of a scheme that TensorFlow serves."""
    tf = _tensorflow()
    return not is_remote(path) or (
        tf is not None and path.partition("://")[0] in tf.io.gfile.get_registered_schemes()
    )


def store_of(path: str) -> Store:
    """Return the store that serves a path. Raises ValueError, in one line, if none serves its scheme."""
    if is_served_by_keras(path):
        return LocalStore() if _tensorflow() is None else GFileStore()
    scheme = path.partition("://")[0]
    try:
        return FsspecStore(path)
    except ImportError as e:
        raise ValueError(
            f"{path}: TensorFlow does not serve {scheme}://, and fsspec cannot: {e}; pip install fsspec"
        ) from None
    except ValueError as e:
        raise ValueError(f"{path}: neither TensorFlow nor fsspec serves {scheme}://: {e}") from None


def fingerprint(store: Store, path: str) -> tuple[int, int] | None:
    """Return size and checksum of blocks spread over the weights saved under this name; None if no file has it.

    A step of training changes nearly every byte of the weights, so blocks distinguish one checkpoint from the next.
    """
    data = next(
        (
            name
            for name in (path, *_weights(path))
            if store.exists(name) and not _is_folder(store, name)
        ),
        None,
    )
    if data is None:
        return None
    size, checksum = store.size(data), 0
    with store.open(data) as file:
        for start in sorted({k * max(size - BLOCK, 0) // (BLOCKS - 1) for k in range(BLOCKS)}):
            file.seek(start)
            checksum = zlib.crc32(file.read(BLOCK), checksum)
    return size, checksum


def _weights(path: str) -> tuple[str, str]:
    """Return the paths of the weights in a SavedModel, and in a TF checkpoint, of that name."""
    return f"{path}/variables/variables.data-00000-of-00001", f"{path}.data-00000-of-00001"


def _is_folder(store: Store, path: str) -> bool:
    return bool(store.names(path)) or (
        isinstance(store, (GFileStore, LocalStore)) and store.is_folder(path)
    )
