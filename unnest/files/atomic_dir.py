"""Creating and replacing folders: the counterpart of `write.publish` for containers that are one.

The same promise: a folder is complete or absent, it gets its name in one step, and what a killed run leaves is known
by its name and blocks nobody.
"""

from __future__ import annotations

import os

from unnest.files import atomic
from unnest.files.atomic import Fill, Outcome


def publish(target: str, fill: Fill, check: Fill, *, force: bool = False) -> Outcome:
    """Fill a temporary sibling folder, read it back, sync it, give it its name. As `write.publish`."""
    from concurrent.futures import ThreadPoolExecutor

    target = target.rstrip("/\\") or target
    temporary, aside = atomic.sibling(target), atomic.sibling(target)
    try:
        os.mkdir(temporary)
        fill(temporary)
        # The disk works while the bytes are compared: both take about as long as a copy.
        with ThreadPoolExecutor(1) as syncing:
            synced = syncing.submit(_sync, temporary)
            check(temporary)
            synced.result()
        if os.path.isdir(target) and not os.path.islink(target) and same_tree(temporary, target):
            return "same"
        if os.path.lexists(target):
            if not force:
                raise atomic.exists(target)
            os.rename(target, aside)
        try:
            os.rename(temporary, target)
        except OSError:
            if os.path.lexists(aside):
                os.rename(aside, target)
            raise
        atomic.sync_folder(target)
    except OSError as e:
        raise atomic.write_failed(target, e) from e
    finally:
        _remove(temporary)
        _remove(aside)
    return "written"


def copy(source: str, target: str) -> None:
    """A folder's files, into a folder that is there."""
    import shutil

    shutil.copytree(source, target, dirs_exist_ok=True, symlinks=True)


def same_tree(left: str, right: str) -> bool:
    """Whether two folders hold the same files with the same bytes."""
    names = [_names(folder) for folder in (left, right)]
    return names[0] == names[1] and all(atomic.same(os.path.join(left, n), os.path.join(right, n)) for n in names[0])


def _names(folder: str) -> list[str]:
    return sorted(
        os.path.relpath(os.path.join(root, name), folder) for root, _, files in os.walk(folder) for name in files
    )


def _sync(folder: str) -> None:
    for name in _names(folder):
        with open(os.path.join(folder, name), "rb") as file:
            os.fsync(file.fileno())
    for root, _, _ in os.walk(folder):
        atomic.sync_folder(os.path.join(root, "."))


def _remove(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        import shutil

        shutil.rmtree(path, ignore_errors=True)
    elif os.path.lexists(path):
        os.unlink(path)
