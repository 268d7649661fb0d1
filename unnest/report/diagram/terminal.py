"""A drawing for the terminal: the wrapper as lanes between its source and its merge, and the template under it.

A line is a list of (text, role): whoever prints it chooses the colours, and what to do about control characters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

from unnest.report.diagram.drawing import Box, Drawing, Figure, Role
from unnest.report.escape_stored_names import plain

Line: TypeAlias = "list[tuple[str, Role | None]]"

#: Layers of a template that are listed.
LISTED = 6
#: A name is never made shorter than this.
SHORTEST = 8

#: Columns that the lines between source, slices, tower and merge take.
JOINTS = 16

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
    """Yield the lines of one wrapper: a lane a tower, with its slices; source and merge stand in the first lane."""
    nodes = {node.key: node for node in figure.nodes}
    reads: dict[str, list[str]] = {}
    for start, end in figure.edges:
        reads.setdefault(end, []).append(start)
    merges = _last_merges(figure, nodes)
    in_order = [*_operands(merges, reads, nodes)] or [*towers]
    lanes = [(_names(_slices(tower, reads, nodes)), tower) for tower in in_order]
    source = ", ".join(nodes[key].name for key in _sources(in_order, reads, nodes)) or figure.title
    slice_names = [names for names, tower in lanes if tower.role == "tower"]
    longest = [
        source,
        max(slice_names, key=lambda n: len(plain(n))),
        towers[0].name,
        _names(merges),
    ]
    columns = _Columns(*_fitted([plain(name) for name in longest], width - JOINTS))
    first = next(i for i, (_, tower) in enumerate(lanes) if tower.role == "tower")
    for number, (names, tower) in enumerate(lanes):
        left, right = _joints(number, len(lanes))
        if tower.role == "more":
            yield [(" " * (columns.source + 2), None), ("┆", None), (f"  {tower.name}", "more")]
            continue
        line = _lane_start(source if number == first else None, left, columns)
        line += _lane(names, tower, right if merges else "", columns)
        if number == first and merges:
            line += [("─ ", None), (_cell(_names(merges), columns.merge).rstrip(), "merge")]
        yield line
    others = sum(n.stands_for for n in figure.nodes if n.role in ("layer", "group"))
    if others:
        yield [(f"and {others:,} other layer{'s' * (others > 1)} around it", None)]


class _Columns(NamedTuple):
    """Widths of the columns of a wrapper."""

    source: int
    slices: int
    tower: int
    merge: int


def _lane_start(source: str | None, joint: str, columns: _Columns) -> Line:
    """Return the beginning of a lane: the source with its arrow in the first one, else space."""
    if source is None:
        return [(" " * columns.source, "input"), (f"  {joint}", None)]
    return [(_cell(source, columns.source), "input"), (f" ─{joint}", None)]


def _lane(slices: str, tower: Box, joint: str, columns: _Columns) -> Line:
    """Return the slices and the tower of a lane; without a `joint` there is no merge behind it."""
    line: Line = [("─ ", None)]
    if columns.slices:
        line += [(_cell(slices, columns.slices), "slice"), (" ── ", None)]
    name = _cell(tower.name, columns.tower)
    return (
        [*line, (name, "tower"), (f" ─{joint}", None)]
        if joint
        else [*line, (name.rstrip(), "tower")]
    )


def _last_merges(figure: Figure, nodes: dict[str, Box]) -> list[Box]:
    """Return the merges that no other merge reads."""
    read = {start for start, end in figure.edges if nodes[end].role == "merge"}
    return [node for node in figure.nodes if node.role == "merge" and node.key not in read]


def _names(boxes: Sequence[Box]) -> str:
    return ", ".join(box.name for box in boxes)


def _joints(number: int, count: int) -> tuple[str, str]:
    """Return the corners at the left and right end of lane `number` of `count`."""
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
    """Return the keys of what the towers' slices read, or the towers themselves, each once."""
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
    """Return text of exactly this width: filled up with spaces, or cut with an ellipsis."""
    words = plain(words)
    return words.ljust(width) if len(words) <= width else words[: width - 1] + "…"


def _template(figure: Figure, node: Box) -> Iterator[Line]:
    """Yield the template's name, and its first LISTED layers."""
    shown = figure.nodes if len(figure.nodes) <= LISTED + 1 else figure.nodes[:LISTED]
    yield [(f"{plain(node.name)} ({plain(node.kind)}), kept:", "kept")]
    longest = max((len(_cell(n.name, min(len(plain(n.name)), 32))) for n in shown), default=0)
    for number, each in enumerate(shown):
        end = "└─ " if number == len(figure.nodes) - 1 else "├─ "
        yield [(end, None), (_cell(each.name, longest), "kept"), (f"  {plain(each.kind)}", None)]
    if len(shown) < len(figure.nodes):
        yield [("└─ ", None), (f"{len(figure.nodes) - len(shown):,} more layers", None)]
