"""The result of fix(): a report with what became of the file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from unnest.report.result import Action, CopyState, Kept, Report

if TYPE_CHECKING:
    from unnest.core.keras3.conversion_context import Conversion


@dataclass(frozen=True, slots=True, kw_only=True)
class Result(Report):
    """One model, and what fix made of it."""

    action: Action
    """`fixed`, `converted`, `unchanged`, `would-fix`, `would-convert`, `refused` or `failed`."""
    output: str | None = None
    """The path that was written."""
    backup: str | None = None
    """With `in_place`, where the old file is."""
    stub: str | None = None
    """The module that `stub` asked for and that was written; no part of the JSON report."""
    copy_state: CopyState | None = None
    """`copied` or `would-copy`, for a clean input (`unchanged`) with another output; no part of the JSON report."""
    checks: tuple[str, ...] = ()
    """What was compared when the output was read back."""
    kept: Kept | None = None
    """What the output holds, in numbers."""
    dropped: tuple[str, ...] = ()
    """Tensors of the wrapper, by name: in the input, not in the output."""
    conversions: tuple[Conversion, ...] = ()
    """With --keras 3, what its rules changed."""
