"""The page of `--report` in a headless Chromium: `nox -s browser`.

Wants Playwright, axe-playwright-python, and a Chromium: the one that UNNEST_BROWSER names, one on the path, or
Playwright's own.
"""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pytest

from tests import makeh5
from tests.corpus.unpacked import FIXTURES
from tests.unit.report.test_page import EVIL, inspected
from unnest.options import ROW
from unnest.report import json_report
from unnest.report.escape_stored_names import plain
from unnest.report.page.render import render
from unnest.report.result import Report

pytestmark = pytest.mark.slow

playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
axe = pytest.importorskip(
    "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
)

Page: TypeAlias = Any
Browser: TypeAlias = Any

#: Processor time of the page's thread until it is ready, for sorting, and for a step that moves or zooms, in
#: milliseconds: some five times what was measured.
READY, SORTING, STEP = 3_000, 1_000, 50
#: When an action is given up, in milliseconds by the clock: it hangs then, however busy the machine is.
HANGS = 300_000
MODEL = FIXTURES / "k224/official-cnn-adam/parallel.h5"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium without a window."""
    path = (
        os.environ.get("UNNEST_BROWSER")
        or shutil.which("chromium")
        or shutil.which("google-chrome")
    )
    with playwright.sync_playwright() as started:
        try:
            chromium = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
        except playwright.Error as e:
            pytest.skip(f"no Chromium can be started: {str(e).splitlines()[0]}")
        yield chromium
        chromium.close()


class Stopwatch:
    """The processor time of a page's thread in milliseconds: other work on the machine does not count."""

    def __init__(self, page: Page) -> None:
        self._session = page.context.new_cdp_session(page)
        self._session.send("Performance.enable", {"timeDomain": "threadTicks"})
        self._last = 0.0

    def lap(self) -> float:
        """Return the time since the last lap; the first time, since the stopwatch was made."""
        metrics = self._session.send("Performance.getMetrics")["metrics"]
        (seconds,) = (metric["value"] for metric in metrics if metric["name"] == "ThreadTime")
        last, self._last = self._last, float(seconds) * 1000
        return self._last - last


class Visit(NamedTuple):
    """A page that was opened, what went wrong on it, and the processor time that it takes."""

    page: Page
    troubles: list[str]
    stopwatch: Stopwatch


def visit(browser: Browser, place: Path, reports: list[Report], **options: Any) -> Visit:  # noqa: ANN401 - Playwright's
    """Open the page of these reports."""
    place.write_text(render(reports), encoding="utf-8")
    page = browser.new_page(**{"viewport": {"width": 1280, "height": 900}, **options})
    page.set_default_timeout(HANGS)
    troubles: list[str] = []
    page.on("console", lambda message: troubles.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("dialog", lambda dialog: troubles.append(f"dialog: {dialog.message}"))
    page.on(
        "request", lambda asked: troubles.append(asked.url) if asked.url != place.as_uri() else None
    )
    stopwatch = Stopwatch(page)
    page.goto(place.as_uri())
    page.wait_for_selector("footer")
    return Visit(page, troubles, stopwatch)


def reports_of(kind: str) -> list[Report]:
    """Reports for a page of one model, or of several with trouble among them."""
    if kind == "model":
        return [inspected(MODEL)]
    files = sorted(FIXTURES.glob("k2*/*/*.h5"))[:12]
    return [inspected(path, ROW) for path in (*files, FIXTURES / "README.md")]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1280])
