"""Make the pictures of docs/gallery.md: the terminal at 80 and 160 columns, the page at 400 and 1280 pixels.

    python scripts/make_gallery.py MODELS [--browser /usr/bin/chromium] [--only terminal layer-400 ...]

MODELS is a folder of two-GPU models of keras-applications, written by the original software:

    PYTHON tests/slow/applications.py FAKE_GPUS keras MODELS resnet50 mobilenet densenet121

Wants Playwright, a Chromium, and Pillow (pip install playwright pillow).
"""

from __future__ import annotations

import argparse
import fcntl
import io
import os
import pty
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image
from rich.console import Console
from rich.terminal_theme import SVG_EXPORT_THEME
from rich.text import Text

ROOT = Path(__file__).parents[1]
OUT = ROOT / "docs/pictures/gallery"
#: Colours of a picture: a palette takes half of the bytes.
COLORS = 256
#: Widths in CSS pixels, each with the height of its pictures.
SIZES = {1280: 860, 400: 800}
#: Files of the repository beside the models, for a run with something of everything.
ALSO = (
    "k209/lookalike-stub_cnn/stub.h5",
    "k216/official-frozensub-x4-weights/weights.h5",
    "k231/official-named-x3-sgd-head/parallel.h5",
    "k224/official-cnn-adam/base.h5",
)


class View(NamedTuple):
    """A picture of a page: its name, the page, and what is done before it is taken."""

    name: str
    page: str
    script: str = ""


CLICK = "dispatchEvent(new MouseEvent('click', {bubbles: true}))"
LAYER = f"document.querySelectorAll('.graph')[1].querySelectorAll('[data-box]')[2].{CLICK};"
FIRST = "[...document.querySelectorAll('button.open')].find((b) => b.textContent === 'parallel').click();"
VIEWS = (
    View("model", "resnet50.html"),
    View("graph", "resnet50.html", "document.querySelector('.pictures').scrollIntoView();"),
    View(
        "layer",
        "mobilenet.html",
        f"{LAYER} window.scrollTo(0, document.querySelector('.panel').getBoundingClientRect().top + scrollY - 380);",
    ),
    View("layers", "densenet121.html", "document.querySelector('.layers').scrollIntoView();"),
    View("run", "run.html"),
    View("row", "run.html", FIRST),
)
#: What the terminal shows.
TERMINALS = {
    "inspect": ("inspect", "resnet50.h5"),
    "fix": ("fix", "-n", "resnet50.h5"),
    "folder": ("inspect", "."),
    "verbose": ("inspect", "-v", "resnet50.h5"),
    "keras3": ("fix", "resnet50.h5", "--keras", "3"),
    "fixed": ("fix", ".", "-o", "fixed", "--keras", "3"),
    "help": ("--help",),
    "help-inspect": ("inspect", "--help"),
    "help-fix": ("fix", "--help"),
}
COLUMNS = (80, 160)


def main() -> int:
    """Write the pictures, and say how many bytes they have."""
    parser = argparse.ArgumentParser(description="Make the pictures of docs/gallery.md.")
    parser.add_argument(
        "models", type=Path, help="the folder that tests/slow/applications.py has filled"
    )
    parser.add_argument(
        "--browser", help="a Chromium; default: the one on the path, or Playwright's own"
    )
    parser.add_argument(
        "--only", nargs="+", default=[""], metavar="NAME", help="pictures whose names begin so"
    )
    asked = parser.parse_args()
    only = tuple(asked.only)
    from playwright.sync_api import sync_playwright

    OUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as started:
        work = Path(folder) / "models"
        gather(asked.models, work)
        executable = asked.browser or shutil.which("chromium")
        browser = started.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        for name, columns, ansi in terminals(work, only):
            write(name, take_terminal(browser, ansi, columns))
        views = [
            v for v in VIEWS if any(f"{v.name}-".startswith(n[: len(v.name) + 1]) for n in only)
        ]
        for page in sorted({view.page for view in views}):
            run(
                work,
                "inspect",
                page.replace("run.html", ".").replace(".html", ".h5"),
                "--report",
                page,
            )
        for name, picture in pages(browser, work, views):
            if name.startswith(only):
                write(name, picture)
        browser.close()
    print(
        f"{sum(path.stat().st_size for path in OUT.iterdir()):,} bytes in {OUT.relative_to(ROOT)}"
    )
    return 0


def gather(models: Path, work: Path) -> None:
    """Put the models and some files of the repository into a folder with short names."""
    work.mkdir()
    for path in models.glob("*.h5"):
        shutil.copy(path, work)
    for name in ALSO:
        place = (
            work / "old" / name.replace("/", "-").replace("official-", "").replace("lookalike-", "")
        )
        place.parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / "fixtures" / name, place)


