"""The text report of one model: the verdict, what `fix` did, what needs attention, where it loads, what to run next."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from unnest.core.keras_facts.loading_in_tf_keras import WRITTEN_BY_KERAS_3
from unnest.core.recognition_results import Template, Wrapper
from unnest.report.escape_stored_names import plain
from unnest.report.model_contents_text import count, inside_text, safety
from unnest.report.proposed_commands import (
    fix_command,
    keras_3_answer,
    keras_3_command,
    whole_model_command,
)
from unnest.report.result import Report, Result, state_of

#: Names per line of a list; the JSON report has them all.
FEW = 6


class Look(NamedTuple):
    """How a report is shown: in colour or not, how wide, and whether the terminal has no more than ASCII."""

    verbose: bool = False
    color: bool = False
    width: int = 80
    ascii_only: bool = False
    #: Whether long lines are broken between words, as on a terminal; in a file or a pipe a fact is a line.
    wraps: bool = False


PLAIN = Look()


def render(report: Report, look: Look = PLAIN) -> str:
    """One model's report, without a trailing newline. Errors are messages, not part of it."""
    paint = PAINT if look.color else {}
    if isinstance(report, Result) and report.error is None:
        return "\n".join(wrap(line, look) for line in _result(report, look, paint))
    lines = [_headline(report, paint)]
    if report.error is None:
        tree = _tree(report, paint, look) if look.verbose else ()
        body = _evidence(report) if look.verbose else _body(report)
        lines += [
            *(f"  {line}" for line in tree),
            *(wrap(f"  {plain(line)}", look) for line in body),
        ]
    return "\n".join(lines)


