"""What `load_weights` makes of a genuine file, with its base in Keras 3, renamed and random, as model.

python -m tests.keras.load_weights_table [STACK...]       a table on stdout; every refusal on stderr
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

import unnest
from tests.corpus.unpacked import FIXTURES

#: float32 sums in another order, as a share of the largest recorded number above 1.
TOLERANCE = 1e-5


def renamed(model: Any) -> Any:
    """The model anew, as a program that had made other layers before it would call its layers."""
    import keras

    architecture = json.loads(model.to_json())
    names: set[str] = set()

    def collect(value: Any) -> None:
        if isinstance(value, dict):
            config = value.get("config")
            if "class_name" in value and isinstance(config, dict) and isinstance(config.get("name"), str):
                names.add(config["name"])
            for each in value.values():
                collect(each)
        elif isinstance(value, list):
            for each in value:
                collect(each)

    def changed(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: changed(each) for key, each in value.items()}
        if isinstance(value, list):
            return [changed(each) for each in value]
        return other.get(value, value) if isinstance(value, str) else value

    collect(architecture)
    other = {n: f"{m[1]}_{int(m[2]) + 6}" for n in names if (m := re.fullmatch(r"(.*?)_(\d+)", n))}
    return keras.models.model_from_json(json.dumps(changed(architecture)))


def predictions(model: Any, x: list[Any]) -> list[Any]:
    """What the model gives, without training."""
    import keras

    given, rows = x if len(x) > 1 else x[0], model.inputs[0].shape[0]
    if rows is None or rows == len(x[0]):
        out = model(given, training=False)
    else:
        out = model.predict(given, batch_size=rows, verbose=0)
    return [np.asarray(keras.ops.convert_to_numpy(o)) for o in (out if isinstance(out, list | tuple) else [out])]


def outcome(file: Path, base: Path, folder: Path) -> str:
    """`equal`, `refused: WHY`, `other by SIZE`, or `no model: WHY` where Keras 3 cannot hold the base."""
    import keras

    from unnest.keras import load_weights

    keras_3 = folder / "base.keras"
    result = unnest.fix(base, keras_3, keras="3", force=True)
    if result.error is not None:
        return f"no model: {result.error.message}"
    try:
        model = renamed(keras.models.load_model(keras_3 if keras_3.exists() else base, compile=False))
    except Exception as e:  # noqa: BLE001 - classes of the file's own
        return f"no model: {' '.join(str(e).split())[:100]}"
    rng = np.random.default_rng(0)
    for variable in model.weights:
        if "float" in str(variable.dtype):
            variable.assign(rng.normal(size=variable.shape))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            load_weights(model, file)
    except ValueError as e:
        return f"refused: {e}"
    with np.load(file.with_name("io.npz")) as io:
        x, y = ([io[k] for k in sorted(io.files) if k[0] == kind] for kind in "xy")
        found = predictions(model, x)
    pairs = [(a.astype("f8"), b) for a, b in zip(found, y, strict=True)]
    off = max(float(np.max(np.abs(a - b))) / max(1.0, float(np.max(np.abs(b)))) for a, b in pairs)
    return "equal" if off <= TOLERANCE else f"other by {off:.1e}"


def cases(stack: str) -> list[tuple[Path, Path]]:
    """The files of a stack, each with a base whose architecture is stored: weights alone with another stack's."""
    bases: dict[tuple[str, str], list[Path]] = {}
    for path in sorted(FIXTURES.glob("*/*/base.h5")):
        note = json.loads(path.with_name("case.json").read_text())
        if note.get("model") and note.get("situation") in ("plain", None, "double", "reload"):
            bases.setdefault((note["model"], note.get("base_class")), []).append(path)
    found = []
    for folder in sorted((FIXTURES / stack).iterdir()):
        if not (folder / "io.npz").exists():
            continue
        for name in ("h5", "keras"):
            file, base = folder / f"parallel.{name}", folder / f"base.{name}"
            found += [(file, base)] if file.exists() and base.exists() else []
        if (folder / "weights.h5").exists():
            note = json.loads((folder / "case.json").read_text())
            fitting = bases.get((note.get("model"), note.get("base_class")), [])
            fitting = sorted(fitting, key=lambda p: (p.parents[1].name != stack, p.parents[1].name[:2] != stack[:2]))
            found += [(folder / "weights.h5", fitting[0])] if fitting else []
    return found


def main(stacks: list[str]) -> None:
    """Write the table."""
    total: Counter[str] = Counter()
    for stack in stacks or sorted({p.parents[1].name for p in FIXTURES.glob("*/*/io.npz")}):
        count: Counter[str] = Counter()
        for file, base in cases(stack):
            with tempfile.TemporaryDirectory() as folder:
                told = outcome(file, base, Path(folder))
            kind = told.split()[0].rstrip(":")
            count[kind] += 1
            if kind != "equal":
                sys.stderr.write(f"{file.relative_to(FIXTURES)}: {told}\n")
        total += count
        sys.stdout.write(f"| {stack} | {count['equal']} | {count['refused']} | {count['no']} | {count['other']} |\n")
    sys.stdout.write(f"| all | {total['equal']} | {total['refused']} | {total['no']} | {total['other']} |\n")


if __name__ == "__main__":
    main(sys.argv[1:])
