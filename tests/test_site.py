"""The site as it is built, and read: needs the docs extra."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mkdocs")
pytest.importorskip("mkdocstrings")

ROOT = Path(__file__).parents[1]


#: What the workflow that publishes the site says of the repository.
REPOSITORY = {"REPOSITORY_URL": "https://code.example/our/unnest", "EDIT_URI": "edit/main/docs/"}


def built(folder: Path, **more: str) -> Path:
    """Build the site there, with these variables in its environment."""
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir"]
    environment = {k: v for k, v in os.environ.items() if k not in REPOSITORY} | more
    subprocess.run(
        [*command, str(folder)], cwd=ROOT, check=True, capture_output=True, env=environment
    )
    return folder


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the site as it is built where no repository is named."""
    return built(tmp_path_factory.mktemp("site"))


def test_no_page_shows_markdown(site: Path) -> None:
    """A fence that the parser does not know is shown as text, and no warning says so."""
    pages = {page: page.read_text(encoding="utf-8") for page in site.rglob("*.html")}
    assert len(pages) > 40
    assert [str(page.relative_to(site)) for page, html in pages.items() if "```" in html] == []


def test_headings_are_whole(site: Path) -> None:
    """Braces at the end of a heading are no attributes."""
    for source in (ROOT / "docs" / "errors").glob("*.md"):
        (heading,) = re.findall(r"^# (.+)$", source.read_text(encoding="utf-8"), re.MULTILINE)
        page = site / "errors" / ("" if source.stem == "index" else source.stem) / "index.html"
        shown = re.search(r"<h1[^>]*>(.*?)<a ", page.read_text(encoding="utf-8"))
        assert shown
        text = html.unescape(re.sub(r"<[^>]+>", "", shown[1]))
        assert text.replace("\u2019", "'") == heading.replace("`", "")


#: A heading of the page, and what stands below it.
SHOWN = {
    "unnest.inspection.inspect": ["path", "architecture", "slice_layers", "Report"],
    "unnest.repair.fix": ["output", "in_place", "Result"],
    "unnest.report.result.Report": [
        "verdict",
        "wrappers",
        "findings",
        "error",
        "loads_in",
        "load",
        "near_misses",
    ],
    "unnest.report.result.Result": ["action", "output", "checks", "conversions"],
    "unnest.core.recognition_results.Wrapper": ["towers", "confidence", "evidence"],
    "unnest.core.recognition_results.Template": ["inputs", "layers", "parameters"],
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
    text = (site / page / "index.html").read_text(encoding="utf-8")
    assert f'id="{name}"' in text
    described = re.sub(r"<[^>]+>", "", text.partition(f'id="{name}"')[2])
    for word in SHOWN[name]:
        assert re.search(rf"\b{word}\b", described), word
    if name.endswith((".Report", ".Result", ".Wrapper", ".Finding", ".Template", ".Kept")):
        for word in SHOWN[name]:
            field = re.sub(r"<[^>]+>", "", text.partition(f'id="{name}.{word}"')[2][:3000])
            assert re.search(rf"\b{word}\s*:\s*\w", field), word


#: What people type, messages of Keras in full among it, and the page that they should find first.
SEARCHES = {
    query: page
    for page, queries in json.loads((ROOT / "tests/searches.json").read_text("utf-8")).items()
    for query in queries
}


@pytest.mark.skipif(shutil.which("node") is None, reason="Node.js runs the search of the site")
def test_search_finds_the_right_page_first(site: Path) -> None:
    """By the very search that the site has."""
    command = ["node", str(ROOT / "scripts" / "search_site.mjs"), str(site), *SEARCHES]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found = {
        answer["query"]: answer["pages"][:1] for answer in map(json.loads, done.stdout.splitlines())
    }
    assert found == {query: [page] for query, page in SEARCHES.items()}


def words_of(page: Path) -> list[str]:
    """The words of a page's article."""
    article = page.read_text(encoding="utf-8").partition("<article")[2].partition("</article>")[0]
    return re.findall(r"\w+", html.unescape(re.sub(r"<[^>]+>", " ", article)))


def test_zensical_reads_the_same_configuration(site: Path, tmp_path: Path) -> None:
    """Material's successor builds every page with the same words, links to edit it included."""
    pytest.importorskip("zensical")
    for name in ("docs", "unnest", "CHANGELOG.md"):
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, tmp_path / name)
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    (tmp_path / "mkdocs.yml").write_text(f"site_dir: built\n{settings}", encoding="utf-8")
    command = [sys.executable, "-m", "zensical", "build", "--strict"]
    environment = {**os.environ, **REPOSITORY}
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, env=environment)
    pages = {page.relative_to(site) for page in site.rglob("*.html")}
    assert {
        page.relative_to(tmp_path / "built") for page in (tmp_path / "built").rglob("*.html")
    } == pages
    unlike = [
        str(page)
        for page in sorted(pages)
        if words_of(site / page) != words_of(tmp_path / "built" / page)
    ]
    assert unlike == []
    assert "/edit/main/docs/keras3.md" in (tmp_path / "built" / "keras3" / "index.html").read_text(
        encoding="utf-8"
    )