@pytest.mark.parametrize("kind", ["model", "rows"])
def test_clean_and_accessible(
    kind: str, width: int, scheme: str, browser: Browser, tmp_path: Path
) -> None:
    """Nothing on the console, no request, nothing cut off at the side, no violation that axe calls serious."""
    size = {"width": width, "height": 900}
    place = tmp_path / "page.html"
    shown = visit(
        browser, place, reports_of(kind), viewport=size, color_scheme=scheme, bypass_csp=True
    )
    page = shown.page
    if kind == "model":
        page.locator("[data-box]").nth(3).click()
    else:
        page.locator("button.open", has_text="parallel").first.click()
        page.locator("dialog summary").first.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    heads = page.evaluate("[...document.querySelectorAll('.data th')].map((e) => e.offsetWidth)")
    assert abs(sum(heads) - page.evaluate("document.querySelector('.data').offsetWidth")) <= 1
    found = axe.Axe().run(page).response["violations"]
    assert [
        (v["id"], v["nodes"][0]["html"]) for v in found if v["impact"] in ("serious", "critical")
    ] == []
    assert shown.troubles == []
    # The same without axe, which runs beside the policy.
    assert (
        visit(browser, place, reports_of(kind), viewport=size, color_scheme=scheme).troubles == []
    )


def test_a_layer_on_a_click(browser: Browser, tmp_path: Path) -> None:
    """Its class, shape, settings and weights with their distributions; a nested model opens."""
    page = visit(browser, tmp_path / "page.html", reports_of("model")).page
    panel = page.locator(".panel")
    page.get_by_label("after", exact=True).locator("[data-box]", has_text="dense_1").click()
    assert panel.locator("h3").inner_text() == "dense_1 Dense"
    told = panel.inner_text()
    assert all(
        part in told
        for part in (
            "(None, 4)",
            "dense_1/kernel:0",
            "(36, 4) float32",
            "144 parameters, 576 B",
            "units",
        )
    )
    assert panel.locator(".histogram svg").count() == 2
    assert panel.locator(".histogram svg").first.get_attribute("aria-label").startswith("-")
    page.get_by_label("before", exact=True).locator(
        "[data-box]", has_text="sequential_1"
    ).first.dblclick()
    assert page.locator(".crumbs").first.inner_text() == "before \u203a sequential_1 (9 layers)"
    page.get_by_label("Find a layer").fill("conv2d")
    assert page.locator("[role=status]").inner_text() == "4 found"  # two before, two after
    assert page.locator(".frame").count() == 0
    page.locator(".crumbs button").first.click()
    assert page.locator(".frame-label").text_content() == "2 towers, one set of weights"


def test_by_keyboard(browser: Browser, tmp_path: Path) -> None:
    """A graph, a table and a row's details are reached and left without a mouse."""
    page = visit(browser, tmp_path / "page.html", reports_of("model")).page
    page.locator("svg[role=application]").first.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowDown"):
        page.keyboard.press(key)
    assert page.locator(".panel h3").inner_text() == "sequential_1 Sequential"
    page.keyboard.press("Enter")
    assert "sequential_1" in page.locator(".crumbs b").first.inner_text()
    page.keyboard.press("Escape")
    assert page.locator(".crumbs b").first.inner_text() == "before (5 layers)"

    rows = visit(browser, tmp_path / "rows.html", reports_of("rows")).page
    rows.locator(".scroll").focus()
    rows.keyboard.press("ArrowDown")
    rows.keyboard.press("End")
    name = rows.evaluate("document.activeElement.closest('tr').cells[1].textContent")
    rows.keyboard.press("Enter")
    assert rows.locator("dialog h2").first.inner_text().endswith(name)
    rows.keyboard.press("Escape")
    assert rows.locator("dialog").count() == 0
    assert rows.evaluate("document.activeElement.closest('tr').cells[1].textContent") == name


