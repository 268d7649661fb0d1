"""The only place that creates or replaces a file. A file is complete or absent.

`publish` makes a temporary sibling, has it filled and read back, syncs it, and only then gives
it its name, in one step. Whatever goes wrong before, an interrupt included, the sibling is
removed. A killed process leaves it behind; its name tells what it is, blocks nobody, and
walks pass it by.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable
from threading import Thread
from typing import IO, Literal, TypeAlias

from unnest.errors import Failed, Refused
from unnest.files.interrupts import Held

#: How the temporary siblings end. Nothing that ends so is ever read as a model.
TEMPORARY = ".unnest-tmp"

#: The longest file name that common file systems take.
NAME_MAX = 255

Fill: TypeAlias = Callable[[str], None]
Outcome: TypeAlias = Literal["written", "same"]


def publish(target: str, fill: Fill, check: Fill, *, force: bool = False) -> Outcome:
    """Write `target` with `fill`, read it back with `check`, give it its name.

    What is there already stays, unless `force`: the same bytes are the outcome "same", anything
    else is Refused. Raises Failed where the machine does not do its part.
    """
    temporary = sibling(target)
    with Held() as held:
        try:
            _make(temporary, fill, check, held)
            if os.path.isfile(target) and same(temporary, target):
                return "same"
            if force:
                os.replace(temporary, target)
            else:
                _name(temporary, target)
            sync_folder(target)
        except FileExistsError:
            raise exists(target) from None
        except OSError as e:
            raise write_failed(target, e) from e
        finally:
            _remove(temporary)
    return "written"


def replace(target: str, backup: str, fill: Fill, check: Fill) -> None:
    """Replace `target` in one step; the old file stays as `backup`.

    The backup is a second name of the old file, made first. A backup that already is the old
    file is what a killed run left and counts as made; any other is never replaced.
    """
    temporary, spare = sibling(target), sibling(backup)
    before = made = None
    with Held() as held:
        try:
            before = os.stat(target)
            _make(temporary, fill, check, held)
            os.chmod(temporary, before.st_mode & 0o7777)
            if not _is(backup, before):
                made = _back_up(target, backup, spare, held)
            os.replace(temporary, target)
            made = None
            sync_folder(target)
        except FileExistsError:
            raise backup_exists(backup) from None
        except OSError as e:
            raise write_failed(target, e) from e
        finally:
            _remove(temporary)
            _remove(spare)
            if made is not None and _is(backup, made):
                _remove(backup)


def backup_exists(backup: str) -> Refused:
    """The refusal where the backup's name is taken."""
    return Refused("backup-exists", f"{backup}: a backup exists and is never replaced; move it, or use --backup SUFFIX")


def exists(target: str) -> Refused:
    """The refusal where the output's name is taken."""
    return Refused("output-exists", f"{target}: exists already; use --force to replace it, or -o to write elsewhere")


def write_failed(target: str, error: OSError) -> Failed:
    """What an OSError while writing means, in one line."""
    # HDF5 tells its errno in the middle of a sentence, and not always through the exception.
    number = error.errno or next(
        (n for n in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT) if f"errno = {n}" in str(error)), 0
    )
    if number in (errno.ENOSPC, errno.EDQUOT):
        return Failed("no-space", f"{target}: no space left on the device; free some, or write elsewhere with -o")
    if number in (errno.EACCES, errno.EPERM, errno.EROFS):
        return Failed("not-writable", f"{target}: cannot be written ({os.strerror(number)}); write elsewhere with -o")
    if number in (errno.ENOENT, errno.ENOTDIR):
        return Failed("no-folder", f"{target}: its folder does not exist; make it first")
    reason = os.strerror(number) if number else " ".join(str(error).split())[:200]
    return Failed("write", f"{target}: cannot be written ({reason}); check the disk, or write elsewhere with -o")


def copy(source: str, target: str) -> None:
    """A file's bytes under another name."""
    import shutil

    shutil.copyfile(source, target)


def same(left: str, right: str) -> bool:
    """Whether two files hold the same bytes."""
    import filecmp

    return filecmp.cmp(left, right, shallow=False)


def write_all(file: IO[bytes], data: bytes) -> None:
    """Unbuffered files may take less than they are given."""
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]


def sibling(target: str) -> str:
    """A new name beside the target; unguessable, so that runs side by side never meet."""
    folder, name = os.path.split(target)
    tail = f".{os.urandom(6).hex()}{TEMPORARY}"
    kept = os.fsdecode(os.fsencode(name)[: NAME_MAX - len(tail) - 1])
    return os.path.join(folder, f".{kept}{tail}")


def _make(temporary: str, fill: Fill, check: Fill, held: Held) -> None:
    """The whole file under its temporary name, read back and on the disk."""
    # `fill` makes the file itself, so that the umask decides about permissions as it does for any new
    # file. Made here and truncated there, ext4 would write it all out on close, before the comparison.
    with held.released():
        fill(temporary)
        with open(temporary, "r+b") as file:
            # The disk works while the bytes are compared: both take about as long as a copy.
            syncing = _Sync(file.fileno())
            try:
                check(temporary)
            finally:
                syncing.join()
    if syncing.error:
        raise syncing.error


class _Sync(Thread):
    """fsync in the background; reading what was written does not wait for it."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(daemon=True)
        self.descriptor = descriptor
        self.error: OSError | None = None
        self.start()

    def run(self) -> None:
        try:
            os.fsync(self.descriptor)
        except OSError as e:
            self.error = e


def _name(temporary: str, target: str) -> None:
    """Rename without replacing: a second name first, which fails where there is one already."""
    if not _link(temporary, target):
        # Windows refuses by itself to rename onto a file; elsewhere the look before is all there is.
        if os.path.lexists(target):
            raise FileExistsError(target)
        os.rename(temporary, target)


def _link(path: str, name: str) -> bool:
    """A second name for a file; False where the file system has no such thing."""
    try:
        os.link(path, name, follow_symlinks=os.link not in os.supports_follow_symlinks)
    except FileExistsError:
        raise
    except (OSError, NotImplementedError):
        return False
    return True


def _back_up(target: str, backup: str, spare: str, held: Held) -> os.stat_result:
    """The old file under a second name, or a copy of it where there are no second names."""
    if _link(target, backup):
        return os.stat(target)
    import shutil

    with held.released():
        shutil.copy2(target, spare)
        with open(spare, "rb") as file:
            os.fsync(file.fileno())
            copied = os.fstat(file.fileno())
    _name(spare, backup)
    return copied


def _is(path: str, known: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.stat(path), known)
    except OSError:
        return False


def sync_folder(path: str) -> None:
    """So that the new name survives a power cut; not every system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(os.path.dirname(path) or ".", os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)
