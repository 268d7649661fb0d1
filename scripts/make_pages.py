"""Make what the documents take from the program: `python scripts/make_pages.py`.

The manual page and the reference of the command line from the parser, the reference of the JSON report from its schema,
the pictures from files of the fixtures, the page of layers from their records.
"""

from __future__ import annotations

import html
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer
from layer_tables import layer_page

import unnest
from unnest.cli.app import program
from unnest.report.diagram import render
from unnest.signals_and_exit_codes import EXITS

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
#: Of the picture of storeys: its width, that of a row of boxes, and that of a letter, at the widest.
WIDTH = 900
ROW_WIDTH = WIDTH - 26
LETTER = 6.9
SCHEMA = json.loads((ROOT / "unnest" / "report" / "schema.json").read_text(encoding="utf-8"))


def commands() -> Iterator[tuple[str, Any]]:
    """The whole program and its commands, by how they are called."""
    root: Any = typer.main.get_command(program())
    yield "unnest", root
    for name, command in root.commands.items():
        yield f"unnest {name}", command


def options(command: Any) -> Iterator[tuple[str, str]]:  # noqa: ANN401 - the parser's, whichever library it comes from
    """(spelling, help) of each option, the arguments left out."""
    for parameter in command.params:
        if parameter.param_type_name == "option":
            yield _spelling(parameter), parameter.help or ""


def _spelling(parameter: Any) -> str:  # noqa: ANN401 - as above
    """Return how an option is written, short form first, with its value."""
    value = "" if parameter.is_flag else f" {parameter.metavar or 'N'}"
    return ", ".join(sorted(parameter.opts, key=len)) + value


def usage(name: str, command: Any) -> str:  # noqa: ANN401 - as above
    """How a command is called."""
    arguments = [p.metavar for p in command.params if p.param_type_name == "argument"]
    return " ".join([name, "[OPTION]...", *(arguments or ["COMMAND"])])


#: What the reference adds to the help of an option, in Markdown; of one command alone where that is named.
DETAILS = {
    "--json": "[The document](json.md).",
    "--json-lines": "Each is an entry of `files[]` of the [JSON report](json.md); the summary goes to stderr.",
    "--jobs": "The output and its order are the same for any number ([folders](many-files.md)).",
    "--scheduler": "Extra `dask` ([cluster](cluster.md)).",
    "--architecture": "JSON or YAML ([weights without their model](weights.md)).",
    "--slice-layer": 'The verdict stays "likely", because it rests on your word.',
    "--trust": "It never makes `unnest` run code ([limits](commands.md#limits)).",
    "--report": "Anything else in its place is refused before a file is read.",
    "--verbose": "Findings are in full, with each rule that changed something, and all that was removed.",
    "unnest inspect --force": "Never an input.",
    "unnest fix --force": "Of the same kind only ([what is never replaced](outputs.md#what-is-never-replaced)).",
    "--diagram": "`.html`: boxes that stand for many layers open on a click; `.mmd`: Mermaid.",
    "--output": (
        "Every file keeps its name there, with the suffix of what is written. A new folder whose name ends like a "
        "file's needs a slash at the end. Names of other formats (`.onnx`, `.pt`, `.tflite`, ...) are refused."
    ),
    "--in-place": "In one step; for single files only ([how](outputs.md#how-outputs-get-their-names)).",
    "--backup": "An existing backup is never replaced.",
    "--dry-run": "No tensor of an `.h5`, checkpoint or SavedModel is read: damage in one is found by `fix` alone.",
    "--to": "[Which becomes which](commands.md#conversions).",
    "--keras": "With 3, JSON stays JSON, and clean files of older dialects are converted too ([how](keras3.md)).",
    "--like": (
        "Needs the `tensorflow` extra, or Keras 3 on another backend "
        "([how](load-in-python.md#into-the-model-that-your-code-builds))."
    ),
    "--stub": "For one file. Each has its signature, what could be read of it, and a body to complete.",
    "--verify": "In a process of its own, on generated inputs ([how](verify.md)).",
    "--plot": "Needs the `plot` extra.",
}


