"""A drawing for the terminal: the wrapper as lanes between its source and its merge, and the template under it.

A line is a list of (text, role): whoever prints it chooses the colours, and what to do about control characters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from unnest.report.diagram.drawing import Box, Drawing, Figure, Role
from unnest.report.escape import plain

Line: TypeAlias = "list[tuple[str, Role | None]]"

#: Layers of a template that are listed.
LISTED = 6
#: A name is never made shorter than this.
SHORTEST = 8

#: Lines for terminals that have letters only.
ASCII = str.maketrans(
    {"─": "-", "┬": "+", "├": "+", "└": "+", "┤": "+", "┘": "+", "┆": ":", "…": "~", "·": "-"}
)


def lines(drawing: Drawing, width: int) -> Iterator[Line]:
    """Yield the wrappers, outermost first, and the innermost template; nothing without a wrapper."""
    template: Box | None = None
    for figure in drawing.before:
        towers = [node for node in figure.nodes if node.role == "tower"]
        if towers:
            yield from _wrapper(figure, towers, width)
            template = towers[0]
    if template is not None and template.inside is not None:
        yield from _template(template.inside, template)


def _wrapper(figure: Figure, towers: Sequence[Box], width: int) -> Iterator[Line]:
    """Yield the lines of one wrapper: sources, lanes of slices and towers, merges."""
    nodes = {node.key: node for node in figure.nodes}
    reads: dict[str, list[str]] = {}
    for start, end in figure.edges:
        reads.setdefault(end, []).append(start)
    read = {start for start, end in figure.edges if nodes[end].role == "merge"}
    merges = [n for n in figure.nodes if n.role == "merge" and n.key not in read]
    ordered = [*_operands(merges, reads, nodes)] or [*towers]
    lanes = [(_slices(t, reads, nodes), t) for t in ordered]
    sources = [nodes[key].name for key in _sources(ordered, reads, nodes)]
    columns = [
        [", ".join(sources) or figure.title],
        [", ".join(n.name for n in slices) for slices, t in lanes if t.role == "tower"],
        [towers[0].name],
        [", ".join(node.name for node in merges)],
    ]
    source, cut, tower, merge = _fitted(
        [max(map(plain, column), key=len) for column in columns], width - 16
    )
    first = next(i for i, (_, t) in enumerate(lanes) if t.role == "tower")
    for number, (slices, node) in enumerate(lanes):
        left, right = _joints(number, len(lanes))
        start = _cell(columns[0][0], source) if number == first else " " * source
        line: Line = [(start, "input"), (f" {'─' if number == first else ' '}{left}", None)]
        if node.role == "more":
            line = [(" " * (source + 2), None), ("┆", None), (f"  {node.name}", "more")]
        else:
            names = ", ".join(n.name for n in slices)
            line += (
                [("─ ", None), (_cell(names, cut), "slice"), (" ── ", None)]
                if cut
                else [("─ ", None)]
            )
            line += [
                (
                    _cell(node.name, tower).rstrip() if not merges else _cell(node.name, tower),
                    "tower",
                )
            ]
            line += [(f" ─{right}", None)] if merges else []
            if number == first and merges:
                line += [("─ ", None), (_cell(columns[3][0], merge).rstrip(), "merge")]
        yield line
    others = sum(n.stands_for for n in figure.nodes if n.role in ("layer", "group"))
    if others:
        yield [(f"and {others:,} other layer{'s' * (others > 1)} around it", None)]


def _joints(number: int, count: int) -> tuple[str, str]:
    if count == 1:
        return "─", "─"
    if number == 0:
        return "┬", "┬"
    return ("└", "┘") if number == count - 1 else ("├", "┤")


def _operands(
    merges: Sequence[Box], reads: dict[str, list[str]], nodes: dict[str, Box]
) -> Iterator[Box]:
    """Return the operands of the first merge, in its order, through the merges that it joins in turn."""
    waiting = [merges[0].key] if merges else []
    done: set[str] = set()
    while waiting:
        key = waiting.pop()
        if nodes[key].role in ("tower", "more"):
            if key not in done:
                done.add(key)
                yield nodes[key]
        elif nodes[key].role in ("merge", "layer"):
            waiting += reversed(reads.get(key, []))


def _slices(tower: Box, reads: dict[str, list[str]], nodes: dict[str, Box]) -> list[Box]:
    """Return the slices that a tower reads, directly or not, in the order of the figure."""
    waiting, keys = [*reads.get(tower.key, [])], set[str]()
    while waiting:
        key = waiting.pop()
        if nodes[key].role == "slice" and key not in keys:
            keys.add(key)
            waiting += reads.get(key, [])
    return [node for key, node in nodes.items() if key in keys]


def _sources(
    towers: Sequence[Box], reads: dict[str, list[str]], nodes: dict[str, Box]
) -> list[str]:
    waiting = [key for tower in towers for key in reads.get(tower.key, [])]
    sources: dict[str, None] = {}
    while waiting:
        key = waiting.pop(0)
        if nodes[key].role == "slice":
            waiting += reads.get(key, [])
        else:
            sources[key] = None
    return [*sources]


def _fitted(names: Sequence[str], room: int) -> list[int]:
    """Return the widths of the columns; the longest is shortened first."""
    widths = [len(name) for name in names]
    while sum(widths) > room and max(widths) > SHORTEST:
        widths[widths.index(max(widths))] -= 1
    return widths


def _cell(words: str, width: int) -> str:
    words = plain(words)
    return words.ljust(width) if len(words) <= width else words[: width - 1] + "…"


def _template(figure: Figure, node: Box) -> Iterator[Line]:
    shown = figure.nodes if len(figure.nodes) <= LISTED + 1 else figure.nodes[:LISTED]
    yield [(f"{plain(node.name)} ({plain(node.kind)}), kept:", "kept")]
    longest = max((len(_cell(n.name, min(len(plain(n.name)), 32))) for n in shown), default=0)
    for number, each in enumerate(shown):
        end = "└─ " if number == len(figure.nodes) - 1 else "├─ "
        yield [(end, None), (_cell(each.name, longest), "kept"), (f"  {plain(each.kind)}", None)]
    if len(shown) < len(figure.nodes):
        yield [("└─ ", None), (f"{len(figure.nodes) - len(shown):,} more layers", None)]
