"""Put cases that a generator made where they belong.

    python place.py FOLDER && python -m tests.corpus pack

A case goes to ../cases/<container>/<name>, in the place of an older one; its files get the names of ../README.md.
"""

import gzip
import json
import shutil
import sys
from pathlib import Path

CASES = Path(__file__).resolve().parents[1] / "cases"


def container(case: Path) -> str:
    """`checkpoint`, `saved_model`, `keras` (archives and path-keyed weights) or `h5`."""
    names = {path.name for path in case.iterdir()}
    if any(case.rglob("*.index")) and not {"parallel", "lookalike"} & names:
        return "checkpoint"
    if any((case / name).is_dir() for name in ("parallel", "lookalike")):
        return "saved_model"
    is_path_keyed = any(name.endswith((".keras", ".weights.h5")) for name in names)
    return "keras" if is_path_keyed and "source.h5" not in names else "h5"


def name_in_corpus(name: str, expected: str) -> str:
    """`lookalike.keras` for `model.keras`, `parallel.h5` for `source.h5`, `base.keras` for `expected.keras`."""
    stem, _, suffix = name.partition(".")
    source = "parallel" if expected == "parallel" else "lookalike"
    renamed = {"model": source, "source": source, "expected": "base"}
    return name if suffix == "json" else f"{renamed.get(stem, stem)}.{suffix}" if suffix else name


def place(case: Path) -> Path:
    """Copy one case; returns its folder in the corpus."""
    expected = json.loads((case / "case.json").read_text())["expected"]
    target = CASES / container(case) / case.name
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(case, target)
    for path in sorted(target.rglob("*.gz")):  # archives of many cases compress better
        path.with_suffix("").write_bytes(gzip.decompress(path.read_bytes()))
        path.unlink()
    for path in sorted(target.iterdir()):
        path.rename(target / name_in_corpus(path.name, expected))
    return target


if __name__ == "__main__":
    for made in sorted(p.parent for p in Path(sys.argv[1]).glob("*/case.json")):
        print(place(made).relative_to(CASES))
