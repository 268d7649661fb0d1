"""The folder beside an output in which the output is made: private, locked while its run lives, removed at the end.

    .NAME.unnest-tmp/
        lock       flocked by the run that works here
        new/       the parts of the output, each under its own name
        old/       the replaced parts, if they cannot be replaced in one step
        journal    the parts that are being moved, while they are

A killed run leaves its folder. The next run on the same output takes the lock, completes what the journal began, and
removes the rest. Where locks do not work, or the folder belongs to another user, it stays.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import stat
import zlib
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from unnest.errors import Refused
from unnest.files import portable_file_operations
from unnest.files.portable_file_operations import is_folder

if TYPE_CHECKING:
    from typing_extensions import Self

try:
    import fcntl
except ImportError:  # Windows, which has no such locks
    fcntl = None  # type: ignore[assignment] # to mypy it is a module everywhere

#: How the folders' names end: nothing in them is ever read as a model. Runs side by side have numbers.
STAGING_NAME = re.compile(r"\.unnest(-[0-9a-f]+)?-tmp$")

#: So many runs may write the same output at once under names that the next run finds.
MOST_STAGING_FOLDERS = 8

#: Bytes that are put by while an output is made, and let go of before its folder is removed: to list a folder takes
#: 32 KiB, and where memory ran out a buffer is missing.
RESERVE = 1 << 18

#: The longest file name that common file systems take.
LONGEST_FILE_NAME = 255

LOCK, JOURNAL, NEW, OLD = "lock", "journal", "new", "old"

#: Which file it is: inode, size, time of the last change in nanoseconds. Of a folder, the inode alone.
FileIdentity = tuple[int, int, int]


class StagingFolder:
    """The folder in which `target` is made, for as long as the block lasts.

    `alone`: another run that works on the same target is a reason to refuse. Raises OSError, and Refused `busy`.
    """

    def __init__(self, target: str, *, alone: bool = False) -> None:
        self.folder, self.name = os.path.split(target.rstrip("/\\") or target)
        self.target = os.path.join(self.folder, self.name)
        self.path = ""
        self._alone = alone
        self._lock = -1
        self._steps: list[tuple[str, str]] = []
        self._exchanged: tuple[str, str] | None = None
        self._keep = False
        self._reserve: bytearray | None = bytearray(RESERVE)

    def __enter__(self) -> Self:
        for path in _staging_paths(self.target):
            if (
                os.path.lexists(path)
                and not _sweep_one(path, self.folder)
                and self._alone
                and _is_busy(path)
            ):
                raise Refused(
                    "busy",
                    f"{self.target}: another run of unnest is writing it; wait for that to end",
                )
        if not any(self._make(path) for path in _staging_paths(self.target)):
            self._make(staging_path(self.target, os.urandom(6).hex()))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._reserve = None
        try:
            if isinstance(error, Exception):
                with contextlib.suppress(Exception):  # what ended the block says more
                    self.undo()
            if not self._keep:
                self._remove()
        finally:
            _release(self._lock)

    @property
    def new_path(self) -> str:
        """The path at which the target is made."""
        return self.part(self.name)

    @property
    def replaced(self) -> str | None:
        """The present path of the folder that the new one replaced; None if the place was empty."""
        if self._exchanged is not None:
            return self._exchanged[0]
        return next((aside for place, aside in self._steps if place == self.target), None)

    @property
    def permission_bits(self) -> int:
        """The permission bits that umask, or the folder's rules, leave to a new file."""
        return stat.S_IMODE(os.fstat(self._lock).st_mode) & 0o777

    def part(self, name: str) -> str:
        """Return the path at which the part `name` is made."""
        return os.path.join(self.path, NEW, name)

    def move(self, names: Sequence[str], *, replace: bool, stale: Sequence[str] = ()) -> None:
        """Let the parts take their places in this order, the deciding one last: all of them, or none.

        `stale` are old parts that no new one replaces; they go too. Whatever is moved is on the disk already. Raises
        FileExistsError where a place is taken and `replace` is not given, OSError else; the old parts are back then.
        """
        if len(names) > 1 or stale:
            self._move_all(names, stale, replace=replace)
            return
        new, place = self.part(names[0]), os.path.join(self.folder, names[0])
        if not (replace and os.path.lexists(place)):
            portable_file_operations.rename_new(new, place)
        elif is_folder(new) != is_folder(place):
            number = errno.EISDIR if is_folder(place) else errno.ENOTDIR
            raise OSError(number, os.strerror(number), place)
        elif not is_folder(new):
            os.replace(new, place)
        elif portable_file_operations.exchange(*(swap := (new, place))):
            self._exchanged = swap
        else:
            self._move_all(names, (), replace=True)
        portable_file_operations.sync_folder(self.folder)

    def undo(self) -> None:
        """Take back what was moved; where even that fails, the folder stays, and the next run completes the move."""
        if self._exchanged is None and not self._steps:
            return
        self._keep = True
        if self._exchanged is not None:
            portable_file_operations.exchange(*self._exchanged)
            self._exchanged = None
        while self._steps:
            source, target = self._steps[-1]
            if not os.path.lexists(source):  # else this step was not taken
                portable_file_operations.rename_new(target, source)
            self._steps.pop()
        self._keep = False
        portable_file_operations.sync_folder(self.folder)

    def _move_all(self, names: Sequence[str], stale: Sequence[str], *, replace: bool) -> None:
        """Move the parts to their names, old files aside; the journal records every step for a run that is killed.

        Raises FileExistsError.
        """
        places = {name: os.path.join(self.folder, name) for name in (*stale, *names)}
        old = [name for name, place in places.items() if os.path.lexists(place)]
        if old and not replace:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), places[old[0]])
        os.mkdir(os.path.join(self.path, OLD))
        journal = {
            "new": [(name, _identity(self.part(name))) for name in names],
            "old": [(name, _identity(places[name])) for name in old],
        }
        portable_file_operations.sync_folder(os.path.join(self.path, NEW))
        _write_synced(os.path.join(self.path, JOURNAL), json.dumps(journal).encode())
        portable_file_operations.sync_folder(self.path)
        portable_file_operations.sync_folder(self.folder)
        try:
            # The index goes first and comes last: in between there is no checkpoint rather than half of one.
            for name in reversed(old):
                self._step(places[name], os.path.join(self.path, OLD, name))
            for name in names:
                self._step(self.part(name), places[name])
        except Exception:
            with contextlib.suppress(Exception):  # what stopped the move says more
                self.undo()
            raise
        portable_file_operations.sync_folder(self.folder)

    def _step(self, source_path: str, target: str) -> None:
        self._steps.append((source_path, target))
        portable_file_operations.rename_new(source_path, target)

    def _remove(self) -> None:
        """Remove the folder; tried twice, as memory may suffice only the second time."""
        try:
            _remove(self.path)
        except MemoryError:
            _remove(self.path)

    def _make(self, path: str) -> bool:
        """Make the folder and lock it; False if another run has it."""
        try:
            os.mkdir(path, 0o700)
        except FileExistsError:
            return False
        try:
            lock = _open_lock(path)
            os.mkdir(os.path.join(path, NEW), 0o700)
        except (BlockingIOError, FileNotFoundError):  # swept before it was locked
            return False
        except (OSError, MemoryError):
            self._reserve = None
            _remove(path)
            raise
        self.path, self._lock = path, lock
        return True


