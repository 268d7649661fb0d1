"""Errors of writing outputs: names that are taken, inputs that changed, and what the system reports."""

from __future__ import annotations

import errno
import os
import re

from unnest.errors import Failed, Refused


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
