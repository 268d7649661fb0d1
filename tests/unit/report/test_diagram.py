"""Pictures: which boxes there are, what part each plays, and that names out of a file stay names."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import makeh5
from tests.corpus.unpacked import CASES
from tests.unit.core.build import functional, layer, nested, source
from tests.unit.core.rewrite.wrapping import HEEDFUL, MERGE, split
from tests.unit.core.wrappers.near import OUTER
from unnest.core.make_plan import assumptions_of, plan
from unnest.core.model import Stored
from unnest.core.recognition_results import Wrapper
from unnest.inspection import inspect
from unnest.report.diagram import Form, render, terminal
from unnest.report.diagram.drawing import Drawing, draw

#: A name that each of the renderers would obey if it could.
EVIL = '</text><script>alert(1)</script>"]; end %%{init}%% `x` \x1b[31m \u202e'


def chain(length: int, name: str = "tmpl") -> dict[str, Any]:
    """A template of so many Dense layers."""
    names = ["x", *(f"d{i}" for i in range(length))]
    layers = [makeh5.layer("Dense", b, [[a, 0, 0]], units=2) for a, b in pairwise(names)]
    return makeh5.model(name, [makeh5.source(), *layers], [["x", 0, 0]], [[names[-1], 0, 0]])


def under_a_head(towers: int, length: int) -> dict[str, Any]:
    """A wrapper with so many layers behind its merge."""
    model = makeh5.parallel(makeh5.template(), towers)
    layers, before = model["config"]["layers"], "d1"
    for i in range(length):
        layers.append(makeh5.layer("Dense", f"head_{i}", [[before, 0, 0]], units=3))
        before = f"head_{i}"
    model["config"]["output_layers"] = [[before, 0, 0]]
    return model


def drawing(model: dict[str, Any]) -> Drawing:
    """Return the drawing of an architecture, as `inspect` draws it."""
    made = plan(Stored("architecture", model))
    drawn = draw(model, made.result.architecture if made.result else None, made.wrappers)
    assert drawn is not None
    return drawn


def parts(drawn: Drawing, figure: int = 0) -> list[tuple[str, str]]:
    """(name, role) of every box of a figure before."""
    return [(node.name, node.role) for node in drawn.before[figure].nodes]


def terminal_lines(drawn: Drawing, width: int = 78) -> list[str]:
    """The tree's lines without their colours."""
    return ["".join(words for words, _ in line) for line in terminal.lines(drawn, width)]


def test_two_towers() -> None:
    """Every layer is a box with its part, and every call of the template one of its own."""
    drawn = drawing(makeh5.parallel(chain(2)))
    assert sorted(parts(drawn)) == [
        ("d1", "merge"), ("lambda_1", "slice"), ("lambda_2", "slice"),
        ("tmpl", "tower"), ("tmpl", "tower"), ("x", "input"),
    ]  # fmt: skip
    assert drawn.after is not None
    assert [(n.name, n.role) for n in drawn.after.nodes] == [
        ("x", "input"),
        ("d0", "kept"),
        ("d1", "kept"),
    ]
    names = {node.key: node.name for node in drawn.before[0].nodes}
    arrows = sorted((names[a], names[b]) for a, b in drawn.before[0].edges)
    assert arrows == sorted(
        [
            ("x", "lambda_1"),
            ("x", "lambda_2"),
            ("lambda_1", "tmpl"),
            ("lambda_2", "tmpl"),
            ("tmpl", "d1"),
            ("tmpl", "d1"),
        ]
    )


@pytest.mark.parametrize(("towers", "drawn_towers", "more"), [(4, 4, 0), (5, 3, 2), (64, 3, 61)])
def test_many_towers_are_one_box(towers: int, drawn_towers: int, more: int) -> None:
    """The first two and the last are drawn; the others, with their slices, are one box that says how many."""
    nodes = drawing(makeh5.parallel(makeh5.template(), towers)).before[0].nodes
    assert sum(node.role == "tower" for node in nodes) == drawn_towers
    assert sum(node.role == "slice" for node in nodes) == drawn_towers
    assert [node.stands_for for node in nodes if node.role == "more"] == ([more] if more else [])


