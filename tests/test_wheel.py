"""The wheel holds all that an installed program reads beside its modules."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: Files and folders that a build reads.
NEEDED = ("pyproject.toml", "README.md", "LICENSE", "MANIFEST.in", "docs/man")


def test_the_wheel_holds_every_file_of_the_package(tmp_path: Path) -> None:
    """Scripts, styles, the library of the page and its licence, the schema; and the licences once more as metadata."""
    source = tmp_path / "source"
    for name in NEEDED:
        place = source / name
        place.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, place)
    shutil.copytree(
        ROOT / "unnest", source / "unnest", ignore=shutil.ignore_patterns("__pycache__")
    )
    build = f"from setuptools.build_meta import build_wheel; build_wheel({str(tmp_path)!r})"
    subprocess.run([sys.executable, "-c", build], cwd=source, capture_output=True, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    held = set(zipfile.ZipFile(wheel).namelist())
    files = {
        path.relative_to(source).as_posix()
        for path in (source / "unnest").rglob("*")
        if path.is_file()
    }
    assert files - held == set()
    assert {"unnest/report/page/page.css", "unnest/report/page/vendor/table-core.js"} <= held
    assert [
        name
        for name in held
        if "dist-info/licenses/" in name and name.endswith("table-core.LICENSE")
    ]
