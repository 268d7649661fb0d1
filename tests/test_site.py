"""The site as it is built, and read: needs the docs extra."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mkdocs")
pytest.importorskip("mkdocstrings")

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built site."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return folder


def test_no_page_shows_markdown(site: Path) -> None:
    """A fence that the parser does not know is shown as text, and no warning says so."""
    pages = {page: page.read_text(encoding="utf-8") for page in site.rglob("*.html")}
    assert len(pages) > 40
    assert [str(page.relative_to(site)) for page, html in pages.items() if "```" in html] == []


#: A heading of the page, and what stands below it.
SHOWN = {
    "unnest.inspection.inspect": ["path", "architecture", "slice_layers", "Report"],
    "unnest.repair.fix": ["output", "in_place", "Result"],
    "unnest.report.result.Report": ["verdict", "wrappers", "findings", "error", "loads_in", "load", "near_misses"],
    "unnest.report.result.Result": ["action", "output", "checks", "conversions"],
    "unnest.core.model.Wrapper": ["towers", "confidence", "evidence"],
    "unnest.core.model.Template": ["inputs", "layers", "parameters"],
    "unnest.report.result.Kept": ["layers", "tensors", "parameters", "optimizer"],
    "unnest.findings.Finding": ["code", "severity", "message", "hint"],
    "unnest.keras.load_model": ["custom_objects", "safe_mode"],
    "unnest.keras.multi_gpu_model": ["gpus", "ratios"],
    "unnest.keras.make_parallel": ["gpu_count"],
    "unnest.keras.template_model": ["model"],
    "unnest.keras.balance": ["batch_size"],
}


@pytest.mark.parametrize("name", SHOWN)
def test_the_reference_of_python(name: str, site: Path) -> None:
    """Fields and parameters, each with its type."""
    page = "api-keras" if name.startswith("unnest.keras") else "api"
    html = (site / page / "index.html").read_text(encoding="utf-8")
    assert f'id="{name}"' in html
    described = re.sub(r"<[^>]+>", "", html.partition(f'id="{name}"')[2])
    for word in SHOWN[name]:
        assert re.search(rf"\b{word}\b", described), word
    if name.endswith((".Report", ".Result", ".Wrapper", ".Finding", ".Template", ".Kept")):
        for word in SHOWN[name]:
            field = re.sub(r"<[^>]+>", "", html.partition(f'id="{name}.{word}"')[2][:3000])
            assert re.search(rf"\b{word}\s*:\s*\w", field), word
