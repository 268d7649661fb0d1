"""The page of `--report`: what its data say, that names stay names, what may run in it, and how large it gets."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unnest
from tests import makeh5
from tests.corpus.unpacked import FIXTURES
from unnest.core.plan import Choices
from unnest.inspection import inspect_anywhere
from unnest.options import PAGE, ROW, FixOptions
from unnest.repair import fix_one
from unnest.report import json_report
from unnest.report.page.render import MARK, MARK_WITHIN, SCRIPTS, is_page, render
from unnest.report.result import Report

#: Names that a page would obey if it could.
EVIL = (
    "</script><img src=x onerror=alert(1)>",
    "\u202egnp.exe \u2066\u200f",
    "<!--<script>",
    "\x1b[31m\x00",
    "{{7*7}}${7*7}",
    "\ud800",
)


def inspected(path: Path | str, parts: Any = PAGE) -> Report:
    """The report that `inspect --report` makes."""
    return inspect_anywhere(str(path), None, Choices(), trust=False, parts=parts)


def data_of(page: str) -> dict[str, Any]:
    """The data of a page."""
    (text,) = re.findall(
        r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL
    )
    data: dict[str, Any] = json.loads(text)
    return data


class Elements(HTMLParser):
    """The names of a page's elements, and their attributes that could act."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.acting: list[tuple[str, str]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.acting += [
            (tag, key)
            for key, _ in attrs
            if key.startswith("on") or key in ("src", "href", "style")
        ]


def test_the_data_of_a_model() -> None:
    """A genuine file: its numbers, shapes, weights and roles, before and after."""
    data = data_of(render([inspected(FIXTURES / "k224/official-cnn-adam/parallel.h5")]))
    before, after = data["model"]["sides"]
    assert before["totals"] == {
        "layers": 13, "parameters": 352, "nbytes": 1408, "dtypes": ["float32"],
        "inputs": ["conv2d_1_input (None, 10, 10, 1)"], "outputs": ["activation_2 (None, 4)"],
        "state": 25, "state_nbytes": 2792,
    }  # fmt: skip
    assert after["totals"] == {
        **before["totals"], "layers": 9,
        "inputs": ["conv2d_1 (None, 10, 10, 1)"],
    }  # fmt: skip
    figures = data["figures"]
    roles = [box[2] for box in figures[before["figure"]]["boxes"]]
    assert sorted(roles) == ["input", "merge", "slice", "slice", "tower", "tower"]
    assert {box[2] for box in figures[after["figure"]]["boxes"]} == {"kept"}
    path, number, figure, box = next(
        layer for layer in before["layers"] if layer[0][-1] == "conv2d_2"
    )
    assert path == ["sequential_1", "conv2d_2"]
    assert figures[figure]["boxes"][box][8] == "conv2d_2"
    facts = data["model"]["facts"][number]
    assert (facts["class"], facts["output"]) == ("Conv2D", "(None, 6, 6, 4)")
    assert ["filters", "4"] in facts["settings"]
    name, shape, dtype, size, nbytes, found = data["model"]["weights"][facts["weights"][0]]
    assert (name, shape, dtype, size, nbytes) == (
        "conv2d_2/kernel:0",
        "(3, 3, 4, 4)",
        "float32",
        144,
        576,
    )
    assert sum(found["counts"]) == 144
    assert found["low"] < found["mean"] < found["high"]
    # The same layer after, and the same weights, are there once.
    assert next(layer for layer in after["layers"] if layer[0] == ["conv2d_2"])[1] == number
    assert [line.split()[:2] for _, line in data["rows"][0]["steps"]] == [["unnest", "fix"]] * 2


def test_one_frame_around_the_towers_of_a_wrapper(bad: Path) -> None:
    """It is labelled with their number, and no other box reaches into it."""
    for path, count in ((bad, 2), (makeh5.parallel_file(bad.with_name("eight.h5"), towers=8), 8)):
        data = data_of(render([inspected(path)]))
        figure = data["figures"][data["model"]["sides"][0]["figure"]]
        ((left, top, right, bottom, _, _, label, members),) = figure["frames"]
        assert label == f"{count} towers, one set of weights"
        for number, (_, _, role, x, y, width, *_) in enumerate(figure["boxes"]):
            is_inside = left <= x - width / 2 and x + width / 2 <= right and top <= y <= bottom
            assert is_inside == (number in members) == (role in ("tower", "more"))