@pytest.mark.parametrize("length", [24, 25, 1000])
def test_many_layers_are_one_box(length: int) -> None:
    """The rest of a long template is one box that opens to all its layers."""
    after = drawing(makeh5.parallel(chain(length))).after
    assert after is not None
    if length < 24:
        assert len(after.nodes) == length + 1
    else:
        (box,) = (node for node in after.nodes if node.role == "kept" and node.kind == "layers")
        assert box.stands_for == length
        assert box.inside is not None
        assert len(box.inside.nodes) == length


def test_a_head_is_kept_apart_from_the_template() -> None:
    """Layers behind the wrapper do not belong to the template, and one box where they are many."""
    drawn = drawing(under_a_head(2, 30))
    (box,) = (node for node in drawn.before[0].nodes if node.role == "group")
    assert (box.name, box.stands_for) == ("head_0 to head_29", 30)
    assert drawn.after is not None
    few = drawing(under_a_head(2, 2)).after
    assert few is not None
    assert [(n.name, n.role) for n in few.nodes] == [
        ("x", "input"), ("d1", "kept"), ("head_0", "layer"), ("head_1", "layer"),
    ]  # fmt: skip


def test_wrappers_in_wrappers_have_a_figure_each() -> None:
    """The outer one's template is the inner wrapper."""
    drawn = drawing(makeh5.parallel(makeh5.parallel(chain(2), 3, name="inner"), 2))
    assert [figure.title for figure in drawn.before] == ["before", "inside inner"]
    assert parts(drawn, 1).count(("tmpl", "tower")) == 3


def test_a_nested_model_is_drawn_as_what_it_is_where_it_stands() -> None:
    """The mask of the layer before it ends at its slices: as the report says, it is no wrapper."""
    towers = nested(HEEDFUL, [("s", 0, 0)], [("s", 0, 1)])
    inner = functional(source(), split("s", "x"), towers, MERGE, **{**OUTER, "name": "inner"})
    mask = {**layer("made", ["x"], mask_value=0.0), "class_name": "Masking"}
    for before, roles in (([mask], set()), ([], {"slice", "tower", "merge"})):
        end = before[-1]["name"] if before else "x"
        model = functional(
            source(),
            *before,
            nested(inner, [(end, 0, 0)]),
            **{**OUTER, "outputs": [("inner", 1, 0)]},
        )
        assert bool(plan(Stored("architecture", model)).wrappers) == bool(roles)
        drawn = drawing(model)
        nodes = [node for figure in drawn.before for node in figure.nodes]
        assert {node.role for node in nodes} - {"input", "layer", "kept"} == roles


def test_classes_that_end_masks_are_drawn_as_the_report_has_them() -> None:
    mask = {**layer("made", ["x"], mask_value=0.0), "class_name": "Masking"}
    cuts = [layer(f"s{i}", ["made"], kind="Cut", part=i, of=2) for i in range(2)]
    model = functional(source(), mask, *cuts, nested(HEEDFUL, ["s0"], ["s1"]), MERGE, **OUTER)
    for version, is_wrapper in (("2.2.4", True), ("2.15.0", False)):
        stored = Stored("architecture", model, keras_version=version)
        made = plan(stored)
        drawn = draw(model, None, made.wrappers, assumptions_of(stored, ()))
        assert drawn is not None
        assert bool(made.wrappers) == is_wrapper
        assert any(node.role == "tower" for node in drawn.before[0].nodes) == is_wrapper


def test_what_stores_no_graph_is_drawn_from_what_was_found() -> None:
    """Weights alone and serving graphs: as many towers as were found, the inner wrapper inside."""
    wrappers = [
        Wrapper(None, t, n, "whole", ("merge",), d, "likely", ())
        for d, (t, n) in enumerate([("a", 2), ("b", 9)])
    ]
    drawn = draw(None, None, wrappers)
    assert drawn is not None
    (towers,) = {node.inside for node in drawn.before[0].nodes if node.role == "tower"}
    assert towers is not None
    assert [node.stands_for for node in towers.nodes if node.role == "more"] == [6]
    assert drawn.after is not None
    assert [node.name for node in drawn.after.nodes] == ["batch", "b"]


INLINE = sorted((CASES / "h5").glob("*inline*/parallel.h5"))