@pytest.mark.parametrize("evil", EVIL, ids=ascii)
def test_names_stay_names(evil: str, browser: Browser, tmp_path: Path) -> None:
    """In every place that shows them, as the terminal shows them; nothing runs, nothing is loaded."""
    weights = {"x": [], "lambda_1": [], "lambda_2": [], "tmpl": makeh5.dense()}
    template = makeh5.template(evil)
    template["config"]["layers"][1]["config"][evil] = evil
    path = makeh5.write(tmp_path / "m.h5", makeh5.parallel(template, 2, name=evil), weights)
    one = replace(inspected(path), path=f"{evil}.h5")
    shown = visit(browser, tmp_path / "page.html", [one])
    for number in range(shown.page.locator("[data-box]").count()):
        shown.page.locator("[data-box]").nth(number).click()
    many = visit(browser, tmp_path / "rows.html", [one, replace(one, path="other.h5")])
    many.page.locator("button.open").first.click()
    for view in (shown, many):
        assert view.troubles == []
        assert view.page.locator("img, script:not([type]):not(:nth-of-type(n))").count() == 0
        assert (
            view.page.evaluate(
                "document.images.length + document.querySelectorAll('iframe, object, embed').length"
            )
            == 0
        )
    title = json.loads(json_report.line(one))["path"]
    assert shown.page.locator("h1").inner_text() == plain(title)
    assert plain(title) in many.page.locator("dialog h2").first.inner_text()


def test_downloads_hold_what_is_shown(browser: Browser, tmp_path: Path) -> None:
    """CSV that no spreadsheet takes for formulas; JSON as --json prints it."""
    reports = [
        replace(report, path=f"{'=' if n == 0 else ''}run/{n}.h5")
        for n, report in enumerate(reports_of("rows"))
    ]
    page = visit(browser, tmp_path / "page.html", reports).page
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download JSON").click()
    told = json.loads(Path(saved.value.path()).read_text(encoding="utf-8"))
    meant = json.loads(json_report.render(reports))
    assert sorted(told.pop("files"), key=lambda e: e["path"]) == sorted(
        meant.pop("files"), key=lambda e: e["path"]
    )
    assert told == meant
    parallel = [report for report in reports if report.verdict == "parallel"]
    page.get_by_label("Filter by words").fill("parallel")
    assert page.locator("[role=status]").inner_text() == f"{len(parallel)} of {len(reports)} shown"
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download CSV").click()
    rows = list(csv.DictReader(io.StringIO(Path(saved.value.path()).read_text(encoding="utf-8"))))
    assert sorted(row["path"].removeprefix("'") for row in rows) == sorted(
        report.path for report in parallel
    )
    assert not [
        value for row in rows for value in row.values() if value.startswith(("=", "+", "-", "@"))
    ]
    assert {row["template"] for row in rows} == {report.wrappers[0].template for report in parallel}