def test_every_page_has_a_link_to_its_source(tmp_path: Path) -> None:
    """Each page links to its source in the repository that the environment names."""
    for page in built(tmp_path / "site", **REPOSITORY).rglob("index.html"):
        text = page.read_text(encoding="utf-8")
        assert re.search(
            r'href="https://code.example/our/unnest/edit/main/docs/\S+" [^>]*rel="edit"', text
        ), page


def test_a_site_without_a_repository_has_no_link_to_one(site: Path) -> None:
    """A dead link on every page would be worse than none."""
    for page in site.rglob("index.html"):
        text = page.read_text(encoding="utf-8")
        assert 'rel="edit"' not in text, page
        assert 'class="md-source"' not in text, page


#: Questions of pages on training with several GPUs: what is typed, the page that is found first, words of its answer.
QUESTIONS = [
    ("can't pickle NotImplementedType objects", "errors/cant-pickle-module/", "save the template"),
    ("load multi gpu weights on one gpu", "weights/", "unnest fix weights.h5"),
    ("extract single gpu model from parallel model", "tutorial/", "unnest fix zoo/2018.h5"),
    ("gpus of different speed", "balance/", "ratios=[4, 3]"),
    ("batch size multiple gpus", "training/", "k times the size that one GPU had"),
    ("odd number of gpus", "examples/", "With any number of devices every row is used"),
    ("train on several machines", "strategies/", "MultiWorkerMirroredStrategy"),
    ("save checkpoint multi gpu", "checkpoints/", "writes the model inside a parallel model"),
    ("make_parallel remainder batch", "migrating/", "every row is still computed"),
    ("mnist example", "examples/", "keras.datasets.mnist"),
    ("keras 3 multi_gpu_model removed", "training/", "from unnest.keras import"),
    (
        "valueerror unknown layer lambda",
        "errors/unknown-layer/",
        "Unknown layer",
    ),
    ("predict without gpu", "questions/", "no GPU to predict with the result"),
    (
        "undo fix --in-place, get the old file back",
        "questions/",
        "the old file stays beside it as model.h5.bak",
    ),
    (
        "which keras version wrote my h5 file",
        "questions/",
        "The first line of unnest inspect FILE says it",
    ),
    ("does it need tensorflow installed", "questions/", "You need none of them to repair a file"),
    (
        "how much memory does a 10 GB model need",
        "questions/",
        "Memory hardly grows with the size of the model",
    ),
    ("convert savedmodel folder to keras 3", "keras3/", "unnest fix folder --keras 3"),
    ("--keras 3", "keras3/", "unnest fix model.h5 --keras 3"),
    ("exit code 1 in ci", "commands/", "parallel"),
    ("unequal gpus ratios", "balance/", "measures your GPUs with your own model"),
    ("s3 bucket", "remote/", "unnest inspect s3://bucket/model.h5"),
    ("is the result the same, --verify", "verify/", "the predictions are compared"),
]


@pytest.mark.skipif(shutil.which("node") is None, reason="Node.js runs the search of the site")
def test_a_stranger_is_answered_by_the_first_page(site: Path) -> None:
    """The page that is found first has the answer in its text."""
    command = [
        "node",
        str(ROOT / "scripts" / "search_site.mjs"),
        str(site),
        *(typed for typed, _, _ in QUESTIONS),
    ]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found = [json.loads(line)["pages"][0] for line in done.stdout.splitlines()]
    assert found == [page for _, page, _ in QUESTIONS]
    for _, page, answer in QUESTIONS:
        assert " ".join(re.findall(r"\w+", answer)) in " ".join(
            words_of(site / page / "index.html")
        ), page
