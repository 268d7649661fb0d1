"""The only place that creates or replaces what a user named. It is complete or absent.

`publish`, `publish_folder` and `publish_parts` have it made in a workspace beside its place, have it read back, sync
it, and only then give it its name: in one step, or for a checkpoint's several files all of them or none. `replace` does
so for the input itself. Whatever goes wrong before, a signal included, the workspace is removed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Literal, NamedTuple, TypeAlias

from unnest.errors import Failed, Refused, UnnestError
from unnest.files import os_calls, overwrite_checks
from unnest.files.background_sync import Syncing
from unnest.files.interrupts import Held, completed
from unnest.files.os_calls import same, sync_folder
from unnest.files.workspace import Workspace

Fill: TypeAlias = Callable[[str], None]
Check: TypeAlias = Callable[[str], None]
WriteOutcome: TypeAlias = Literal["written", "same"]

#: Permission bits by a file's path in a folder; "" is a folder itself, or the one file.
Modes: TypeAlias = Callable[[str], int]

#: The part that becomes a backup where there are no hard links.
COPY = "backup"

#: Inputs that are as small as this are compared whole before they are replaced.
COMPARED_WHOLE_UP_TO = 1 << 20


def publish(
    target: str, fill: Fill, check: Check, *, force: bool = False, modes: Modes | None = None
) -> WriteOutcome:
    """Write the file `target` with `fill`, read it back with `check`, give it its name.

    What is there already stays, unless `force`: the same bytes are the outcome "same", anything else is Refused. Raises
    Failed where the machine does not do its part.
    """
    with _workspace(target) as (work, held):
        with held.released():
            _fill_and_check(work.new_path, partial(_with_modes, work, modes, fill), check)
            if os.path.isfile(target) and same(work.new_path, target):
                return "same"
        if force:
            overwrite_checks.check_kind(target, folder=False)
        work.move([work.name], replace=force)
        completed.append(target)
    return "written"


def publish_folder(
    target: str, fill: Fill, check: Check, *, force: bool = False, modes: Modes | None = None
) -> WriteOutcome:
    """Fill a new folder, read it back, sync it and rename it to the target, as `publish` does with a file."""
    with _workspace(target) as (work, held):
        target = work.target
        with held.released():
            os.mkdir(work.new_path)
            _fill_and_check(work.new_path, partial(_with_modes, work, modes, fill), check)
            if os_calls.is_folder(target) and same_tree(work.new_path, target):
                return "same"
        if force:
            overwrite_checks.check_kind(target, folder=True, new_folder=work.new_path)
        work.move([work.name], replace=force)
        _still_replaceable(work)
        completed.append(target)
    return "written"


def publish_parts(
    target: str,
    sources: Sequence[tuple[str, str]],
    *,
    force: bool = False,
    stale: Sequence[str] = (),
    modes: Modes | None = None,
) -> WriteOutcome:
    """Copy several files under names that begin with the target's: all of them, or none.

    `sources`: (file, its part's name beside the target), the deciding one last. `stale`: parts of what is replaced that
    no new one replaces.
    """
    names = [name for _, name in sources]
    with _workspace(target) as (work, held):
        with held.released():
            for path, name in sources:
                fill = partial(_with_modes, work, modes, partial(copy, path))
                _fill_and_check(work.part(name), fill, partial(same_bytes, path))
            places = [os.path.join(work.folder, name) for name in names]
            if all(
                os.path.isfile(p) and same(work.part(n), p)
                for n, p in zip(names, places, strict=True)
            ):
                return "same"
        for place in places if force else ():
            overwrite_checks.check_kind(place, folder=False)
        work.move(names, replace=force, stale=stale if force else ())
        completed.append(target)
    return "written"


class Fingerprint(NamedTuple):
    """Identity and, for small files, the content of a file at the moment it was read."""

    status: os.stat_result
    content: bytes | None

    @classmethod
    def of(cls, path: str) -> Fingerprint | None:
        """Take the fingerprint before a file is read; None if it cannot be read, which its reader reports better."""
        try:
            status = os.stat(path)
            if not stat.S_ISREG(status.st_mode) or status.st_size > COMPARED_WHOLE_UP_TO:
                return cls(status, None)
            with open(path, "rb") as file:
                return cls(status, file.read())
        except OSError:
            return None

    def is_of(self, path: str) -> bool:
        """Return True if this very file is at `path`, unchanged."""
        try:
            status_now = os.stat(path)
            if not os.path.samestat(status_now, self.status) or _change(status_now) != _change(
                self.status
            ):
                return False
            if self.content is None:
                return True
            with open(path, "rb") as file:
                return file.read() == self.content
        except OSError:
            return False


def replace(
    target: str, backup: str, fill: Fill, check: Check, read: Fingerprint | None = None
) -> None:
    """Replace `target` in one step; the old file stays as `backup`.

    The backup is a second name of the old file, made first. A backup that already is the old file is what a killed run
    left and counts as made; any other is never replaced. `read` is what the new file was made from: where something
    else is there by now, it stays.
    """
    backup_status = None
    with _workspace(target, alone=True) as (work, held):
        read = read or Fingerprint.of(target)
        try:
            with held.released():
                _fill_and_check(work.new_path, fill, check)
            if read is None or not read.is_of(target):
                raise changed(target)
            old_status = read.status
            _keep_attributes(target, work.new_path, old_status)
            _check_may_rename(work.folder or ".", old_status)
            if not _is_backup(backup, target):
                new_status, backup_status = os.stat(work.new_path), os.stat(target)
                if not os_calls.link(target, backup):
                    backup_status = _copied(work, target, held)
                    os_calls.rename_new(work.part(COPY), backup)
            _take_place(work.new_path, target, read)
            backup_status = None
            completed.append(target)
            sync_folder(work.folder)
        except FileExistsError:
            raise backup_exists(backup) from None
        finally:
            # Only while the new file has not taken its place: afterwards a backup may be all that is left of the old.
            if (
                backup_status is not None
                and _is_same_file(work.new_path, new_status)
                and _is_same_file(backup, backup_status)
            ):
                _remove(backup)


def may_back_up(backup: str, target: str) -> bool:
    """Return True if the backup's name is free, or holds a backup that a killed run made."""
    return not os.path.lexists(backup) or _is_backup(backup, target)


def backup_exists(backup: str) -> Refused:
    """Return the refusal for a backup whose name is taken."""
    return Refused(
        "backup-exists",
        f"{backup}: a backup exists and is never replaced; move it, or use --backup SUFFIX",
    )


def changed(target: str) -> Refused:
    """Return the refusal for an input that changed since it was read."""
    if not os.path.lexists(target):
        return Refused(
            "changed", f"{target}: was removed while unnest read it; nothing was written"
        )
    return Refused(
        "changed",
        f"{target}: changed while unnest read it; run again when no other program writes it",
    )


def exists(target: str) -> Refused:
    """Return the refusal for an output whose name is taken."""
    return Refused(
        "output-exists",
        f"{target}: exists already; use --force to replace it, or -o to write elsewhere",
    )


def write_failed(target: str, error: OSError | RuntimeError) -> Failed:
    """Translate an error of the system, or HDF5's report of one, into a one-line `Failed` for a file being written."""
    # HDF5 puts its errno in the middle of a sentence, and not always through the exception.
    in_message = re.search(r"errno = (\d+)", str(error))
    number = getattr(error, "errno", None) or (int(in_message[1]) if in_message else 0)
    folder = os.path.dirname(target) or "."
    if number in (errno.ENOSPC, errno.EDQUOT):
        return Failed(
            "no-space",
            f"{target}: no space left on the device; free some, or write elsewhere with -o",
        )
    if number in (errno.EACCES, errno.EPERM, errno.EROFS):
        return Failed(
            "not-writable",
            f"{target}: cannot be written ({os.strerror(number)}); write elsewhere with -o",
        )
    if number in (errno.ENOENT, errno.ENOTDIR) and not os.path.isdir(folder):
        return Failed("no-folder", f"{target}: its folder does not exist; make it first")
    reason = os.strerror(number) if number else " ".join(str(error).split())[:200]
    advice = (
        "check the disk, or write elsewhere with -o"
        if number == errno.EIO
        else "write elsewhere with -o"
    )
    return Failed("write", f"{target}: cannot be written ({reason}); {advice}")


def same_bytes(source_path: str, copied: str) -> None:
    """Compare a copy with its source.

    Raises:
        Failed: the bytes differ.

    """
    if not same(source_path, copied):
        raise Failed(
            "read-back", f"{copied}: the copy reads back differently; the disk may be failing"
        )


def bytes_writer(data: bytes) -> tuple[Fill, Check]:
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


def copy(source_path: str, target: str) -> None:
    """Copy a file's bytes to a new name."""
    os_calls.copy_file(source_path, target)


def copy_tree(source_path: str, target: str) -> None:
    """Copy a folder's files into an existing folder."""
    for folder, folders, files in os.walk(source_path):
        target_folder = os.path.normpath(os.path.join(target, os.path.relpath(folder, source_path)))
        for name in folders:
            os.mkdir(os.path.join(target_folder, name))
        for name in files:
            os_calls.copy_file(os.path.join(folder, name), os.path.join(target_folder, name))


def same_tree(left: str, right: str) -> bool:
    """Return True if two folders hold the same files with the same bytes."""
    names = [_names(folder) for folder in (left, right)]
    return names[0] == names[1] and all(
        same(os.path.join(left, n), os.path.join(right, n)) for n in names[0]
    )


@contextlib.contextmanager
def _workspace(target: str, *, alone: bool = False) -> Iterator[tuple[Workspace, Held]]:
    """Open a workspace with signals held; errors in it name the target, not the temporary path."""
    with Held() as held:
        work: Workspace | None = None
        try:
            with Workspace(target, alone=alone) as work:
                yield work, held
        except FileExistsError:
            raise exists(target) from None
        except UnnestError as e:
            raise type(e)(e.code, _with_target_name(e.message, work)) from e
        except OSError as e:
            raise write_failed(target, e) from e


def _with_target_name(message: str, work: Workspace | None) -> str:
    return message if work is None or not work.path else message.replace(work.new_path, work.target)


def _fill_and_check(path: str, fill: Fill, check: Check) -> None:
    """Fill a file, sync it while it is filled, and read it back; syncing takes about as long as copying."""
    with Syncing(path) as syncing:
        fill(path)
        syncing.filled()
        check(path)


def _with_modes(work: Workspace, modes: Modes | None, fill: Fill, path: str) -> None:
    """Fill the path, and set the modes of all that is in the workspace."""
    fill(path)
    _set_modes(work, modes)


def _set_modes(work: Workspace, modes: Modes | None) -> None:
    """Give the new files the input's permission bits less the umask, as `cp` does.

    Until then only this user can look into the workspace.
    """
    if modes is None:
        return
    new_root = os.path.dirname(work.new_path)
    for folder, folders, files in os.walk(new_root):
        for name in (*folders, *files):
            path = os.path.join(folder, name)
            path_in_target = (
                os.path.relpath(path, new_root).partition(os.sep)[2].replace(os.sep, "/")
            )
            bits = modes(path_in_target) & work.permitted
            with contextlib.suppress(OSError):  # not every file system has them
                os.chmod(path, bits | 0o700 if name in folders else bits)


def _still_replaceable(work: Workspace) -> None:
    """Raise Refused if something was put into the old folder before it is replaced."""
    if work.replaced is not None:
        overwrite_checks.check_folder(work.replaced, work.target, work.target)


def _keep_attributes(source_path: str, target: str, old_status: os.stat_result) -> None:
    """Copy owner, extended attributes (access lists among them) and mode, as far as the caller may."""
    new_status = os.stat(target)
    for owner, group in ((-1, old_status.st_gid), (old_status.st_uid, -1)):
        if owner not in (-1, new_status.st_uid) or group not in (-1, new_status.st_gid):
            with contextlib.suppress(OSError, AttributeError):  # AttributeError: Windows
                os.chown(target, owner, group)
    with contextlib.suppress(OSError, AttributeError):
        for name in os.listxattr(source_path):
            with contextlib.suppress(OSError):
                os.setxattr(target, name, os.getxattr(source_path, name))
    with contextlib.suppress(OSError):
        os.chmod(target, stat.S_IMODE(old_status.st_mode))


def _take_place(new_path: str, target: str, read: Fingerprint) -> None:
    """Rename the new file to the target in one step, and check it: a file saved this very moment is put back."""
    if not os_calls.exchange(new_path, target):
        os.replace(new_path, target)
        return
    was_read = False
    try:
        taken_status = os.stat(new_path, follow_symlinks=False)
        was_read = os.path.samestat(taken_status, read.status) and _change(taken_status) == _change(
            read.status
        )
    finally:
        if not was_read:
            os_calls.exchange(new_path, target)
    if not was_read:
        raise changed(target)


def _change(status: os.stat_result) -> tuple[int, int]:
    return status.st_size, status.st_mtime_ns


def _check_may_rename(folder: str, status: os.stat_result) -> None:
    """Check that this user may rename a file in a folder.

    In a sticky folder (/tmp) only a file's owner may. A backup could be made there, but only that owner could remove
    it.

    Raises:
        PermissionError: the folder is sticky, and neither it nor the file belongs to this user.

    """
    if not hasattr(os, "geteuid"):
        return
    folder_status = os.stat(folder)
    if folder_status.st_mode & stat.S_ISVTX and os.geteuid() not in (
        0,
        folder_status.st_uid,
        status.st_uid,
    ):
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM), folder)


def _is_backup(backup: str, target: str) -> bool:
    """Return True if a killed run made this backup: a hard link to the input, or a copy with its time and bytes."""
    try:
        old_status, backup_status = os.stat(target), os.stat(backup, follow_symlinks=False)
        return os.path.samestat(old_status, backup_status) or (
            stat.S_ISREG(backup_status.st_mode)
            and _change(old_status) == _change(backup_status)
            and same(target, backup)
        )
    except OSError:
        return False


def _copied(work: Workspace, target: str, held: Held) -> os.stat_result:
    """Copy the old file as the part COPY, where hard links do not exist; return its status."""
    import shutil

    spare = work.part(COPY)
    with held.released():
        shutil.copy2(target, spare)
        os_calls.sync(spare)
    return os.stat(spare)


def _is_same_file(path: str, status: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.stat(path), status)
    except OSError:
        return False


def _names(folder: str) -> list[str]:
    return sorted(os.path.relpath(path, folder) for path in os_calls.files_in(folder))


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)