def test_the_histograms_are_of_the_stored_values(tmp_path: Path) -> None:
    """Counted by hand; values that are not finite are counted apart, and a weight of one value is in one part."""
    kernel = np.array([[0, 1, 2, 24], [np.nan, np.inf, 24, 12]], "f4").T.copy()
    weights = [("d1/kernel:0", kernel), ("d1/bias:0", np.ones(2, "f4"))]
    path = makeh5.write(tmp_path / "m.h5", makeh5.template(), {"x": [], "d1": weights})
    data = data_of(render([inspected(path)]))
    found = [weight[5] for weight in data["model"]["weights"]]
    assert (found[0]["low"], found[0]["high"], found[0]["mean"], found[0]["others"]) == (
        0.0,
        24.0,
        10.5,
        2,
    )
    assert [n for n, count in enumerate(found[0]["counts"]) for _ in range(count)] == [
        0,
        1,
        2,
        12,
        23,
        23,
    ]
    assert (found[1]["low"], found[1]["high"], found[1]["std"], found[1]["counts"][:2]) == (
        1.0,
        1.0,
        0.0,
        [2, 0],
    )


def test_values_beyond_the_limit_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The smallest weights come first, and the page says how many were left."""
    monkeypatch.setattr("unnest.build_report.add_pictures_to_report.VALUES_READ", 8)
    path = makeh5.write(tmp_path / "m.h5", makeh5.template(), {"x": [], "d1": makeh5.dense()})
    data = data_of(render([inspected(path)]))
    assert [weight[5] is not None for weight in data["model"]["weights"]] == [False, True]
    assert data["model"]["unread"] == 1


def test_fix_makes_the_same_page(bad: Path) -> None:
    """Before and after, but for what was done."""
    seen = data_of(render([inspected(bad)]))
    done = data_of(render([fix_one(str(bad), FixOptions(parts=PAGE))]))
    assert (done["model"], done["figures"]) == (seen["model"], seen["figures"])
    assert (seen["command"], done["command"], done["rows"][0]["state"]) == (
        "inspect",
        "fix",
        "fixed",
    )
    taken = bad.with_name("taken.h5")
    taken.write_text("mine")
    refused = data_of(render([fix_one(str(bad), FixOptions(output=str(taken), parts=PAGE))]))
    assert refused["rows"][0]["state"] == "refused"
    assert refused["model"] == seen["model"]


def test_what_is_converted_is_shown_as_it_is_written(bad: Path, clean: Path) -> None:
    """With --keras 3 the layers after are Keras 3's, of clean files as well; the weights are the input's."""
    for path, before in ((bad, 6), (clean, 2)):
        output = path.with_suffix(".keras")
        data = data_of(
            render([fix_one(str(path), FixOptions(output=str(output), keras="3", parts=PAGE))])
        )
        sides, facts = data["model"]["sides"], data["model"]["facts"]
        assert [side["totals"]["layers"] for side in sides] == [before, 2]
        settings = {
            tuple(path): dict(facts[number]["settings"]) for path, number, *_ in sides[1]["layers"]
        }
        assert settings["x",]["batch_shape"] == "[null, 4]"
        assert sides[0]["totals"]["parameters"] == sides[1]["totals"]["parameters"] == 10
        assert sides[1]["figure"] is not None


def test_shapes_behind_a_custom_class_are_unknown(tmp_path: Path) -> None:
    """Also in a .keras, where a tensor without a known shape is noted as a scalar; those before it are shown."""
    layers = [
        makeh5.source(),
        makeh5.layer("Dense", "d1", [["x", 0, 0]], units=2),
        makeh5.layer("Scale", "own", [["d1", 0, 0]], factor=2.0),
        makeh5.layer("Dense", "d2", [["own", 0, 0]], units=10),
    ]
    model = makeh5.model("m", layers, [["x", 0, 0]], [["d2", 0, 0]])
    head = [("d2/kernel:0", np.ones((2, 10), "f4")), ("d2/bias:0", np.ones(10, "f4"))]
    weights = {"x": [], "d1": makeh5.dense(), "own": [], "d2": head}
    old = makeh5.write(tmp_path / "own.h5", model, weights)
    new = tmp_path / "own.keras"
    assert fix_one(str(old), FixOptions(output=str(new), keras="3")).error is None
    for path in (old, new):
        data = data_of(render([inspected(path)]))
        (side,) = data["model"]["sides"]
        facts = data["model"]["facts"]
        shown = {path[-1]: facts[number]["output"] for path, number, *_ in side["layers"]}
        assert shown == {"x": "(None, 4)", "d1": "(None, 2)", "own": None, "d2": None}
        assert side["totals"]["outputs"] == ["d2 shape unknown"]


def test_the_commands_repeat_the_options_of_the_run(tmp_path: Path) -> None:
    """Without them the wrapper that the report shows would stay."""
    model = makeh5.parallel(makeh5.template())
    for layer in model["config"]["layers"]:
        if layer["class_name"] == "Lambda":
            layer["class_name"] = "Cut"
            del layer["config"]["arguments"]
    weights = {"x": [], "lambda_1": [], "lambda_2": [], "tmpl": makeh5.dense(), "d1": []}
    path = makeh5.write(tmp_path / "m.h5", model, weights)
    choices = Choices(slice_layers=frozenset(["Cut"]))
    report = inspect_anywhere(str(path), None, choices, trust=True, parts=PAGE)
    assert report.verdict == "parallel"
    commands = [line for _, line in data_of(render([report]))["rows"][0]["steps"]]
    command = f"unnest fix {path} --slice-layer=Cut --trust"
    assert commands == [command, f"{command} --keras 3"]


def test_a_run_has_the_commands_for_all_its_files(bad: Path, clean: Path) -> None:
    """One that takes out wrappers if there are any, one for Keras 3; none for a run of `fix`, or of many paths."""
    runs = [inspected(bad, ROW), inspected(clean, ROW)]
    folder = str(bad.parent)
    first, second = data_of(render(runs, [folder]))["steps"]
    assert first == ["Take every wrapper out", f"unnest fix {folder} -o FOLDER"]
    assert second == ["Write files that Keras 3 loads", f"unnest fix {folder} -o FOLDER --keras 3"]
    (only,) = data_of(render([inspected(clean, ROW)] * 2, ["a b", "c"]))["steps"]
    assert only[1] == "unnest fix 'a b' c -o FOLDER --keras 3"
    assert data_of(render(runs))["steps"] == []
    assert data_of(render(runs, [f"{n}.h5" for n in range(9)]))["steps"] == []


def test_a_run_lists_trouble_first(bad: Path, clean: Path, tmp_path: Path) -> None:
    """Each row is its entry of the JSON report, without what equals the defaults; equal pictures are there once."""
    torn = tmp_path / "torn.h5"
    torn.write_bytes(bad.read_bytes()[:2000])
    copy = tmp_path / "copy.h5"
    copy.write_bytes(bad.read_bytes())
    reports = [inspected(path, ROW) for path in (clean, bad, torn, copy)]
    data = data_of(render(reports))
    assert [row["state"] for row in data["rows"]] == ["unreadable", "parallel", "parallel", "clean"]
    entries = {row["entry"]["path"]: {**data["defaults"], **row["entry"]} for row in data["rows"]}
    assert entries == {report.path: json.loads(json_report.line(report)) for report in reports}
    assert data["summary"] == json_report.document(reports)["summary"]
    pictures = [row["figures"] for row in data["rows"] if row["state"] == "parallel"]
    assert pictures[0] == pictures[1]
    assert [figure["title"] for figure in data["figures"]] == ["before", "tmpl", "after", "tmpl"]


@pytest.mark.parametrize("evil", EVIL, ids=ascii)
def test_names_stay_names(evil: str, tmp_path: Path) -> None:
    """No element, no attribute that acts, no control or direction character comes out of a file, nor from its path."""
    honest, hostile = (
        makeh5.write(
            tmp_path / f"{number}.h5",
            makeh5.parallel(makeh5.template(name), 2, name=name),
            {"x": [], "lambda_1": [], "lambda_2": [], "tmpl": makeh5.dense()},
        )
        for number, name in enumerate(("tmpl", evil))
    )
    pages = []
    for path, shown in ((honest, "plain.h5"), (hostile, f"{evil}.h5")):
        report = replace(inspected(path), path=shown)
        pages += [(render([report]), render([report, report]))]
    for plain, attacked in zip(*pages, strict=True):
        assert Elements(attacked).names == Elements(plain).names
        assert Elements(attacked).acting == []
        assert attacked.count("</script>") == plain.count("</script>")
        assert not [c for c in attacked if not c.isprintable() and c not in "\n\t"]
        attacked.encode("utf-8")


def test_only_hashed_scripts_and_styles_may_run(bad: Path) -> None:
    """Nothing is loaded; the scripts neither make markup of text nor evaluate it."""
    page = render([inspected(bad)])
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    directives = dict(part.split(" ", 1) for part in policy.replace("&#x27;", "'").split("; "))
    assert directives == {
        "default-src": "'none'",
        "style-src": " ".join(hashes(page, r"<style>(.*?)</style>")),
        "script-src": " ".join(hashes(page, r"<script>(.*?)</script>")),
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    assert not re.findall(
        r"(?:src|href)=|url\(|@import|sourceMappingURL", page.replace('sourceMappingURL")', "")
    )
    own = "".join(
        files("unnest.report.page").joinpath(name).read_text(encoding="utf-8") for name in SCRIPTS
    )
    assert not re.findall(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|setAttribute\(\"style",
        own,
    )


def hashes(page: str, pattern: str) -> list[str]:
    """The sources of a policy that allow these parts of a page."""
    parts = re.findall(pattern, page, re.DOTALL)
    return [
        f"'sha256-{base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()}'"
        for part in parts
    ]


def test_the_library_is_under_its_licence(bad: Path) -> None:
    """Its text is in the page, and the file is the one that was published."""
    page = render([inspected(bad)])
    assert "Copyright (c) 2016 Tanner Linsley" in page
    assert "THE SOFTWARE IS PROVIDED" in page
    library = files("unnest.report.page").joinpath("vendor/table-core.js").read_bytes()
    assert (
        hashlib.sha256(library).hexdigest()
        == "a0d1d4531c0c4ae7cdaec01f217c724aa969cacaff7f7d8971c334ac97500379"
    )


def test_a_page_of_ours_is_known(bad: Path) -> None:
    """Its mark stands within the first bytes."""
    page = render([inspected(bad)]).encode()
    assert is_page(page[:MARK_WITHIN])
    assert not is_page(page.replace(MARK.encode(), b""))


def test_without_scripts_the_files_are_listed(bad: Path) -> None:
    """A browser without scripts shows a table with a row for each file."""
    page = render([inspected(bad, ROW)] * 3)
    assert page.count("<tr class=") == 3
    assert page.count(f'<td class="path">{bad}</td>') == 3


class TestSize:
    """Bytes of a page."""

    def test_a_row(self) -> None:
        """Of a file like others: below 2,500 bytes."""
        report = inspected(FIXTURES / "k224/official-cnn-adam/parallel.h5", ROW)
        few, many = (
            len(render([replace(report, path=f"m{n}.h5") for n in range(count)]))
            for count in (100, 1100)
        )
        assert (many - few) / 1000 < 2_500

    def test_a_layer(self, tmp_path: Path) -> None:
        """Below 1,200 bytes, with two weights and their histograms."""

        def page(layers: int) -> int:
            names = ["x", *(f"d{n}" for n in range(layers))]
            dense = [makeh5.layer("Dense", b, [[a, 0, 0]], units=4) for a, b in pairwise(names)]
            model = makeh5.model(
                "deep", [makeh5.source(), *dense], [["x", 0, 0]], [[names[-1], 0, 0]]
            )
            values = np.random.default_rng(0)
            weights = {
                name: [
                    (f"{name}/kernel:0", values.normal(size=(4, 4)).astype("f4")),
                    (f"{name}/bias:0", np.ones(4, "f4")),
                ]
                for name in names[1:]
            }
            return len(
                render(
                    [
                        inspected(
                            makeh5.write(tmp_path / f"{layers}.h5", model, {"x": [], **weights})
                        )
                    ]
                )
            )

        assert (page(120) - page(20)) / 100 < 1_200

    @pytest.mark.parametrize("where", ["name", "setting", "path"])
    def test_a_text_of_ten_million_letters(self, where: str, clean: Path, tmp_path: Path) -> None:
        """Is cut, and says how long it is; the page stays as large as any."""
        long = "a" * 10_000_000
        template = makeh5.template(long if where == "name" else "tmpl")
        if where == "setting":
            template["config"]["layers"][1]["config"]["note"] = long
        path = makeh5.write(tmp_path / "m.h5", None, {})
        report = (
            replace(inspected(clean), path=long) if where == "path" else view_of(template, path)
        )
        page = render([report])
        assert len(page) < 200_000
        assert "10,000,00" in page


def view_of(template: dict[str, Any], path: Path) -> Report:
    """The report of an architecture alone, whose limits a long name is not to meet."""
    text = json.dumps({**template, "keras_version": "2.2.4", "backend": "tensorflow"})
    path = path.with_suffix(".json")
    path.write_text(text)
    report = inspect_anywhere(str(path), None, Choices(), trust=True, parts=PAGE)
    assert report.error is None
    assert report.view is not None
    return report


@pytest.mark.parametrize("work", [unnest.inspect, unnest.fix])
def test_what_has_no_view_has_a_page(work: Callable[[Path], Report], tmp_path: Path) -> None:
    """A file that cannot be read, and no file at all."""
    data = data_of(render([work(tmp_path / "missing.h5")]))
    assert data["model"] is None
    assert data["rows"][0]["entry"]["error"]["code"]
    assert data_of(render([]))["rows"] == []
