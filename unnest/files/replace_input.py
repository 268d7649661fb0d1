"""Replace an input by what was made from it (`--in-place`), in one step, with a backup of the old file.

The backup is a second name of the old file, made first. A file that changed since it was read stays.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from typing import NamedTuple

from unnest.files import portable_file_operations
from unnest.files.copy_and_compare import files_equal
from unnest.files.interrupts import DeferredSignals, completed_outputs
from unnest.files.portable_file_operations import sync_folder
from unnest.files.staging_folder import StagingFolder
from unnest.files.write_errors import backup_exists, changed
from unnest.files.write_output_atomically import Check, Fill, fill_and_check, open_staging_folder

#: The part that becomes a backup where there are no hard links.
BACKUP_COPY = "backup"


#: Inputs that are as small as this are compared whole before they are replaced.
COMPARED_WHOLE_UP_TO = 1 << 20


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
    with open_staging_folder(target, alone=True) as (work, signals):
        read = read or Fingerprint.of(target)
        try:
            with signals.allowed():
                fill_and_check(work.new_path, fill, check)
            if read is None or not read.is_of(target):
                raise changed(target)
            old_status = read.status
            _keep_attributes(target, work.new_path, old_status)
            _check_may_rename(work.folder or ".", old_status)
            if not _is_backup(backup, target):
                new_status, backup_status = os.stat(work.new_path), os.stat(target)
                if not portable_file_operations.link(target, backup):
                    backup_status = _copy_as_backup(work, target, signals)
                    portable_file_operations.rename_new(work.part(BACKUP_COPY), backup)
            _take_place(work.new_path, target, read)
            backup_status = None
            completed_outputs.append(target)
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
    if not portable_file_operations.exchange(new_path, target):
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
            portable_file_operations.exchange(new_path, target)
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
            and files_equal(target, backup)
        )
    except OSError:
        return False


def _copy_as_backup(work: StagingFolder, target: str, signals: DeferredSignals) -> os.stat_result:
    """Copy the old file as the part BACKUP_COPY, where hard links do not exist; return its status."""
    import shutil

    spare = work.part(BACKUP_COPY)
    with signals.allowed():
        shutil.copy2(target, spare)
        portable_file_operations.sync(spare)
    return os.stat(spare)


def _is_same_file(path: str, status: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.stat(path), status)
    except OSError:
        return False


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)