def run(work: Path, *args: str) -> None:
    """Run unnest; what it finds is no failure."""
    subprocess.run(
        [sys.executable, "-m", "unnest", *args, "-q"],
        cwd=work,
        check=False,
        stderr=subprocess.DEVNULL,
    )


def terminals(work: Path, only: tuple[str, ...]) -> Iterator[tuple[str, int, str]]:
    """Yield each picture's name, its columns and what a terminal of so many gets."""
    for command, args in TERMINALS.items():
        # Help has 80 columns on any terminal.
        for columns in COLUMNS[:1] if "--help" in args else COLUMNS:
            name = f"terminal-{command}-{columns}"
            if name.startswith(only):
                yield name, columns, typed(args) + on_terminal(work, columns, args)
                remove_outputs(work)


def remove_outputs(work: Path) -> None:
    """Remove what `fix` has written."""
    shutil.rmtree(work / "fixed", ignore_errors=True)
    for path in work.glob("*.unnested.*"):
        path.unlink()


def typed(args: tuple[str, ...]) -> str:
    """The line that was typed."""
    return f"\x1b[1m$ unnest {' '.join(args)}\x1b[0m\n"


def on_terminal(work: Path, columns: int, args: tuple[str, ...]) -> str:
    """Return what `unnest` writes to a terminal."""
    here, there = pty.openpty()
    fcntl.ioctl(there, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color"}
    with subprocess.Popen(
        [Path(sys.executable).with_name("unnest"), *args],
        cwd=work,
        stdout=there,
        stderr=there,
        stdin=there,
        env=environment,
    ):
        os.close(there)
        parts = []
        with suppress(OSError):  # the other end was closed
            while part := os.read(here, 65536):
                parts.append(part)
    os.close(here)
    return cleaned(b"".join(parts).decode())


def cleaned(output: str) -> str:
    """Return what stays on the screen, without lines of progress that are written over."""
    lines = output.replace("\r\n", "\n").split("\n")
    return "\n".join(line.rsplit("\r", 1)[-1].replace("\x1b[K", "") for line in lines)


def take_terminal(browser: Any, ansi: str, columns: int) -> bytes:  # noqa: ANN401 - Playwright's
    """A picture of a terminal."""
    console = Console(
        record=True,
        width=columns,
        file=io.StringIO(),
        force_terminal=True,
        color_system="truecolor",
    )
    console.print(Text.from_ansi(ansi), soft_wrap=True)
    code = "<pre style=\"margin:0;font:14px/1.45 'DejaVu Sans Mono',monospace\">{code}</pre>"
    colors = (
        "<style>html{{background:#151a21}}"
        "body{{margin:0;padding:14px;color:#e8ecf1;width:max-content}}</style>"
    )
    html = console.export_html(
        theme=SVG_EXPORT_THEME, inline_styles=True, code_format=colors + code
    )
    page = browser.new_page(viewport={"width": 100 + columns * 9, "height": 100})
    page.set_content(html)
    box = page.evaluate("[document.body.scrollWidth, document.body.scrollHeight]")
    page.set_viewport_size({"width": max(box[0], columns * 8 + 60), "height": box[1]})
    picture: bytes = page.screenshot()
    page.close()
    return picture


def pages(browser: Any, work: Path, views: list[View]) -> Iterator[tuple[str, bytes]]:  # noqa: ANN401 - Playwright's
    """Yield each picture of a page with its name."""
    for scheme in ("light", "dark"):
        for width, height in SIZES.items():
            page = browser.new_page(
                color_scheme=scheme, viewport={"width": width, "height": height}
            )
            for view in views:
                page.goto((work / view.page).as_uri())
                page.wait_for_selector("footer")
                if view.script:
                    page.evaluate(f"() => {{ {view.script} }}")
                page.wait_for_timeout(300)
                yield f"{view.name}-{width}-{scheme}", page.screenshot()
            page.close()


def write(name: str, picture: bytes) -> None:
    """Write a picture with few colours, the most frequent ones, so that areas keep theirs."""
    pixels = np.asarray(Image.open(io.BytesIO(picture)).convert("RGB"), np.int32)
    colors, places, counts = np.unique(
        pixels.reshape(-1, 3), axis=0, return_inverse=True, return_counts=True
    )
    palette = colors[np.argsort(counts)[-COLORS:]]
    # Pillow itself takes a colour that is near, not the nearest: white would become grey.
    nearest = np.array([((palette - color) ** 2).sum(axis=1).argmin() for color in colors])
    image = Image.fromarray(nearest[places].reshape(pixels.shape[:2]).astype(np.uint8), "P")
    image.putpalette(palette.astype(np.uint8).tobytes())
    image.save(OUT / f"{name}.png", optimize=True)


if __name__ == "__main__":
    sys.exit(main())
