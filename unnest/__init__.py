"""Take the template model out of a saved Keras multi-GPU graph.

    unnest.inspect(path) -> Report
    unnest.fix(path, output=None, **options) -> Result
    unnest.inspect_many(paths, jobs=1, **options) -> iterator of Report
    unnest.fix_many(paths, output=None, jobs=1, **options) -> iterator of Result

The names are loaded on use, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # as type checkers know it; loading `typing` would take most of the time of `import unnest`
if TYPE_CHECKING:
    from unnest.errors import UsageError
    from unnest.inspection import inspect
    from unnest.many_files import fix_many, inspect_many
    from unnest.repair import fix
    from unnest.report.result import Report, Result

__version__ = "1.0.0"

_HOMES = {
    "UsageError": "unnest.errors",
    "fix": "unnest.repair",
    "fix_many": "unnest.many_files",
    "inspect_many": "unnest.many_files",
    "inspect": "unnest.inspection",
    "Report": "unnest.report.result",
    "Result": "unnest.report.result",
}

__all__ = [
    "Report",
    "Result",
    "UsageError",
    "__version__",
    "fix",
    "fix_many",
    "inspect",
    "inspect_many",
]


def __getattr__(name: str) -> object:
    if name == "keras":  # which loads Keras, and so only where it is asked for
        return import_module("unnest.keras")
    if name not in _HOMES:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