def staging_path(target: str, number: str = "") -> str:
    """Return the path of the staging folder for a target, beside it."""
    folder, name = os.path.split(target)
    suffix = f".unnest{'-' + number if number else ''}-tmp"
    encoded = os.fsencode(name)
    most_bytes = LONGEST_FILE_NAME - len(suffix) - 1
    if len(encoded) > most_bytes:
        # Names that begin alike must not share a folder.
        checksum = f".{zlib.crc32(encoded):08x}"
        name = encoded[: most_bytes - len(checksum)].decode(errors="ignore") + checksum
    return os.path.join(folder, f".{name}{suffix}")


def leftovers(target: str) -> tuple[str, ...]:
    """Return folders of killed runs on this target that cannot be removed: no locks here, or another user's."""
    target = target.rstrip("/\\") or target
    return tuple(p for p in _staging_paths(target) if os.path.lexists(p) and not _is_busy(p))


def sweep(target: str) -> None:
    """Complete and remove what killed runs on this target left."""
    target = target.rstrip("/\\") or target
    for path in _staging_paths(target):
        if os.path.lexists(path):
            _sweep_one(path, os.path.dirname(target))


def sweep_folder(folder: str, names: re.Pattern[str]) -> None:
    """Complete or remove the leftovers of killed runs for every target in a folder with a name that `names` matches."""
    if not os.path.isdir(folder):
        return
    for entry in os.listdir(folder):
        mark = STAGING_NAME.search(entry)
        if mark and names.fullmatch(entry[1 : mark.start()]):
            _sweep_one(os.path.join(folder, entry), folder)


def _staging_paths(target: str) -> Iterator[str]:
    for number in range(MOST_STAGING_FOLDERS):
        yield staging_path(target, str(number) if number else "")


def _is_ours(path: str) -> bool:
    """Return True for a folder of the current user that is no link."""
    return is_folder(path) and (not hasattr(os, "geteuid") or os.lstat(path).st_uid == os.geteuid())


