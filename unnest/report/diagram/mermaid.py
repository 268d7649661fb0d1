"""A drawing as a Mermaid flowchart, which GitHub and GitLab show in place of the text.

flowchart LR
    subgraph f0["model.h5"]
        direction TB
        f0n0["input_1<br>input"]:::input
        f0n1["lambda_1<br>slice"]:::slice
        f0n0 --> f0n1
    end
"""

from __future__ import annotations

from collections.abc import Iterator

from unnest.report.diagram.drawing import Drawing, Figure
from unnest.report.diagram.svg import caption
from unnest.report.escape_stored_names import plain

CLASS_DEFINITIONS = """\
    classDef input fill:#eef1f4,stroke:#8a94a0,color:#1c2430
    classDef layer fill:#ffffff,stroke:#8a94a0,color:#1c2430
    classDef slice fill:#fdeccb,stroke:#b7791f,color:#1c2430
    classDef tower fill:#dbe9fb,stroke:#2f6fc1,color:#1c2430
    classDef more fill:#dbe9fb,stroke:#2f6fc1,color:#1c2430,stroke-dasharray: 5 4
    classDef merge fill:#f3e0f5,stroke:#96419f,color:#1c2430
    classDef group fill:#f6f7f9,stroke:#8a94a0,color:#1c2430,stroke-dasharray: 5 4
    classDef kept fill:#dcf3e2,stroke:#2c8049,color:#1c2430"""


def render(drawing: Drawing, title: str) -> str:
    """Return a Mermaid flowchart, with a subgraph a figure: for a README, an issue, a merge request."""
    lines = [f"%% {_label(title)}", "flowchart LR"]
    figures = [*drawing.before, *([drawing.after] if drawing.after else [])]
    for number, figure in enumerate(figures):
        lines += _subgraph(figure, number)
    # An invisible link, which puts the figures side by side in their order.
    lines += [f"    f{number} ~~~ f{number + 1}" for number in range(len(figures) - 1)]
    return "\n".join([*lines, CLASS_DEFINITIONS, ""])


def _subgraph(figure: Figure, number: int) -> Iterator[str]:
    names = {node.key: f"f{number}n{i}" for i, node in enumerate(figure.nodes)}
    yield f'    subgraph f{number}["{_label(figure.title)}"]'
    yield "        direction TB"
    for node in figure.nodes:
        yield f'        {names[node.key]}["{_label(node.name)}<br>{_label(caption(node))}"]:::{node.role}'
    for start, end in figure.edges:
        yield f"        {names[start]} --> {names[end]}"
    yield "    end"


def _label(words: str) -> str:
    """Return text between quotes, all but letters, digits and harmless signs as entity numbers."""
    return "".join(c if c.isalnum() or c in " _-,.:·/" else f"#{ord(c)};" for c in plain(words))
