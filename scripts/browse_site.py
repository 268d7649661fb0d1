"""Open every page of the built site in a headless browser: no error on the console, no request elsewhere, no dead link.

    mkdocs build --strict --site-dir site
    python scripts/browse_site.py site [--only PATH ...] [--browser /usr/bin/chromium] [--axe] [--pictures FOLDER]

Wants Playwright (pip install playwright) and a Chromium: Playwright's own, or the one that is named. Exit code 1 where
something is wrong. With --axe (pip install axe-playwright-python), light and dark: no finding that axe calls serious
or critical (all pages: some 6 minutes of processor time). With --pictures, a screenshot of each page: light and dark,
wide and narrow.
"""

from __future__ import annotations

import argparse
import functools
import http.server
import itertools
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag, urlsplit

#: The addresses of anchors, those in SVG too.
LINKS = "all => all.map(a => new URL(a.getAttribute('href'), document.baseURI).href)"
#: The theme has come to the page's tables, and its own script behind it.
WRAPPED = "[...document.querySelectorAll('article table:not([class])')].every(t => t.closest('[tabindex]'))"
#: For axe on one page: the largest, of 4,700 elements, takes 5 seconds of a processor that nothing else uses.
AXE_SECONDS = 300
#: The rules that axe holds a page against, by the colour scheme.
RULES: dict[str, dict[str, Any]] = {
    "light": {},
    "dark": {"runOnly": ["color-contrast", "link-in-text-block"]},
}
#: Widths in CSS pixels: a desk, a telephone.
WIDTHS = {"wide": 1280, "narrow": 390}


def main() -> int:
    """Exit code 1 where a page has an error."""
    parser = argparse.ArgumentParser(
        description="Open every page of the built site in a headless browser."
    )
    parser.add_argument("site", type=Path)
    parser.add_argument("--only", nargs="+", default=[""], help="pages whose paths begin so")
    parser.add_argument("--browser", help="a Chromium; default: Playwright's own")
    parser.add_argument("--axe", action="store_true", help="hold each page against axe's rules")
    parser.add_argument("--jobs", type=int, default=2, help="browsers that axe runs in; default: 2")
    parser.add_argument("--pictures", type=Path, help="a folder for screenshots")
    asked = parser.parse_args()
    handler = functools.partial(Quiet, directory=str(asked.site))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    root = f"http://127.0.0.1:{server.server_port}/"
    pages = [
        root + path
        for path in sorted(p.relative_to(asked.site).as_posix() for p in asked.site.rglob("*.html"))
        if path.startswith(tuple(asked.only))
    ]
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=asked.browser, args=["--no-sandbox"])
        troubles = list(check(browser, root, pages))
        if asked.axe:
            troubles += hold_against_axe(asked.browser, root, pages, asked.jobs)
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


def hold_against_axe(executable: str | None, root: str, pages: list[str], jobs: int) -> list[str]:
    """Return what axe calls serious or critical, in so many browsers; each page has its line as it comes."""
    with ThreadPoolExecutor(jobs) as threads:
        shares = [(executable, root, pages[first::jobs]) for first in range(jobs)]
        return [
            trouble for found in threads.map(lambda s: ask_axe(*s), shares) for trouble in found
        ]


def ask_axe(executable: str | None, root: str, pages: list[str]) -> list[str]:
    """Ask axe about these pages in a browser of their own; dark, only rules of colours can say something new."""
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import TimeoutError as TooLate
    from playwright.sync_api import sync_playwright

    troubles = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        for address, (scheme, rules) in itertools.product(pages, RULES.items()):
            page = browser.new_page(color_scheme=scheme)
            page.goto(address, wait_until="networkidle")
            page.wait_for_function(WRAPPED, timeout=AXE_SECONDS * 1000)
            page.evaluate(Axe().axe_script)
            options = {"resultTypes": ["violations"], **rules}
            begun = time.monotonic()
            page.evaluate(
                "options => void axe.run(options).then(({violations}) => window.said = {violations})",
                options,
            )
            try:
                said = page.wait_for_function("window.said", timeout=AXE_SECONDS * 1000)
                found = [
                    f"{violation['id']}: {violation['nodes'][0]['html'][:200]}"
                    for violation in said.json_value()["violations"]
                    if violation["impact"] in ("serious", "critical")
                ]
            except TooLate:
                found = [f"axe has not ended within {AXE_SECONDS} s"]
            place = f"{address.removeprefix(root)} ({scheme})"
            print(f"{place}: {len(found)} by axe, {time.monotonic() - begun:.0f} s", flush=True)
            troubles += [f"{place}: {trouble}" for trouble in found]
            page.close()
        browser.close()
    return troubles


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
