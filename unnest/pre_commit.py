"""The hook that keeps parallel models out of a repository: `python -m unnest.pre_commit FILE...`.

Files that are no models of Keras pass; so do those that cannot be read, with a word, since they are nobody's parallel
model. Exit code 1 where a file is one.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence

from unnest.inspection import inspect
from unnest.report.escape import plain


def main(paths: Sequence[str]) -> int:
    """Inspect each file, and say of each parallel model how to fix it."""
    found = 0
    for path in paths:
        report = inspect(path)
        if report.verdict == "parallel":
            found = 1
            towers = ", ".join(str(w.towers or "several") for w in report.wrappers)
            print(  # noqa: T201 - what a hook says
                plain(f"{path}: a multi-GPU parallel model ({towers} towers of {report.wrappers[-1].template}); run:"),
                plain(f"unnest fix --in-place {shlex.quote(path)}"),
            )
        elif report.error is not None and report.error.code != "not-keras":
            print(plain(f"not checked: {report.error.message}"))  # noqa: T201 - the same
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
