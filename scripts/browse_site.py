"""Open every page of the built site in a headless browser: no error on the console, no request elsewhere, no dead link.

    mkdocs build --strict --site-dir site
    python scripts/browse_site.py site [--browser /usr/bin/chromium] [--axe] [--pictures FOLDER]

Wants Playwright (pip install playwright) and a Chromium: Playwright's own, or the one that is named. Exit code 1 where
something is wrong. With --axe (pip install axe-playwright-python), light and dark: no finding that axe calls serious
or critical. With --pictures, a screenshot of each page: light and dark, wide and narrow.
"""

from __future__ import annotations

import argparse
import functools
import http.server
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag, urlsplit

#: The addresses of anchors, those in SVG too.
LINKS = "all => all.map(a => new URL(a.getAttribute('href'), document.baseURI).href)"
#: Of a page that axe looks at.
MOST_ELEMENTS = 2_500
#: Widths in CSS pixels: a desk, a telephone.
WIDTHS = {"wide": 1280, "narrow": 390}


def main() -> int:
    """Exit code 1 where a page has an error."""
    parser = argparse.ArgumentParser(
        description="Open every page of the built site in a headless browser."
    )
    parser.add_argument("site", type=Path)
    parser.add_argument("--browser", help="a Chromium; default: Playwright's own")
    parser.add_argument("--axe", action="store_true", help="hold each page against axe's rules")
    parser.add_argument("--pictures", type=Path, help="a folder for screenshots")
    asked = parser.parse_args()
    handler = functools.partial(Quiet, directory=str(asked.site))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    root = f"http://127.0.0.1:{server.server_port}/"
    pages = [
        root + path.relative_to(asked.site).as_posix()
        for path in sorted(asked.site.rglob("*.html"))
    ]
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=asked.browser, args=["--no-sandbox"])
        troubles = list(check(browser, root, pages))
        if asked.axe:
            troubles += hold_against_axe(browser, root, pages)
        if asked.pictures:
            asked.pictures.mkdir(parents=True, exist_ok=True)
            take_pictures(browser, root, pages, asked.pictures)
        browser.close()
    for trouble in troubles:
        print(trouble)
    print(f"{len(pages)} pages, {len(troubles)} troubles")
    return bool(troubles)


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files, and says nothing of it."""

    def log_message(self, *_: object) -> None:
        """No line a request."""


def check(browser: Any, root: str, pages: list[str]) -> Iterator[str]:  # noqa: ANN401 - Playwright's
    """Yield the faults of each page: console, requests, and links with their fragments."""
    page = browser.new_page()
    troubles: list[str] = []
    page.on(
        "console",
        lambda message: (
            troubles.append(message.text) if message.type in ("error", "warning") else None
        ),
    )
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("requestfailed", lambda request: troubles.append(f"request failed: {request.url}"))
    page.on(
        "request",
        lambda asked: (
            None if asked.url.startswith(root) else troubles.append(f"asks for {asked.url}")
        ),
    )
    links: dict[str, set[str]] = {}
    anchors: dict[str, set[str]] = {}
    for address in pages:
        status = page.goto(address, wait_until="networkidle").status
        if status != http.HTTPStatus.OK:
            troubles.append(f"status {status}")
        place = _place(address)
        links[address] = set(page.eval_on_selector_all("a[href]", LINKS))
        anchors[place] = set(page.eval_on_selector_all("[id]", "all => all.map(e => e.id)"))
        yield from (f"{place}: {trouble}" for trouble in troubles)
        troubles.clear()
    for address, targets in links.items():
        for target in sorted(targets):
            url, fragment = urldefrag(target)
            if not url.startswith(root) or address.endswith("404.html"):
                continue
            there = anchors.get(_place(url))
            if there is None and page.request.get(url).status != http.HTTPStatus.OK:
                yield f"{_place(address)}: dead link {target}"
            elif there is not None and fragment and fragment not in there:
                yield f"{_place(address)}: no such place {target}"


def hold_against_axe(browser: Any, root: str, pages: list[str]) -> Iterator[str]:  # noqa: ANN401 - Playwright's
    """Yield what axe calls serious or critical; of tables of thousands of cells it would take minutes."""
    from axe_playwright_python.sync_playwright import Axe

    for scheme in ("light", "dark"):
        page = browser.new_page(color_scheme=scheme)
        for address in pages:
            page.goto(address, wait_until="networkidle")
            if page.evaluate("document.querySelectorAll('*').length") > MOST_ELEMENTS:
                continue
            for found in Axe().run(page).response["violations"]:
                if found["impact"] in ("serious", "critical"):
                    place = address.removeprefix(root)
                    yield f"{place} ({scheme}): {found['id']}: {found['nodes'][0]['html'][:200]}"
        page.close()


def take_pictures(browser: Any, root: str, pages: list[str], folder: Path) -> None:  # noqa: ANN401 - Playwright's
    """Each page whole, in both colour schemes and both widths."""
    for scheme in ("light", "dark"):
        for width, pixels in WIDTHS.items():
            page = browser.new_page(color_scheme=scheme, viewport={"width": pixels, "height": 900})
            for address in pages:
                page.goto(address, wait_until="networkidle")
                name = (
                    address.removeprefix(root)
                    .removesuffix("index.html")
                    .strip("/")
                    .replace("/", "-")
                    or "start"
                )
                page.screenshot(path=str(folder / f"{name}-{scheme}-{width}.png"), full_page=True)
            page.close()


def _place(address: str) -> str:
    return urlsplit(address).path.removesuffix("index.html")


if __name__ == "__main__":
    sys.exit(main())