def test_the_command_is_copied(browser: Browser, tmp_path: Path) -> None:
    """As it is shown."""
    page = visit(browser, tmp_path / "page.html", reports_of("model")).page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy").first.click()
    page.get_by_role("button", name="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == f"unnest fix {MODEL}"


def test_an_option_is_never_broken(browser: Browser, tmp_path: Path) -> None:
    """However narrow the page is: a browser breaks lines behind hyphens, too."""
    page = visit(browser, tmp_path / "page.html", reports_of("model")).page
    page.set_viewport_size({"width": 200, "height": 800})
    options = page.locator(".line .word", has_text="--keras")
    assert options.count() > 0
    heights = page.evaluate(
        "[...document.querySelectorAll('.line .word')].filter((w) => w.textContent === '--keras')"
        ".map((w) => w.getClientRects()[0].height)"
    )
    assert max(heights) < 25  # one line


#: Steps of a move, each with the frame that shows it.
STEPS = 40
FRAMES = f"""async (step) => {{
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  for (let i = 0; i < {STEPS}; i++) {{ step(i); await frame(); }}
}}"""


def test_ten_thousand_rows_stay_fluid(browser: Browser, tmp_path: Path) -> None:
    """Ready at once, few elements, and no frame is late while it scrolls; sorted and filtered within a moment."""
    kinds = reports_of("rows")
    reports = [
        replace(kinds[n % len(kinds)], path=f"runs/{n // 100:03}/{n:05}.h5") for n in range(10_000)
    ]
    page, _, stopwatch = visit(browser, tmp_path / "page.html", reports)
    ready = stopwatch.lap()
    assert page.evaluate("document.querySelectorAll('*').length") < 3_000
    stopwatch.lap()
    page.evaluate(
        f"({FRAMES})((i) => {{ document.querySelector('.scroll').scrollTop = i * 8000; }})"
    )
    scrolled = stopwatch.lap() / STEPS
    page.get_by_label("Filter by words").fill("runs/042")
    assert page.locator("[role=status]").inner_text() == "100 of 10,000 shown"
    page.get_by_label("Filter by words").fill("")
    stopwatch.lap()
    page.evaluate("document.querySelectorAll('th button')[1].click()")
    sorting = stopwatch.lap()
    assert page.locator("td.path").first.inner_text() == "000/00000.h5"
    print(f"ready {ready:.0f} ms, a step {scrolled:.1f} ms, sorting {sorting:.0f} ms")  # noqa: T201 - measured
    assert ready < READY
    assert scrolled < STEP
    assert sorting < SORTING


def test_two_thousand_layers_stay_fluid(browser: Browser, tmp_path: Path) -> None:
    """Two towers of a template of 2,000 layers: moved near, from afar, and zoomed."""
    page, _, stopwatch = visit(
        browser, tmp_path / "page.html", [inspected(deep(tmp_path / "deep.h5", 2_000))]
    )
    ready = stopwatch.lap()
    graph = page.locator(".graph").nth(1)
    assert "2,001 layers" in graph.locator(".crumbs").inner_text()
    move = f"""async (svg) => {{
      svg.setPointerCapture = () => {{}};
      const what = (y) => ({{ pointerId: 7, clientX: 300, clientY: y, bubbles: true }});
      const at = (type, y) => svg.dispatchEvent(new PointerEvent(type, what(y)));
      at("pointerdown", 0);
      await ({FRAMES})((i) => at("pointermove", -i * 40));
      at("pointerup", 0);
    }}"""
    drawing, zoom_in = (
        graph.locator("svg[role=application]"),
        graph.get_by_role("button", name="zoom in"),
    )
    stopwatch.lap()
    drawing.evaluate(move)
    near = stopwatch.lap() / STEPS
    graph.get_by_role("button", name="whole graph").click()
    stopwatch.lap()
    drawing.evaluate(move)
    far = stopwatch.lap() / STEPS
    zoom_in.evaluate(f"(button) => ({FRAMES})(() => button.click())")
    zoomed = stopwatch.lap() / STEPS
    print(f"ready {ready:.0f} ms, a step near {near:.1f}, far {far:.1f}, zooming {zoomed:.1f} ms")  # noqa: T201 - measured
    assert ready < READY
    assert max(near, far, zoomed) < STEP
    page.get_by_label("Find a layer").fill("d1500")
    # Before, inside of the towers, and after.
    assert page.locator("[role=status]").inner_text() == "2 found"


def deep(path: Path, count: int) -> Path:
    """A file with two towers of a template of so many Dense layers, every fifth of which is added to one before."""
    layers, names = [makeh5.source()], ["x"]
    weights = []
    values = np.random.default_rng(0)
    for number in range(count):
        name = f"d{number}"
        if number % 5 == 4:
            layers.append(makeh5.layer("Add", name, [[names[-1], 0, 0], [names[-4], 0, 0]]))
        else:
            layers.append(makeh5.layer("Dense", name, [[names[-1], 0, 0]], units=4))
            weights += [
                (f"{name}/kernel:0", values.normal(size=(4, 4)).astype("f4")),
                (f"{name}/bias:0", np.ones(4, "f4")),
            ]
        names.append(name)
    template = makeh5.model("tmpl", layers, [["x", 0, 0]], [[names[-1], 0, 0]])
    return makeh5.write(
        path, makeh5.parallel(template), {"x": [], "lambda_1": [], "lambda_2": [], "tmpl": weights}
    )