def markdown() -> str:
    """The reference for the site."""
    lines = [
        "# Command line",
        "",
        "Made from the program by `scripts/make_pages.py`. Conversions, limits and exit codes",
    ]
    lines[-1] += " are in [a page of their own](commands.md)."
    rows = {name: _option_rows(name, command) for name, command in commands()}
    shared = [row for row in rows["unnest inspect"] if row in rows["unnest fix"]]
    for name, command in commands():
        lines += [
            "",
            f"## {name}",
            "",
            *_paragraphs(command.help),
            "",
            f"    {usage(name, command)}",
            "",
        ]
        lines += [
            *HEADER,
            *(row for row in rows[name] if name == "unnest balance" or row not in shared),
        ]
    lines += ["", "## Options of inspect and fix", "", *HEADER, *shared]
    lines += ["", "## Exit codes", "", "| code | meaning |", "|---|---|"]
    lines += [f"| {code} | {meaning} |" for code, meaning in EXITS.items()]
    return "\n".join([*lines, ""])


#: Of a table of options.
HEADER = ("| option | default | meaning |", "|---|---|---|")


def _option_rows(name: str, command: Any) -> list[str]:  # noqa: ANN401 - the parser's, whichever library it comes from
    """Return a row an option: how it is spelled with its value, its default, what it means."""
    rows = []
    for parameter in (each for each in command.params if each.param_type_name == "option"):
        long = max(parameter.opts, key=len)
        detail = DETAILS.get(f"{name} {long}") or DETAILS.get(long, "") if name != "unnest" else ""
        default = (
            "" if parameter.is_flag or parameter.default in (None, ()) else f"`{parameter.default}`"
        )
        words = " ".join(filter(None, (parameter.help or "", detail)))
        # A site shows the backslash of an escaped bar within code.
        rows.append(f"| `{_spelling(parameter).replace('|', '/')}` | {default} | {words} |")
    return rows


def man_page() -> str:
    """The manual page, in man(7)."""
    root = next(command for _, command in commands())
    lines = [
        '.TH UNNEST 1 "" "unnest" "User Commands"',
        ".SH NAME",
        f"unnest \\- {_roff(root.help.splitlines()[0])}",
    ]
    lines += [".SH SYNOPSIS"]
    for name, command in commands():
        lines += [".nf" if name == "unnest" else ".br", _roff(usage(name, command))]
    lines.append(".fi")
    for name, command in commands():
        lines.append(".SH OPTIONS" if name == "unnest" else f'.SH "{name.upper()}"')
        lines += [] if name == "unnest" else [_roff(line) for line in _paragraphs(command.help)]
        for spelling, help_ in options(command):
            lines += [".TP", f".B {_roff(spelling)}", _roff(help_)]
    lines.append(".SH EXIT STATUS")
    for code, meaning in EXITS.items():
        lines += [".TP", f".B {code}", _roff(meaning)]
    lines += [".SH ENVIRONMENT", ".TP", ".B NO_COLOR", "no colours on a terminal either"]
    return "\n".join([*lines, ""])


def report() -> str:
    """The reference of the JSON report."""
    lines = [
        "# JSON report",
        "",
        "What `--json` prints; with `--json-lines` every line is one entry of `files`. Keys may be added within a",
        "`schema_version`. Made from `unnest/report/schema.json`, which the package ships, by `scripts/make_pages.py`.",
    ]
    lines += ["", "## document", "", *_properties(SCHEMA)]
    for name, part in SCHEMA["$defs"].items():
        if "properties" in part:
            inherits = (
                ["", f"All keys of [{INHERITED}](#{INHERITED}), and:"] if "allOf" in part else []
            )
            lines += ["", f"## {name}", *inherits, "", *_properties(part)]
    return "\n".join([*lines, ""])


#: The entry that `fixed` is made of.
INHERITED = "inspected"


def _properties(schema: dict[str, Any]) -> Iterator[str]:
    """Yield a table of the keys of an object, those of objects within it included."""
    yield from ("| key | type | meaning |", "|---|---|---|")
    yield from _rows(schema, "")


def _rows(schema: dict[str, Any], above: str) -> Iterator[str]:
    for key, value in schema["properties"].items():
        yield f"| `{above}{key}` | {_kind(value)} | {value.get('description', '')} |"
        items = value.get("items", {})
        for part, mark in (
            (value, "."),
            (items, "[]."),
            *((each, ".") for each in value.get("anyOf", ())),
        ):
            if "properties" in part:
                yield from _rows(part, f"{above}{key}{mark}")


def _kind(value: dict[str, Any]) -> str:
    """Return the type of a value in words."""
    if "enum" in value:
        return ", ".join(f"`{each}`" if each is not None else "null" for each in value["enum"])
    if "const" in value:
        return f"`{value['const']}`"
    if "$ref" in value:
        name = value["$ref"].rpartition("/")[2]
        part = SCHEMA["$defs"][name]
        return f"[{name}](#{name})" if "properties" in part else _kind(part)
    for many in ("anyOf", "oneOf"):
        if many in value:
            return ", or ".join(_kind(each) for each in value[many])
    kinds = value.get("type", "object")
    words = ", ".join([kinds] if isinstance(kinds, str) else kinds)
    return f"array of {_kind(value['items'])}" if "items" in value and words == "array" else words


