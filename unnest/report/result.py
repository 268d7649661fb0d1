"""Results of inspect() and fix(): values that the reports render and callers read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

from unnest.core.keras_facts.custom_objects_needed_to_load import Needs
from unnest.core.recognition_results import NearMiss, Template, Wrapper
from unnest.findings import Finding

if TYPE_CHECKING:
    from unnest.core.keras3.conversion_context import Conversion
    from unnest.report.diagram.drawing import Drawing
    from unnest.report.page.model_view import ModelView

T = TypeVar("T")

Action: TypeAlias = Literal[
    "fixed", "converted", "unchanged", "would-fix", "would-convert", "refused", "failed"
]
CopyState: TypeAlias = Literal["copied", "would-copy"]


class Problem(NamedTuple):
    """The reason why a file could not be read, or not be fixed: one line, and a stable code."""

    code: str
    """One of the error codes."""
    message: str
    """One line: what is wrong, where, what to do."""


class Writer(NamedTuple):
    """The Keras that wrote the file, as far as it says."""

    keras_version: str | None = None
    """As in `2.2.4` or `2.2.4-tf`."""
    backend: str | None = None
    """As in `tensorflow`."""


class Kept(NamedTuple):
    """The content of the output."""

    layers: int
    """Number of layers; 0 where the output does not say of which layers its weights are."""
    tensors: int
    """Number of weights."""
    parameters: int
    """Number of scalars in them."""
    optimizer: int | None
    """Number of tensors of the optimizer's state, or None."""


class AsKeras3(NamedTuple):
    """The effect of `fix --keras 3` on a file, or why it is refused.

    `opens`: whether Keras 3 opens the file as it is, for certain, and computes what it did, but for what is `altered`,
    each with its layers. `compile_false`: without its training configuration, whose forms are Keras 2's.
    """

    refusal: str | None = None
    opens: bool = False
    altered: tuple[str, ...] = ()
    compile_false: bool = False


class Inside(NamedTuple):
    """The content of a model in numbers, and the names that its stored code uses, for a verbose report."""

    layers: int
    """Number of layers, those of nested models included; 0 where the file does not say."""
    parameters: int
    """Number of scalars in the weights."""
    inputs: tuple[str, ...] = ()
    """Layers with the shapes of their tensors, as in `image (None, 32, 32, 3)`."""
    outputs: tuple[str, ...] = ()
    """The same for the outputs."""
    code: tuple[tuple[str, tuple[str, ...] | None], ...] = ()
    """Layers that keep code, each with the names of globals, attributes and imports in it; None if it is unreadable."""
    has_other_numbers: bool = False
    """True if `parameters` may count an optimizer's variables too, which the names alone do not tell apart."""


class Picture(str):
    """A drawing as text: SVG, HTML or Mermaid. A notebook shows SVG and HTML as what they are."""

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        return str(self) if self.lstrip().startswith("<") else None


class Inspector(Protocol):
    """A function that reports what is in a file, with a drawing if `draw` is set."""

    def __call__(self, path: str, /, *, draw: bool = ...) -> Report:
        """Return the report; a bad file is a report with an `error`."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Report:
    """One model: what it is, and whether it is a parallel one."""

    path: str
    """As given; of a URL without user, password and query."""
    container: str | None = None
    """`h5`, `keras`, `weights_h5`, `saved_model`, `checkpoint`, `json` or `tfjs`; None if unreadable."""
    contents: str | None = None
    """`model`, `weights` or `architecture`."""
    writer: Writer = field(default_factory=Writer)
    """The Keras that wrote the file, and its backend."""
    verdict: Literal["clean", "parallel", "unreadable"]
    """`clean`, `parallel` or `unreadable`."""
    wrappers: tuple[Wrapper, ...] = ()
    """The outermost first."""
    template: Template | None = None
    """The innermost template; None where the file is clean."""
    optimizer: str | None = None
    """The optimizer's class."""
    findings: tuple[Finding, ...] = ()
    """What is worth to know beside the verdict."""
    near_misses: tuple[NearMiss, ...] = ()
    """Why the nearest candidates are no wrappers."""
    fix_would: str | None = None
    """What fix would do to a parallel model."""
    error: Problem | None = None
    """Why the file could not be read, or not be fixed."""
    loads_in: tuple[str, ...] = ()
    """Where the file loads, or, of `fix`, its output; the most current software first."""
    load: str | None = None
    """The line of Python that loads it; None where nothing does, or the output is not there yet."""
    does_not_load_in: Mapping[str, str] = field(default_factory=dict)
    """The Keras of today that does not load it, or may compute something else -> why."""
    as_keras_3: AsKeras3 | None = None
    """What --keras 3 would do with a file that Keras 3 does not load, where asked; no part of the JSON report."""
    options: tuple[str, ...] = ()
    """The options of the run that the next command needs as well; no part of the JSON report."""
    needs: Needs = field(default_factory=Needs)
    """What has to be given to load it."""
    architecture_beside: str | None = None
    """The JSON or YAML beside weights alone that fits them, where looked for; no part of the JSON report."""
    drawing: Drawing | None = None
    """The picture of it, where it was asked for; no part of the JSON report."""
    view: ModelView | None = None
    """The graph, layers and weights for a page of one model, if asked for; no part of the JSON report."""
    inside: Inside | None = None
    """The content in numbers, where a verbose report asked for it; no part of the JSON report."""
    inspector: Inspector | None = field(default=None, repr=False, compare=False)
    """The function that reads the file anew, for `diagram`; no part of the JSON report."""

    def __repr__(self) -> str:
        """Return what it is of, and what was found or done, in a line; its fields have the rest."""
        what = "" if self.error is None else f", {self.error.code}"
        found = f"{state_of(self)}{_wrapper_in_words(self.wrappers)}{what}"
        return f"<{type(self).__name__} of {self.path!r}: {found}>"

    def raise_for_error(self) -> None:
        """Raise what the file's error is, if it has one.

        Raises:
            ValueError: the file could not be read, or not be fixed; the message is `error.message`.

        """
        if self.error is not None:
            raise ValueError(self.error.message)

    def diagram(self, form: Literal["svg", "html", "mmd"] = "svg") -> Picture:
        """Return the layer graph with the wrapper marked, and what `fix` makes of it, as text in this form.

        The file is inspected anew where this report was made without `draw`.

        Raises:
            ValueError: the file cannot be read any more, or stores no graph that can be drawn.

        """
        from unnest.report.diagram import render

        drawing = self.drawing
        if drawing is None and self.inspector is not None:
            report = self.inspector(getattr(self, "backup", None) or self.path, draw=True)
            report.raise_for_error()
            drawing = report.drawing
        if drawing is None:
            self.raise_for_error()
            raise ValueError(f"{self.path}: stores no graph of layers that can be drawn")
        return Picture(render(drawing, self.path, form))

    def _repr_html_(self) -> str:
        from unnest.report.html_markup import notebook_fragment

        action, output = getattr(self, "action", None), getattr(self, "output", None)
        title = f"{action or self.verdict}{_wrapper_in_words(self.wrappers)}"
        if self.error is not None:
            return notebook_fragment(self.path, title, self.error.message)
        picture = ""
        with suppress(ValueError, OSError):  # the file is gone, or has no graph
            picture = self.diagram()
        step = (
            self.load
            if self.verdict == "clean" or output is not None
            else f"unnest.fix({self.path!r})"
        )
        return notebook_fragment(
            self.path, title, picture=picture, code={"output": output, "next": step}
        )