@pytest.mark.parametrize("path", INLINE, ids=lambda path: path.parent.name)
def test_towers_of_the_graph_s_own_layers(path: Path) -> None:
    """Each is one box, however its rows are cut, and every box comes after those that it reads."""
    report = inspect(path, draw=True)
    assert report.drawing is not None
    (figure,) = report.drawing.before
    drawn = sum(
        node.stands_for if node.role == "more" else node.role == "tower" for node in figure.nodes
    )
    assert drawn == report.wrappers[0].towers
    place = {node.key: n for n, node in enumerate(figure.nodes)}
    assert all(place[start] < place[end] for start, end in figure.edges)


def test_a_clean_model_is_one_figure() -> None:
    """And nothing is drawn of nothing."""
    drawn = drawing(chain(3))
    assert [figure.title for figure in drawn.before] == ["tmpl"]
    assert drawn.after is None
    assert terminal_lines(drawn) == []
    assert draw(None, None, ()) is None


def test_the_tree() -> None:
    """Lanes from the source to the merge, and the first layers of the template."""
    assert terminal_lines(drawing(makeh5.parallel(chain(8), 6)))[:6] == [
        "x ─┬─ lambda_1 ── tmpl ─┬─ d7",
        "   ├─ lambda_2 ── tmpl ─┤",
        "   ┆  3 more towers",
        "   └─ lambda_6 ── tmpl ─┘",
        "tmpl (Model), kept:",
        "├─ x   InputLayer",
    ]
    assert terminal_lines(drawing(makeh5.parallel(chain(8), 6)))[-1] == "└─ 3 more layers"


@pytest.mark.parametrize("width", [60, 78, 158])
def test_the_tree_fits(width: int) -> None:
    """Long names give way, lanes stay in line."""
    lines = terminal_lines(drawing(makeh5.parallel(chain(1, name="n" * 200), 3)), width)
    lanes = [line for line in lines if line.rstrip()[-1] in "┤┘"]
    assert all(len(line) <= width for line in lines[:3])
    assert len({len(line.rstrip()) for line in lanes}) == 1


@pytest.mark.parametrize("form", get_args(Form))
def test_names_are_data(form: Form) -> None:
    """Nothing in a name is markup, a script, or moves a cursor."""
    page = render(drawing(makeh5.parallel(chain(2, name=EVIL), 2, name=EVIL)), EVIL, form)
    assert "\x1b" not in page
    assert "\u202e" not in page
    assert "<script>alert" not in page
    assert page.count("<script>") == (1 if form == "html" else 0)


def test_svg_is_xml() -> None:
    """With a box for each node, inside the picture."""
    root = ET.fromstring(render(drawing(makeh5.parallel(chain(2, name=EVIL), 64)), "x", "svg"))  # noqa: S314 - ours
    width = float(root.attrib["width"])
    boxes = [r for r in root.iter("{http://www.w3.org/2000/svg}rect") if r.attrib.get("rx") == "7"]
    assert len(boxes) == 3 * 2 + 1 + 2 + 3
    drawn = [t for t in root.iter() if t.tag.endswith("text")]
    assert all(0 <= float(t.attrib["x"]) <= width for t in drawn)


def test_the_page_loads_nothing() -> None:
    """Style and script are allowed by their hashes, and nothing is addressed but parts of the page."""
    page = render(drawing(makeh5.parallel(chain(40), 3)), "x", "html")
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy.startswith("default-src &#x27;none&#x27;; style-src &#x27;sha256-")
    assert "unsafe" not in policy
    assert re.findall(r'(?:src|href)="(?!#)', page) == []
    assert re.findall(r"\son\w+=|\sstyle=", page) == []
    targets = set(re.findall(r'href="#([^"]*)"', page))
    assert targets == set(re.findall(r'<details id="([^"]*)"', page))


MERMAID = re.compile(
    r"%% .*|flowchart LR|    subgraph f\d+\[\"[^\"]*\"\]|        direction TB|    end|"
    r"        f\d+n\d+\[\"[^\"<>]*<br>[^\"<>]*\"\]:::\w+|        f\d+n\d+ --> f\d+n\d+|"
    r"    f\d ~~~ f\d|    classDef \w+ [\w#:,\- ]+"
)


@given(st.text(min_size=1))
def test_mermaid_has_no_other_lines(name: str) -> None:
    """Whatever the template is called."""
    for line in render(drawing(makeh5.parallel(chain(2, name=name))), name, "mmd").splitlines():
        assert MERMAID.fullmatch(line), line