def picture(source: str) -> Callable[[], str]:
    """A diagram of a file of the fixtures."""

    def draw() -> str:
        drawing = unnest.inspect(ROOT / "fixtures" / source, draw=True).drawing
        assert drawing is not None
        return render(drawing, os.path.basename(source), "svg")

    return draw


def _paragraphs(help_: str | None) -> list[str]:
    return [line.strip() for line in (help_ or "").replace("\b", "").splitlines()]


def _roff(words: str) -> str:
    escaped = words.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


def storeys() -> str:
    """Return the picture of the import contracts in pyproject.toml: a row for each storey, which sees those below."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    parts, y = [], 10
    for name, layers in re.findall(
        r'^name = "([^"]+)"\ntype = "layers"\nlayers = \[\n(.*?)^\]', text, re.MULTILINE | re.DOTALL
    ):
        parts.append(f'<text x="10" y="{y + 14}" font-weight="bold">{html.escape(name)}</text>')
        y += 24
        for line in re.findall(r'"([^"]+)"', layers):
            labels = [module.strip().removeprefix("unnest.") for module in line.split(":")]
            boxes = [*_rows_of_boxes(labels)]
            height = 6 + 30 * len(boxes)
            if len(boxes) > 1:
                band = f'x="10" y="{y}" width="{WIDTH - 20}" height="{height}"'
                parts.append(f'<rect class="storey" {band} rx="4"/>')
            for row, widths in enumerate(boxes):
                parts += _boxes(widths, y + 6 + 30 * row)
            y += height + 6
        y += 16
    style = (
        "<style>text{font:12px sans-serif;fill:#222}rect{fill:#e8eef7;stroke:#5b7db1}"
        ".storey{fill:#f6f8fc;stroke:#d5deec}</style>"
    )
    size = f'viewBox="0 0 {WIDTH} {y}" width="{WIDTH}" height="{y}"'
    rows = "\n".join(parts)
    back = '<rect width="100%" height="100%" style="fill:#fff;stroke:none"/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>\n{style}\n{back}\n{rows}\n</svg>\n'


def _rows_of_boxes(labels: Sequence[str]) -> Iterator[dict[str, float]]:
    """Yield rows of boxes, label -> width: as many as fit side by side, together as wide as the picture."""
    rows: list[dict[str, float]] = [{}]
    for label in labels:
        width = 20 + LETTER * len(label)
        if sum(rows[-1].values()) + width > ROW_WIDTH:
            rows.append({})
        rows[-1][label] = width
    for row in rows:
        share = (ROW_WIDTH - sum(row.values())) / len(row)
        yield {label: width + share for label, width in row.items()}


def _boxes(widths: Mapping[str, float], y: int) -> Iterator[str]:
    """Yield the elements of one row of boxes."""
    x = 16.0
    for label, width in widths.items():
        yield f'<rect x="{x:.0f}" y="{y}" width="{width - 6:.0f}" height="24" rx="4"/>'
        middle = x + width / 2 - 3
        yield f'<text x="{middle:.0f}" y="{y + 16}" text-anchor="middle">{html.escape(label)}</text>'
        x += width


#: What is made, and how.
PAGES = {
    DOCS / "pictures" / "storeys.svg": storeys,
    DOCS / "man" / "unnest.1": man_page,
    DOCS / "cli.md": markdown,
    DOCS / "json.md": report,
    DOCS / "layers.md": layer_page,
    DOCS / "pictures" / "two-towers.svg": picture("k224/official-cnn-adam/parallel.h5"),
    DOCS / "pictures" / "eight-towers.svg": picture("k122/kuza-frozen-x8-json/model.json"),
    DOCS / "pictures" / "twice.svg": picture("tf23/official-mlp-adam-double/parallel.h5"),
    DOCS / "pictures" / "ensemble.svg": picture("k224/lookalike-ensemble-sgd/lookalike.h5"),
    DOCS / "pictures" / "siamese.svg": picture("k224/lookalike-clean_siamese/clean.h5"),
}

if __name__ == "__main__":
    for path, make in PAGES.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(make(), encoding="utf-8")
        sys.stdout.write(f"{path}\n")