def _wrapper_in_words(wrappers: tuple[Wrapper, ...]) -> str:
    if not wrappers:
        return ""
    towers = "" if wrappers[0].towers is None else f" in {wrappers[0].towers} towers"
    return f", {wrappers[0].template}{towers}"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
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


def with_path_replaced(value: T, old: str, new: str) -> T:
    """Return a report with one path replaced by another in all its texts."""
    changed: Any = value
    if isinstance(value, str):
        changed = value.replace(old, new)
    elif isinstance(value, tuple):
        entries = [with_path_replaced(v, old, new) for v in value]
        changed = value._make(entries) if hasattr(value, "_make") else tuple(entries)
    elif isinstance(value, dict):
        changed = {k: with_path_replaced(v, old, new) for k, v in value.items()}
    elif is_dataclass(value) and not isinstance(value, type):
        changed = replace(
            value,
            **{f.name: with_path_replaced(getattr(value, f.name), old, new) for f in fields(value)},
        )
    return changed  # type: ignore[no-any-return]  # of the type of `value`


def state_of(report: Report) -> str:
    """Return the verdict, or of `fix` the action; a copy of a clean input is "copied" or "would-copy"."""
    if not isinstance(report, Result):
        return report.verdict
    return report.copy_state or report.action


def warnings(report: Report) -> list[Finding]:
    """Return the findings that warn; not of code in the input, where the output needs no code."""
    without_code = (
        isinstance(report, Result) and report.kept is not None and report.needs == Needs()
    )
    return [
        finding
        for finding in report.findings
        if finding.severity != "info" and not (without_code and finding.code == "stored-code")
    ]


@dataclass(slots=True)
class Tally:
    """Counts over many entries of a run."""

    verdicts: Counter[str] = field(default_factory=Counter)
    actions: Counter[str] = field(default_factory=Counter)
    kinds: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """(verdict, container with any error's code, Keras's version) -> entries."""
    warnings: Counter[str] = field(default_factory=Counter)
    """Finding that warns -> entries that have it."""
    copies: Counter[str] = field(default_factory=Counter)
    """Clean inputs that were or would be copied; their action is `unchanged`."""
    errors: Counter[str] = field(default_factory=Counter)
    """Error code -> entries."""
    not_in_keras_3: int = 0
    """Entries that today's Keras does not load, or loads and may compute something else."""

    @classmethod
    def of(cls, reports: Iterable[Report]) -> Tally:
        """Return the counts over these reports."""
        tally = cls()
        for report in reports:
            tally.add(report)
        return tally

    @property
    def files(self) -> int:
        """Return the number of files in all."""
        return self.verdicts.total()

    @property
    def troubled(self) -> int:
        """Return the number of entries with an error."""
        return self.errors.total()

    def add(self, report: Report) -> None:
        """Count one more entry."""
        self.verdicts[report.verdict] += 1
        code = report.error.code if report.error is not None else ""
        container = report.container if report.verdict != "unreadable" else None
        what = f"{container} ({code})" if container and code else container or code
        self.kinds[report.verdict, what, report.writer.keras_version or ""] += 1
        self.errors.update([code] if code else ())
        self.not_in_keras_3 += "Keras 3" in report.does_not_load_in
        self.warnings.update({finding.code for finding in warnings(report)})
        if isinstance(report, Result):
            self.actions[report.action] += 1
            self.copies.update([report.copy_state] if report.copy_state else ())