def wrap(line: str, look: Look, column: int | None = None) -> str:
    """Wrap a line at this column, or two further in than it begins; what is to be pasted stays whole."""
    visible = _without_colors(line)
    if not look.wraps or len(visible) <= look.width or visible.lstrip().startswith(WHOLE):
        return line
    import textwrap

    begin = len(line) - len(line.lstrip()) + 2 if column is None else column
    words, colon, command = line.partition(COMMAND)
    words = INSEPARABLE.sub(HARD_SPACE, words)
    parts = textwrap.wrap(
        words + colon[:2] + (colon[2:] + command).replace(" ", HARD_SPACE),
        look.width,
        subsequent_indent=" " * begin,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(parts).replace(HARD_SPACE, " ")


def _without_colors(line: str) -> str:
    """Return a line without its escape sequences, which take no column of a terminal."""
    for escape in PAINT.values():
        line = line.replace(escape, "")
    return line


#: What lines begin with that are Python, or end in the path of an output; and where in a line a command begins.
WHOLE = (
    "import ", "from ", "model.", "backup: ", "next: ",
    "fixed: ", "converted: ", "unchanged: ", "copied: ", "would-fix: ", "would-convert: ",
    "would-copy: ",
)  # fmt: skip
COMMAND = ": unnest fix "
#: The space between an option and its value or what it does.
INSEPARABLE = re.compile(r"(?<= --like) |(?<= --architecture) |(?<=\(-v) (?=says more\))")
#: A space at which no line is broken.
HARD_SPACE = "\xa0"


#: Escape sequences by verdict, and by the part that a layer plays in a wrapper.
PAINT = {
    "clean": "\x1b[32m", "parallel": "\x1b[33m", "unreadable": "\x1b[31m",
    "fixed": "\x1b[32m", "converted": "\x1b[32m", "unchanged": "\x1b[32m", "copied": "\x1b[32m",
    "would-fix": "\x1b[33m", "would-convert": "\x1b[33m", "would-copy": "\x1b[32m",
    "refused": "\x1b[31m", "failed": "\x1b[31m",
    "slice": "\x1b[33m", "merge": "\x1b[35m", "tower": "\x1b[34m", "more": "\x1b[34m", "kept": "\x1b[32m",
    "end": "\x1b[0m",
}  # fmt: skip


def _tree(report: Report, paint: Mapping[str, str], look: Look) -> Iterator[str]:
    """Yield the wrapper as a picture, if there is one."""
    if report.drawing is None or not report.wrappers:
        return
    from unnest.report.diagram import terminal

    for line in terminal.lines(report.drawing, look.width - 2):
        painted = "".join(
            f"{paint[role]}{plain(words)}{paint['end']}"
            if role is not None and role in paint
            else plain(words)
            for words, role in line
        )
        yield painted.translate(terminal.ASCII) if look.ascii_only else painted


def _headline(report: Report, paint: Mapping[str, str]) -> str:
    verdict = "clean or parallel" if may_be_parallel(report) else report.verdict
    painted = f"{paint.get(report.verdict, '')}{verdict}{paint.get('end', '')}"
    return f"{plain(report.path)}: {painted}{plain(_written_by(report))}"


def may_be_parallel(report: Report) -> bool:
    """Return True for weights alone that fit a parallel and a single-device model; their verdict is `clean`."""
    return (
        report.verdict == "clean"
        and report.contents == "weights"
        and any(finding.code == "needs-architecture" for finding in report.findings)
    )


def _written_by(report: Report) -> str:
    if report.contents is None:
        return ""
    what = {
        "model": f"model in {report.container}",
        "weights": f"weights only in {report.container}",
        "architecture": "architecture",  # of JSON or YAML
    }[report.contents]
    version = f", Keras {report.writer.keras_version}" if report.writer.keras_version else ""
    return f" ({what}{version})"


def _body(report: Report) -> Iterator[str]:
    """Return the verdict, what needs attention, where it loads and the next command: five lines at most."""
    if report.wrappers:
        yield f"{wrapper_summary(report)}{_likely(report)}"
    yield from _attention(report)
    yield from _loading(report)


def _evidence(report: Report) -> Iterator[str]:
    """Yield the lines of all that is known of a file, with the reasons."""
    for wrapper in report.wrappers:
        yield from _wrapper(wrapper)
    if report.template is not None:
        yield f"template: {_template(report.template)}"
    elif report.inside is not None and (report.inside.layers or report.inside.parameters):
        yield f"model: {inside_text(report.inside)}"
    if report.optimizer is not None:
        yield f"optimizer: {report.optimizer}"
    yield from _findings(report)
    yield from safety(report)
    for miss in report.near_misses:
        yield f"no wrapper at {miss.layer}: {miss.reason}"
    yield from _loading(report)


def _loading(report: Report) -> Iterator[str]:
    """Return where the file loads as it is, and the commands that make it load."""
    yield from _loads_in(report)
    if report.fix_would is not None:
        yield _next(report, report.fix_would)
    else:
        yield from _fitting(report)
    yield from _not_in_keras_3(report)


def _loads_in(report: Report) -> Iterator[str]:
    """Return the software that takes the file; if no Keras takes a model of Keras 2, the reason."""
    if report.loads_in:
        yield f"loads in: {'; '.join(report.loads_in)}"
    elif (
        report.contents == "model"
        and report.does_not_load_in.get("tf_keras", WRITTEN_BY_KERAS_3) != WRITTEN_BY_KERAS_3
    ):
        yield f"loads in no Keras as it is: {report.does_not_load_in['tf_keras']}"


def _findings(report: Report) -> Iterator[str]:
    for finding in report.findings:
        yield f"{finding.severity}: {finding.message} [{finding.code}]"
        yield f"  {finding.hint}"


def wrapper_summary(report: Report) -> str:
    """The wrappers of a parallel model in one sentence, by the model of the user that they call."""
    of_graph = [
        w
        for w in report.wrappers
        if report.template is not None and report.template.class_name is None
    ]
    if report.container == "saved_model" and of_graph:
        number, template = towers(report.wrappers), report.wrappers[-1].template
        return f"multi-GPU wrapper: the serving graph computes {template} in {number}"
    template = report.wrappers[-1].template
    scope = {"whole": "", "head": ", under a head", "embedded": ", inside a larger model"}[
        report.wrappers[0].scope
    ]
    if len(report.wrappers) == 1 and report.wrappers[0].towers is not None:
        return f'multi-GPU wrapper: your model "{template}", called on {count(report.wrappers[0].towers, "GPU")}{scope}'
    return f'multi-GPU wrapper: your model "{template}", in {towers(report.wrappers)}{scope}'


def _likely(report: Report) -> str:
    """Return the confidence, and what to do if it is less than proven."""
    is_proven = all(wrapper.confidence == "proven" for wrapper in report.wrappers)
    return " (proven)" if is_proven else " (likely: check the result)"


def towers(wrappers: Sequence[Wrapper]) -> str:
    """The towers of nested wrappers, as `2 towers`, `2 wrappers of 2 towers`, `wrappers of 2 and 4 towers`."""
    numbers = [wrapper.towers for wrapper in wrappers]
    if None in numbers:
        return "towers (number not stored)"
    if len(numbers) == 1:
        return count(numbers[0] or 0, "tower")
    if len(set(numbers)) == 1:
        return f"{len(numbers)} wrappers of {count(numbers[0] or 0, 'tower')}"
    return f"wrappers of {' and '.join(map(str, numbers))} towers"


def _fitting(report: Report) -> Iterator[str]:
    """Yield the command with the architecture beside weights alone that fits them."""
    command = whole_model_command(report)
    if command is not None:
        yield f"next: {command}  # fits; makes a whole model"


def _next(report: Report, fix_would: str) -> str:
    """Return the command that takes the wrapper out, and what it does; or why it will not."""
    command = fix_command(report)
    return (
        fix_would
        if command is None
        else f"next: {command}  # {fix_would.removeprefix('unnest fix ')}"
    )


def _not_in_keras_3(report: Report) -> Iterator[str]:
    """Return whether today's Keras loads an older file, and the command for a file that it does load."""
    answer, command = keras_3_answer(report), keras_3_command(report)
    if answer is not None:
        yield f"Keras 3: {answer}" + ("" if command is None else f"; next: {command}")


def _wrapper(wrapper: Wrapper) -> Iterator[str]:
    name = wrapper.name or "the saved model"
    where = {"whole": "", "head": ", under a head", "embedded": ", inside a larger model"}[
        wrapper.scope
    ]
    yield f"{'  ' * wrapper.depth}{name} wraps {wrapper.template} in {towers([wrapper])}{where} ({wrapper.confidence})"
    for reason in wrapper.evidence:
        yield f"{'  ' * wrapper.depth}  because {reason}"


def _template(template: Template) -> str:
    facts = [template.class_name or "a model"]
    for number, noun in (
        (template.inputs, "input"),
        (template.outputs, "output"),
        (template.layers, "layer"),
        (template.parameters, "parameter"),
    ):
        if number is not None:
            facts.append(count(number, noun))
    return ", ".join(facts)


def _result(result: Result, look: Look, paint: Mapping[str, str]) -> Iterator[str]:
    """Return what `fix` did, the result first: six lines at most, and with `verbose` all details."""
    state = state_of(result)
    done = f"{paint.get(state, '')}{state}{paint.get('end', '')}"
    if result.output is None:
        yield f"{done}: {plain(result.path)}: {_clean_text(result)}; nothing written"
    else:
        same = (
            "  (already there, with the same bytes)"
            if state == "unchanged" and result.output != result.path
            else ""
        )
        yield f"{done}: {plain(result.output)}{same}"
    lines = [*_what_was_done(result)]
    lines += _loads_in(result)
    if result.load is not None:
        lines.append(result.load)
    lines += [*_not_in_keras_3(result), *_fitting(result)]
    lines += [*_attention(result)] if not look.verbose else [*_details(result)]
    yield from (f"  {plain(line)}" for line in lines)


def _clean_text(result: Result) -> str:
    if may_be_parallel(result):
        return "weights that do not tell whether the model is parallel"
    return {
        "weights": "weights of a single-device model",
        "architecture": "a single-device architecture",
    }.get(result.contents or "", "already single-device")


def _what_was_done(result: Result) -> Iterator[str]:
    """Yield what was removed and what stayed, in one line."""
    if result.output is None:
        return
    facts = []
    if result.wrappers:
        names = ", ".join(dict.fromkeys(f'"{w.template}"' for w in result.wrappers[-1:]))
        likely = (
            ""
            if all(w.confidence == "proven" for w in result.wrappers)
            else ", likely: check the result"
        )
        facts.append(
            f"removed: the multi-GPU wrapper of {names} ({towers(result.wrappers)}{likely})"
        )
    elif result.output != result.path:
        facts.append(f"from {result.path}")
    if result.kept is not None:
        facts.append(f"kept: {_contents_text(result)}")
    if facts:
        yield "; ".join(facts)
    if result.backup is not None:
        yield f"backup: {result.backup}"


def _attention(report: Report) -> Iterator[str]:
    """Yield at most one line: what needs attention before the file is used; `-v` has the findings one by one.

    The custom code that loading needs is in it for `fix` alone: `inspect` says it in the lines of `_loading`.
    """
    warnings = [f for f in report.findings if f.severity != "info"]
    told = [f for f in warnings if f.code not in ABOUT_CODE]
    facts = []
    if (own := _code_needed(report)) and isinstance(report, Result):
        facts.append(f"loading it needs {_code_in_words(report, own)}{_stub(report)}")
    if report.needs.stored_code and report.contents != "weights":
        facts.append("it contains Python code: load it only if you trust its author")
    if len(told) == 1 and not facts:
        facts.append(f"{told[0].message} [{told[0].code}]")
    elif told:
        facts.append(", ".join(dict.fromkeys(f.code for f in told)))
    if facts:
        yield f"attention: {'; '.join(facts)}" + (" (-v says more)" if report.findings else "")


def _code_in_words(report: Report, names: tuple[str, ...]) -> str:
    """The custom code that is needed, with the layers that need it where they are known and few."""
    found = [finding.message for finding in report.findings if finding.code == "custom-objects"]
    if not found or len(names) > FEW:
        return f"your {_few(names)}"
    return f"your {found[0].partition(': ')[2]}"


def _stub(result: Result) -> str:
    """The module that --stub wrote, or that it would write, and what to do with it."""
    if result.stub is not None:
        return f"; complete {result.stub}, and call its load()"
    has_stub = any(finding.code in ("custom-objects", "lambda-kept") for finding in result.findings)
    return "; --stub FILE.py writes their skeletons" if has_stub else ""


#: Findings on custom code that is needed, or runs: one line has the names.
ABOUT_CODE = ("lambda-kept", "custom-objects", "stored-code")


def _code_needed(report: Report) -> tuple[str, ...]:
    """The classes and functions that the file, of `fix` the output, needs of its user."""
    if report.contents == "weights" or (isinstance(report, Result) and report.output is None):
        return ()
    return (*report.needs.classes, *report.needs.functions)


def _details(result: Result) -> Iterator[str]:
    """Evidence, findings, what was removed, and the rules that changed something."""
    for wrapper in result.wrappers:
        yield from _wrapper(wrapper)
    if result.template is not None:
        yield f"template: {_template(result.template)}"
    if result.optimizer is not None:
        yield f"optimizer: {result.optimizer}"
    yield from _findings(result)
    if result.dropped:
        yield f"removed: {', '.join(result.dropped)}"
    elif result.wrappers:
        yield "removed: the wrapper's layers" + (
            " (no weights)" if result.kept is None or result.kept.tensors else ""
        )
    yield from _conversions(result)
    if result.checks:
        yield f"read back and compared: {', '.join(result.checks)}"


def _conversions(result: Result) -> Iterator[str]:
    """Return what --keras 3 changed: a line for every rule, with the layers that it touched."""
    for change in result.conversions:
        yield f"rule {change.rule}: {change.what} ({', '.join(change.layers)})"


def _contents_text(result: Result) -> str:
    """Return what the output holds, in words: layers, parameters, optimizer state."""
    kept = result.kept
    assert kept is not None
    facts = []
    if kept.layers or kept.parameters:
        facts = [
            *([count(kept.layers, "layer")] if kept.layers else ()),
            count(kept.parameters, "parameter"),
        ]
    elif result.container in ("saved_model", "checkpoint"):
        facts = (
            ["the graph and its variables"]
            if result.container == "saved_model"
            else ["its variables"]
        )
    if kept.optimizer:
        is_alone = any(finding.code == "no-compile" for finding in result.findings)
        facts.append("optimizer state" + (" without compile settings" if is_alone else ""))
    return ", ".join(facts) or "the architecture alone"


def _few(names: tuple[str, ...]) -> str:
    if len(names) <= FEW:
        return ", ".join(names)
    return f"{', '.join(names[:FEW])} and {len(names) - FEW} more (-v names them all)"
