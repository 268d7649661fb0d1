"""The exceptions of the package, by whose fault they are; anything else that is raised is a bug.

Every message is one line: what is wrong, where, and what to do next.
"""

from __future__ import annotations


class UnnestError(Exception):
    """Base of all; `code` is stable and ends up in reports, `message` is one line."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class UsageError(UnnestError):
    """The caller's mistake: options that contradict each other, an output that is the input."""


class Unreadable(UnnestError):
    """The file's: missing, torn, hostile, or not a model at all."""


class Refused(UnnestError):
    """The file is valid, but the request cannot be fulfilled without doubt."""


class Failed(UnnestError):
    """The machine's: no space, no permission, a disk that does not read back what was written."""
