"""What inspect() and fix() return: values that the reports render and callers read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from unnest.core.keras3.context import Conversion
from unnest.core.keras_facts.loading import Needs
from unnest.core.model import NearMiss, Template, Wrapper
from unnest.findings import Finding

if TYPE_CHECKING:
    from unnest.report.diagram.drawing import Drawing

Action: TypeAlias = Literal["fixed", "converted", "unchanged", "would-fix", "would-convert", "refused", "failed"]


class Problem(NamedTuple):
    """Why a file could not be read, or not be fixed: one line, and a stable code."""

    code: str
    message: str


class Writer(NamedTuple):
    """Who wrote the file, as far as it says."""

    keras_version: str | None = None
    backend: str | None = None


class Kept(NamedTuple):
    """What the output holds."""

    layers: int
    tensors: int
    parameters: int
    #: Tensors of the optimizer's state; None where there is none.
    optimizer: int | None


class AsKeras3(NamedTuple):
    """What `fix --keras 3` would do with a file: why it refuses it, or what has to be given beside the path."""

    refusal: str | None = None
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One model: what it is, and whether it is a parallel one."""

    path: str
    container: str | None = None
    contents: str | None = None
    writer: Writer = field(default_factory=Writer)
    verdict: Literal["clean", "parallel", "unreadable"]
    wrappers: tuple[Wrapper, ...] = ()
    template: Template | None = None
    optimizer: str | None = None
    findings: tuple[Finding, ...] = ()
    #: Why the nearest candidates are no wrappers.
    near_misses: tuple[NearMiss, ...] = ()
    #: What fix would do to a parallel model.
    fix_would: str | None = None
    error: Problem | None = None
    #: Where the file loads, or, of `fix`, its output, and the Python line that loads it.
    loads_in: tuple[str, ...] = ()
    load: str | None = None
    #: The Keras of today that does not load it, or may compute something else -> why.
    does_not_load_in: Mapping[str, str] = field(default_factory=dict)
    #: Of what Keras 3 does not load: what --keras 3 would do with it, where that was asked; no part of the JSON report.
    as_keras_3: AsKeras3 | None = None
    #: What has to be given to load it.
    needs: Needs = field(default_factory=Needs)
    #: The picture of it, where it was asked for; no part of the JSON report.
    drawing: Drawing | None = None

    def raise_for_error(self) -> None:
        """Raise what the file's error is, if it has one.

        Raises:
            ValueError: the file could not be read, or not be fixed; the message is `error.message`.

        """
        if self.error is not None:
            raise ValueError(self.error.message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result(Report):
    """One model, and what fix made of it."""

    action: Action
    output: str | None = None
    backup: str | None = None
    checks: tuple[str, ...] = ()
    kept: Kept | None = None
    #: Tensors of the wrapper, by name: in the input, not in the output.
    dropped: tuple[str, ...] = ()
    #: With --keras 3, what its rules changed.
    conversions: tuple[Conversion, ...] = ()


@dataclass(slots=True)
class Tally:
    """Many entries in numbers."""

    verdicts: Counter[str] = field(default_factory=Counter)
    actions: Counter[str] = field(default_factory=Counter)
    #: (verdict, container or error code, Keras's version) -> entries.
    kinds: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    #: Entries with an error.
    troubled: int = 0

    @property
    def files(self) -> int:
        """How many there were."""
        return self.verdicts.total()

    def add(self, entry: Report) -> None:
        """One more."""
        self.verdicts[entry.verdict] += 1
        what = entry.error.code if entry.error is not None else entry.container or ""
        self.kinds[entry.verdict, what, entry.writer.keras_version or ""] += 1
        self.troubled += entry.error is not None
        if isinstance(entry, Result):
            self.actions[entry.action] += 1
