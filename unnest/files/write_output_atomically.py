"""The only place that gives an output its name. The output is complete or absent.

`publish_file`, `publish_folder` and `publish_parts` have it made in a staging folder beside its place, have it read
back, sync it, and only then give it its name: in one step, or for a checkpoint's several files all of them or none.
`replace_input` does so for the input itself. Whatever goes wrong before, a signal included, the staging folder is
removed.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Literal, TypeAlias

from unnest.errors import UnnestError
from unnest.files import overwrite_checks, portable_file_operations
from unnest.files.background_sync import BackgroundSync
from unnest.files.copy_and_compare import check_files_equal, copy_file, files_equal, folders_equal
from unnest.files.interrupts import DeferredSignals, completed_outputs
from unnest.files.staging_folder import StagingFolder
from unnest.files.write_errors import exists, write_failed

#: Writes the file, or fills the folder, at a path.
Fill: TypeAlias = Callable[[str], object]
#: Reads back what was written at a path. Raises UnnestError where it is not what was meant.
Check: TypeAlias = Callable[[str], None]
WriteOutcome: TypeAlias = Literal["written", "same"]

#: Permission bits by a file's path in a folder; "" is a folder itself, or the one file.
Modes: TypeAlias = Callable[[str], int]


def publish_file(
    target: str, fill: Fill, check: Check, *, force: bool = False, modes: Modes | None = None
) -> WriteOutcome:
    """Write the file `target` with `fill`, read it back with `check`, give it its name.

    What is there already stays, unless `force`: the same bytes are the outcome "same", anything else is Refused. Raises
    Failed where the machine does not do its part.
    """
    with open_staging_folder(target) as (work, signals):
        with signals.allowed():
            fill_and_check(work.new_path, partial(_with_modes, work, modes, fill), check)
            if os.path.isfile(target) and files_equal(work.new_path, target):
                return "same"
        if force:
            overwrite_checks.check_same_kind(target, folder=False)
        work.move([work.name], replace=force)
        completed_outputs.append(target)
    return "written"


def publish_folder(
    target: str, fill: Fill, check: Check, *, force: bool = False, modes: Modes | None = None
) -> WriteOutcome:
    """Fill a new folder, read it back, sync it and rename it to the target, as `publish_file` does with a file."""
    with open_staging_folder(target) as (work, signals):
        target = work.target
        with signals.allowed():
            os.mkdir(work.new_path)
            fill_and_check(work.new_path, partial(_with_modes, work, modes, fill), check)
            if portable_file_operations.is_folder(target) and folders_equal(work.new_path, target):
                return "same"
        if force:
            overwrite_checks.check_same_kind(target, folder=True, new_folder=work.new_path)
        work.move([work.name], replace=force)
        _still_replaceable(work)
        completed_outputs.append(target)
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
    with open_staging_folder(target) as (work, signals):
        with signals.allowed():
            for path, name in sources:
                fill = partial(_with_modes, work, modes, partial(copy_file, path))
                fill_and_check(work.part(name), fill, partial(check_files_equal, path))
            places = [os.path.join(work.folder, name) for name in names]
            if all(
                os.path.isfile(p) and files_equal(work.part(n), p)
                for n, p in zip(names, places, strict=True)
            ):
                return "same"
        for place in places if force else ():
            overwrite_checks.check_same_kind(place, folder=False)
        work.move(names, replace=force, stale=stale if force else ())
        completed_outputs.append(target)
    return "written"


@contextlib.contextmanager
def open_staging_folder(
    target: str, *, alone: bool = False
) -> Iterator[tuple[StagingFolder, DeferredSignals]]:
    """Open a staging folder with signals held; errors in it name the target, not the temporary path."""
    with DeferredSignals() as signals:
        work: StagingFolder | None = None
        try:
            with StagingFolder(target, alone=alone) as work:
                yield work, signals
        except FileExistsError:
            raise exists(target) from None
        except UnnestError as e:
            raise type(e)(e.code, _with_target_name(e.message, work)) from e
        except OSError as e:
            raise write_failed(target, e) from e


def _with_target_name(message: str, work: StagingFolder | None) -> str:
    return message if work is None or not work.path else message.replace(work.new_path, work.target)


def fill_and_check(path: str, fill: Fill, check: Check) -> None:
    """Fill a file, sync it while it is filled, and read it back; syncing takes about as long as copying."""
    with BackgroundSync(path) as sync:
        fill(path)
        sync.writing_is_over()
        check(path)


def _with_modes(work: StagingFolder, modes: Modes | None, fill: Fill, path: str) -> None:
    """Fill the path, and set the modes of all that is in the staging folder."""
    fill(path)
    _set_modes(work, modes)


def _set_modes(work: StagingFolder, modes: Modes | None) -> None:
    """Give the new files the input's permission bits less the umask, as `cp` does.

    Until then only this user can look into the staging folder.
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
            bits = modes(path_in_target) & work.permission_bits
            with contextlib.suppress(OSError):  # not every file system has them
                os.chmod(path, bits | 0o700 if name in folders else bits)


def _still_replaceable(work: StagingFolder) -> None:
    """Raise Refused if something was put into the old folder before it is replaced."""
    if work.replaced is not None:
        overwrite_checks.check_holds_saved_model_alone(work.replaced, work.target, work.target)