def _is_busy(path: str) -> bool:
    """True if a living run holds the lock. Creates nothing: the folder may be another user's, or a link."""
    if not is_folder(path):
        return False
    try:
        _release(_open_lock(path, flags=0))
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _sweep_one(path: str, folder: str) -> bool:
    """Complete and remove what a killed run left at `path`; False if it stays."""
    try:
        if not _is_ours(path):
            return False
        lock = _open_lock(path, strict=True)
    except OSError:
        return False
    try:
        if not _complete_move(path, folder):
            return False
        _remove(path)
        return not os.path.lexists(path)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):  # not a journal of ours
        return False
    except MemoryError:  # the journal is there still, for the next run
        return False
    finally:
        _release(lock)


def _open_lock(path: str, *, strict: bool = False, flags: int = os.O_CREAT) -> int:
    """Open the lock file, locked as far as the system locks, and return its descriptor.

    `flags`: 0 to open the lock only if it exists. `strict`: fail where locks do not work, since it is then unknown
    whether the run that made the folder lives.

    Raises:
        BlockingIOError: another run holds the lock.
        OSError: the lock cannot be opened or, if `strict`, the system does not lock.

    """
    name = os.path.join(path, LOCK)
    descriptor = os.open(name, os.O_RDWR | flags | getattr(os, "O_NOFOLLOW", 0), 0o777)
    try:
        _flock(descriptor, strict=strict)
        if not os.path.samestat(os.fstat(descriptor), os.stat(name)):
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN), name)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _flock(descriptor: int, *, strict: bool) -> None:
    try:
        if fcntl is None:
            raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))  # noqa: TRY301 - as where the file system has none
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:
        if strict:
            raise


def _release(descriptor: int) -> None:
    """Unlock explicitly: forked children hold the same lock, which closing alone would leave to them."""
    if descriptor < 0:
        return
    with contextlib.suppress(OSError):
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_UN)
    os.close(descriptor)


def _complete_move(path: str, folder: str) -> bool:
    """Complete the move that the journal records; False if it would touch something that is neither old nor new."""
    try:
        with open(os.path.join(path, JOURNAL), "rb") as file:
            journal: dict[str, Any] = json.loads(file.read())
    except (
        FileNotFoundError,
        ValueError,
    ):
        # No part has left its place before the journal was whole.
        return True
    new, old = ({_checked_name(n): tuple(i) for n, i in journal[key]} for key in (NEW, OLD))
    place = {name: os.path.join(folder, name) for name in (*new, *old)}
    aside = {name: os.path.join(path, OLD, name) for name in old}
    arriving = {
        name: os.path.join(path, NEW, name)
        for name in new
        if os.path.lexists(os.path.join(path, NEW, name))
    }
    if not arriving:
        return True
    leaving = [
        n for n in reversed(old) if os.path.lexists(place[n]) and _identity(place[n]) == old[n]
    ]
    for name, path_of_place in place.items():
        is_taken = os.path.lexists(path_of_place)
        arrived = is_taken and name not in arriving and _identity(path_of_place) == new.get(name)
        if (is_taken and not arrived and name not in leaving) or (
            name in new and name not in arriving and not arrived
        ):
            return False
    for name in leaving:
        portable_file_operations.rename_new(place[name], aside[name])
    for name, new_path in arriving.items():
        portable_file_operations.rename_new(new_path, place[name])
    portable_file_operations.sync_folder(folder)
    return True


def _checked_name(name: str) -> str:
    if os.path.basename(name) != name or name in ("", ".", ".."):
        raise ValueError(name)
    return name


def _identity(path: str) -> FileIdentity:
    status = os.lstat(path)
    return (
        (status.st_ino, 0, 0)
        if stat.S_ISDIR(status.st_mode)
        else (status.st_ino, status.st_size, status.st_mtime_ns)
    )


def _write_synced(path: str, data: bytes) -> None:
    with open(path, "xb", buffering=0) as file:
        portable_file_operations.write_all(file, data)
        os.fsync(file.fileno())


def _remove(path: str) -> None:
    """Remove the whole folder: the journal first, as it speaks of the rest, and the lock last."""
    for name in (JOURNAL, NEW, OLD, LOCK):
        _remove_tree(os.path.join(path, name))
    with contextlib.suppress(OSError):
        os.rmdir(path)


def _remove_tree(path: str) -> None:
    with contextlib.suppress(OSError):
        if not is_folder(path):
            os.unlink(path)
            return
    with contextlib.suppress(OSError):
        os.chmod(path, 0o700)  # nothing can be taken out of a folder that may not be written
        for name in os.listdir(path):
            _remove_tree(os.path.join(path, name))
        os.rmdir(path)
