"""Names of files that are written: default outputs, backups, and what a walk knows as ours."""

from __future__ import annotations

import os
import re

from unnest.files.staging_folder import STAGING_NAME
from unnest.outputs.container_suffixes import CONTAINER_BY_SUFFIX

#: What the name of a replaced input ends in by default.
BACKUP = ".bak"
#: What stands in a default output's name before its suffix.
MARK = ".unnested"


#: Containers whose names are no file's: a dot in one is no suffix.
BARE = ("saved_model", "checkpoint")


_OWN_OUTPUT = re.compile(re.escape(MARK) + r"(\.weights\.h5|\.[^.]+)?$", re.IGNORECASE)


def default_output(
    path: str, suffix: str | None = None, *, bare: bool = False, mark: str = MARK
) -> str:
    """Return `model.unnested.h5` for `model.h5`, with `suffix` if the output is of another container.

    A folder's or a checkpoint's name is `bare`: a dot in it is no suffix. In a folder for all the name has no `mark`.
    """
    stem, own = (path.rstrip("/\\") or path, "") if bare else split_suffix(path)
    return f"{stem}{mark}{own if suffix is None else suffix}"


def default_outputs(path: str, mark: str = MARK) -> set[str]:
    """Return every name that `default_output` may return for a path, whatever container is written."""
    suffixes = (None, "", *(suffix for suffix, _, _ in CONTAINER_BY_SUFFIX))
    return {
        default_output(path, suffix, bare=bare, mark=mark)
        for suffix in suffixes
        for bare in (False, True)
    }


def stems(path: str) -> set[str]:
    """Return the stems of all `default_outputs` of a path: paths that share none never write to one place."""
    whole = path.rstrip("/\\") or path
    return {stem.removesuffix(".weights") for stem in (whole, split_suffix(path)[0])}


def split_suffix(path: str) -> tuple[str, str]:
    """Return stem and suffix; a `.weights` before it belongs to the suffix."""
    path = path.rstrip("/\\") or path
    stem, suffix = os.path.splitext(path)
    if suffix.lower() in (".h5", ".json") and stem.lower().endswith(".weights"):
        stem = stem[: -len(".weights")]
    return stem, path[len(stem) :]


def can_end_a_name(text: str) -> bool:
    """Return True if a name with this appended is another file in the same folder."""
    return bool(text) and not {"/", "\\", "\0"} & set(text)


def is_ours(name: str, backup: str = BACKUP) -> bool:
    """Return True for outputs, backups and leftovers of killed runs, which a walk skips."""
    return bool(_OWN_OUTPUT.search(name) or STAGING_NAME.search(name)) or name.endswith(
        (backup, BACKUP)
    )
