"""Copy files and folders, and compare copies with their sources, byte for byte."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import IO

from unnest.errors import Failed, Unreadable
from unnest.files.portable_file_operations import files_in, write_all

#: Bytes read at a time: two such blocks stay in a core's cache.
READ_BLOCK = 1 << 18


#: Bytes that the kernel copies at a time.
RANGE = 64 << 20


def copy_file(source_path: str, target: str) -> int:
    """Copy a file's bytes to a new file and return how many there are.

    Raises Unreadable where the source cannot be read, OSError where the target cannot be written.
    """
    try:
        reading = open(source_path, "rb", buffering=0)  # noqa: SIM115 - what fails here is not what fails below
    except OSError as e:
        raise _cannot_read(source_path, e) from e
    with reading, open(target, "xb", buffering=0) as writing:
        copied = _copy_range(reading, writing)
        for block in _blocks(reading, source_path):
            write_all(writing, block)
            copied += len(block)
    return copied


def files_equal(left: str, right: str) -> bool:
    """Return True if two paths are files that hold the same bytes; a pipe, say, is not opened."""
    if not all(map(os.path.isfile, (left, right))) or os.path.getsize(left) != os.path.getsize(
        right
    ):
        return False
    with open(left, "rb") as one, open(right, "rb") as other:
        while block := one.read(READ_BLOCK):
            if block != other.read(READ_BLOCK):
                return False
        return not other.read(1)


def _copy_range(reading: IO[bytes], writing: IO[bytes]) -> int:
    """Copy what the kernel can copy between two files, and return the number of bytes; 0 on most systems."""
    copied = 0
    if hasattr(os, "copy_file_range"):
        size = os.fstat(reading.fileno()).st_size
        # Whatever it fails with, reading and writing report the cause better.
        with contextlib.suppress(OSError):
            while size > copied and (
                moved := os.copy_file_range(reading.fileno(), writing.fileno(), RANGE)
            ):
                copied += moved
    return copied


def _blocks(file: IO[bytes], path: str) -> Iterator[bytes]:
    while True:
        try:
            block = file.read(READ_BLOCK)
        except OSError as e:
            raise _cannot_read(path, e) from e
        if not block:
            return
        yield block


def _cannot_read(path: str, error: OSError) -> Unreadable:
    return Unreadable("cannot-read", f"{path}: cannot be read ({error.strerror}); try a copy of it")


def check_files_equal(source_path: str, copied: str) -> None:
    """Compare a copy with its source.

    Raises:
        Failed: the bytes differ.

    """
    if not files_equal(source_path, copied):
        raise Failed(
            "read-back", f"{copied}: the copy reads back differently; the disk may be failing"
        )


def bytes_writer(data: bytes) -> tuple[Callable[[str], None], Callable[[str], None]]:
    """Return how a new file of these bytes is written, and how it is read back; that raises Failed."""

    def fill(path: str) -> None:
        with open(path, "xb") as file:
            file.write(data)

    def check(path: str) -> None:
        with open(path, "rb") as file:
            if file.read() != data:
                raise Failed(
                    "read-back", f"{path}: reads back differently; the disk may be failing"
                )

    return fill, check


def copy_tree(source_path: str, target: str) -> None:
    """Copy a folder's files into an existing folder."""
    for folder, folders, files in os.walk(source_path):
        target_folder = os.path.normpath(os.path.join(target, os.path.relpath(folder, source_path)))
        for name in folders:
            os.mkdir(os.path.join(target_folder, name))
        for name in files:
            copy_file(os.path.join(folder, name), os.path.join(target_folder, name))


def folders_equal(left: str, right: str) -> bool:
    """Return True if two folders hold the same files with the same bytes."""
    names = [_paths_below(folder) for folder in (left, right)]
    return names[0] == names[1] and all(
        files_equal(os.path.join(left, n), os.path.join(right, n)) for n in names[0]
    )


def _paths_below(folder: str) -> list[str]:
    return sorted(os.path.relpath(path, folder) for path in files_in(folder))
