"""File operations that are one system call where the system has it, and their replacements where it has not.

Linux renames without replacing and exchanges two names in one step (`renameat2`, not on every file system). Elsewhere a
hard link made first keeps a name from being replaced, and two renames stand for an exchange.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Callable, Iterator
from functools import cache
from typing import IO, TypeAlias

#: Flags of renameat2. Source: its manual page, renameat2(2).
NOREPLACE, EXCHANGE = 1, 2
AT_FDCWD = -100

#: How a system says that it cannot do this at all, or not on this file system.
UNSUPPORTED = frozenset(
    {errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EXDEV, errno.EBADF}
)

#: The message for a relative path if `has_working_folder` is False.
NO_WORKING_FOLDER = "the working folder is gone; change into one that there is"


Renameat2: TypeAlias = Callable[[int, bytes, int, bytes, int], int]


def has_working_folder() -> bool:
    """Return True if the current working folder still exists."""
    try:
        os.getcwd()
    except OSError:
        return False
    return True


def rename_new(source_path: str, target: str) -> None:
    """Rename without replacing. Raises FileExistsError where the target has something already."""
    if _rename_with_flag(source_path, target, NOREPLACE):
        return
    if not os.path.isdir(source_path) and link(source_path, target):
        # A second name, which goes with the folder that it is in.
        with contextlib.suppress(OSError):
            os.unlink(source_path)
        return
    # Windows refuses by itself to rename onto a file; elsewhere the look before is all there is.
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target)
    os.rename(source_path, target)


def exchange(one: str, two: str) -> bool:
    """Let two names change places in one step; False where that cannot be done, and nothing happened."""
    return _rename_with_flag(one, two, EXCHANGE)


def link(path: str, name: str) -> bool:
    """Make a hard link; False if the system has none. Raises FileExistsError."""
    try:
        os.link(path, name, follow_symlinks=os.link not in os.supports_follow_symlinks)
    except FileExistsError:
        raise
    except (OSError, NotImplementedError):
        return False
    return True


def pread(descriptor: int, count: int, offset: int) -> bytes:
    """Return bytes at an offset without moving the file's position; on Windows by seeking."""
    if hasattr(os, "pread"):
        return os.pread(descriptor, count, offset)
    os.lseek(descriptor, offset, os.SEEK_SET)
    return os.read(descriptor, count)


def pread_into(descriptor: int, buffer: memoryview, offset: int) -> int:
    """Read bytes at an offset into a buffer; return how many there were."""
    if hasattr(os, "preadv"):
        return os.preadv(descriptor, [buffer], offset)
    data = pread(descriptor, len(buffer), offset)
    buffer[: len(data)] = data
    return len(data)


def write_all(file: IO[bytes], data: bytes | memoryview) -> None:
    """Write all of the bytes to an unbuffered file, which may take fewer at a time."""
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]


def sync(path: str) -> None:
    """Sync a file to the disk."""
    with open(path, "rb" if os.name == "posix" else "r+b") as file:
        os.fsync(file.fileno())


def sync_data(path: str) -> None:
    """Sync the bytes that a file has so far, without its metadata if the system can leave these out."""
    if hasattr(os, "fdatasync"):
        with open(path, "rb") as file:
            os.fdatasync(file.fileno())


def sync_folder(path: str) -> None:
    """Sync a folder's names, so that they survive a power cut, if the system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(path or ".", os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def files_in(folder: str) -> Iterator[str]:
    """Yield the paths of all files in a folder and its sub-folders."""
    for parent, _, names in os.walk(folder):
        for name in names:
            yield os.path.join(parent, name)


def is_folder(path: str) -> bool:
    """Return True if a folder is at `path`, not a link to one."""
    return os.path.isdir(path) and not os.path.islink(path)


def _rename_with_flag(source_path: str, target: str, flag: int) -> bool:
    """Rename with a flag; False if the system or the file system does not support it. Raises OSError."""
    call = _renameat2()
    if call is None:
        return False
    import ctypes

    if call(AT_FDCWD, os.fsencode(source_path), AT_FDCWD, os.fsencode(target), flag) == 0:
        return True
    number = ctypes.get_errno()
    if number in UNSUPPORTED:
        return False
    raise OSError(number, os.strerror(number), target)


@cache
def _renameat2() -> Renameat2 | None:
    """Return Linux's `renameat2`; None on other systems."""
    if not sys.platform.startswith("linux"):
        return None
    import ctypes

    function = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if function is None:
        return None
    function.argtypes = (
        ctypes.c_int,
        ctypes.c_char_p,
        ctypes.c_int,
        ctypes.c_char_p,
        ctypes.c_uint,
    )
    call: Renameat2 = function
    return call
