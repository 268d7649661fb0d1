"""The hook that keeps parallel models out of a repository: `python -m unnest.pre_commit FILE...`.

Git knows files alone: of a SavedModel its graph is named, of a checkpoint its index, and the model that they belong to
is inspected, once. Files that are no models of Keras pass; so do those that cannot be read, with a word, since nothing
shows that they are parallel models. Exit code 1 where a file is one.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterable, Sequence

from unnest.formats.container_interface import MODEL_SUFFIXES
from unnest.formats.detect_container import (
    SAVED_MODEL_MARKS,
    checkpoint_prefix,
    is_checkpoint_part,
    may_be_model,
)
from unnest.inspection import inspect
from unnest.report.escape_stored_names import plain
from unnest.report.result import Report


def main(paths: Sequence[str]) -> int:
    """Inspect each model, and print for each parallel one the command that fixes it."""
    found = 0
    for path in dict.fromkeys(_models(paths)):
        report = inspect(path)
        if report.verdict == "parallel":
            found = 1
            towers = ", ".join(str(w.towers or "several") for w in report.wrappers)
            print(  # noqa: T201 - what a hook says
                plain(
                    f"{path}: a multi-GPU parallel model ({towers} towers of {report.wrappers[-1].template}); run:"
                ),
                plain(_command(report)),
            )
        elif report.error is not None and report.error.code != "not-keras":
            print(plain(f"not checked: {report.error.message}"))  # noqa: T201 - the same
    return found


def _models(paths: Iterable[str]) -> Iterable[str]:
    """Return the models that files belong to, without those that neither are one nor bear a model's name."""
    for path in paths:
        if os.path.basename(path) in SAVED_MODEL_MARKS:
            yield os.path.dirname(path) or "."
        elif is_checkpoint_part(path):
            yield checkpoint_prefix(path)
        elif path.lower().endswith(MODEL_SUFFIXES) or (os.path.isfile(path) and may_be_model(path)):
            yield path


#: Containers of a single file that is replaced by what is written.
REPLACED = ("h5", "keras", "weights_h5", "json")


def _command(report: Report) -> str:
    """Return the command that fixes a model, in place if it is one file."""
    is_replaced = report.container in REPLACED and not report.path.lower().endswith(
        (".yaml", ".yml")
    )
    option = " --in-place" if is_replaced and os.path.isfile(report.path) else ""
    return f"unnest fix{option} {shlex.quote(report.path)}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
