"""`load_weights` for a genuine file, its base in Keras 3, renamed and random, being the model.

python -m tests.keras.load_weights_table [STACK...]       a table on stdout; every refusal on stderr
python -m tests.keras.load_weights_table --write          all of them, into docs/keras3-measured.md
python -m tests.keras.load_weights_table --tf_keras       all of them, with models of tf_keras; a table on stdout
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import warnings
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import unnest
from tests.corpus.unpacked import FIXTURES

#: float32 sums in another order, as a share of the largest recorded number above 1; those of float16.
TOLERANCE, HALF_TOLERANCE = 1e-5, 1e-3


def renamed(model: Any, library: Any) -> Any:
    """The model anew, as a program that had made other layers before it would call its layers."""
    architecture = json.loads(model.to_json())
    names: set[str] = set()

    def collect(value: Any) -> None:
        if isinstance(value, dict):
            config = value.get("config")
            if (
                "class_name" in value
                and isinstance(config, dict)
                and isinstance(config.get("name"), str)
            ):
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
    return library.models.model_from_json(json.dumps(changed(architecture)))


def predictions(model: Any, x: list[Any]) -> list[Any]:
    """Return the model's outputs, without training."""
    from keras import ops, tree

    given, rows = x if len(x) > 1 else x[0], model.inputs[0].shape[0]
    if rows is None or rows == len(x[0]):
        out = model(given, training=False)
    else:
        out = model.predict(given, batch_size=rows, verbose=0)
    return [np.asarray(ops.convert_to_numpy(o)) for o in tree.flatten(out)]


def opened(path: Path, library: Any) -> Any:
    """The model of a file, or of its JSON."""
    if path.suffix == ".json":
        return library.models.model_from_json(path.read_text("utf8"))
    return library.models.load_model(path, compile=False)


#: Names of the base's predictions in an `io.npz`: of the first `rows` rows, or of all.
ANSWER = re.compile(r"(?:y_?|base_(?:(?P<rows>\d+)_)?)\d+")


def recorded(file: Path, base: Any) -> tuple[list[Any], list[Any]]:
    """Inputs, and what the model of a file predicted for them: as it was recorded beside it, or as the base does."""
    arrays: dict[str, Any] = {}
    if (io_file := recorded_beside(file)) is not None:
        with np.load(io_file) as io:
            arrays = dict(io)
    answers = [(m, a) for name, a in sorted(arrays.items()) if (m := ANSWER.fullmatch(name))]
    rows = max((int(m["rows"] or 0) for m, _ in answers), default=0)
    x = [a[: rows or None] for name, a in sorted(arrays.items()) if name[0] == "x"]
    y = [a for m, a in answers if int(m["rows"] or 0) == rows]
    shapes = [
        [tuple(each.shape[1:]) for each in ends] for ends in (x, base.inputs, y, base.outputs)
    ]
    if shapes[0] == shapes[1] and len(y) == len(base.outputs):
        return x, y
    # They were recorded of the parallel model, whose inputs and outputs stand in another order.
    rng = np.random.default_rng(1)
    x = [rng.uniform(0, 1, [n or 4 for n in i.shape]).astype(i.dtype) for i in base.inputs]
    return x, predictions(base, x)


def outcome(file: Path, base: Path, folder: Path, library: str = "keras") -> str:
    """`equal`, `refused: WHY`, `other by SIZE`, or `no model: WHY` where that Keras cannot hold the base."""
    from unnest.keras import load_weights

    api, is_keras_3 = import_module(library), library == "keras"
    copy = folder / (
        "base.json" if base.suffix == ".json" else "base.keras" if is_keras_3 else "base.h5"
    )
    result = unnest.fix(base, copy, keras="3" if is_keras_3 else "original", force=True)
    if result.error is not None:
        return f"no model: {result.error.message}"
    written = copy if copy.exists() else base
    try:
        base_model = opened(written, api)
        model = renamed(base_model, api)
    except Exception as e:  # noqa: BLE001 - classes of the file's own
        return f"no model: {' '.join(str(e).split())[:100]}"
    if any(str(i.dtype) == "string" for i in model.inputs):
        return "no model: its inputs are text"
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
    x, y = recorded(file, base_model)
    found = predictions(model, x)
    pairs = [(a.astype("f8"), b) for a, b in zip(found, y, strict=True)]
    off = max(float(np.max(np.abs(a - b))) / max(1.0, float(np.max(np.abs(b)))) for a, b in pairs)
    is_half = any("float16" in str(layer.compute_dtype) for layer in model.layers)
    return "equal" if off <= (HALF_TOLERANCE if is_half else TOLERANCE) else f"other by {off:.1e}"


def recorded_beside(file: Path) -> Path | None:
    """Return the predictions that were recorded of a file, or of the one that TensorFlow.js's converter read."""
    beside = file.with_name("io.npz")
    if beside.exists():
        return beside
    source = note_of(file).get("source") if file.with_name("case.json").exists() else None
    return None if source is None else (FIXTURES / source).with_name("io.npz")


def note_of(file: Path) -> dict[str, Any]:
    """Return the note of a case."""
    note: dict[str, Any] = json.loads(file.with_name("case.json").read_text())
    return note


#: Stacks whose bases tf_keras does not load: Keras 1, Keras 3, and code of a Python that is not today's.
NOT_TF_KERAS = ("k12", "py27k12", "keras3")


def cases(stack: str, library: str = "keras") -> list[tuple[Path, Path]]:
    """The files of a stack, each with a base whose architecture is stored: weights alone with another stack's.

    So have files of stacks whose bases `library` does not load.
    """
    bases, found = bases_by_model(), []
    if library == "tf_keras":
        bases = {
            model: kept
            for model, paths in bases.items()
            if (kept := [p for p in paths if not p.parents[1].name.startswith(NOT_TF_KERAS)])
        }
    for folder in sorted((FIXTURES / stack).iterdir()):
        if not (folder / "io.npz").exists():
            continue
        note = json.loads((folder / "case.json").read_text())
        fitting = bases.get((note.get("model", ""), note.get("base_class", "")), [])
        fitting = sorted(
            fitting, key=lambda p: (p.parents[1].name != stack, p.parents[1].name[:2] != stack[:2])
        )
        is_foreign = library == "tf_keras" and stack.startswith(NOT_TF_KERAS)
        for name in ("h5", "keras"):
            file, base = folder / f"parallel.{name}", folder / f"base.{name}"
            base = next(iter(fitting), base) if is_foreign else base
            found += [(file, base)] if file.exists() and base.exists() else []
        found += (
            [(folder / "weights.h5", fitting[0])]
            if (folder / "weights.h5").exists() and fitting
            else []
        )
    return found


def bases_by_model() -> dict[tuple[str, str], list[Path]]:
    """Return the single-device files of every stack, by (model, its class)."""
    bases: dict[tuple[str, str], list[Path]] = {}
    for path in sorted(FIXTURES.glob("*/*/base.h5")):
        note = note_of(path)
        if note.get("model") and note.get("situation") in ("plain", None, "double", "reload"):
            bases.setdefault((note["model"], note.get("base_class", "")), []).append(path)
    return bases


#: Container -> its parallel files below the fixtures.
CONTAINERS = {
    "`.h5`, a whole model": ("*/*/parallel.h5",),
    "`.h5`, weights alone": ("*/*/weights.h5",),
    "`.keras`": ("keras_zip/*/*/parallel.keras", "*/*/parallel.keras"),
    "`.weights.h5`, also sharded": (
        "weights_h5/*/*/parallel.weights.h5",
        "weights_h5/*/*/parallel.weights.json",
    ),
    "SavedModel with Keras's metadata": ("saved_model/*/saved_model-*/parallel/saved_model.pb",),
    "checkpoint": ("checkpoint/*/*/parallel.ckpt.index",),
    "TensorFlow.js": ("tfjs/*/model.json",),
}
#: Era -> the beginnings of its stacks' names.
ERAS = {
    "Keras 1": ("k12", "py27k12"),
    "Keras 2.0 to 2.3": ("k2", "py27k2"),
    "tf.keras 1": ("tfk1", "py27tfk1"),
    "tf.keras 2.0 to 2.11": ("tf20", "tf22", "tf23", "tf27", "tf210"),
    "Keras 2.12 to 2.15, tf_keras": ("tf212", "tf213", "tf214", "tf215", "tfkeras"),
    "Keras 3": ("keras3",),
}
PAGE = Path(__file__).parents[2] / "docs" / "keras3-measured.md"
BEGIN, END = (
    "<!-- load_weights: python -m tests.keras.load_weights_table --write -->\n",
    "<!-- /load_weights -->",
)


def era_of(stack: str) -> str | None:
    """Return the era of a stack: the one with the longest beginning of its name."""
    found = [
        (len(start), era)
        for era, starts in ERAS.items()
        for start in starts
        if stack.startswith(start)
    ]
    return max(found)[1] if found else None


def files_of(container: str) -> list[tuple[Path, Path, str]]:
    """Return (file, base, stack) of every parallel model in a container whose predictions were recorded."""
    bases, found = bases_by_model(), []
    for path in sorted(
        {path for pattern in CONTAINERS[container] for path in FIXTURES.glob(pattern)}
    ):
        file = {"saved_model.pb": path.parent, "parallel.ckpt.index": path.with_suffix("")}.get(
            path.name, path
        )
        if not file.with_name("case.json").exists():
            continue
        note = note_of(file)
        is_converted = (
            "source" in note and not note["options"] and (FIXTURES / note["source"]).is_file()
        )
        if not is_converted and not file.with_name("io.npz").exists():
            continue
        beside = (FIXTURES / note["source"]).with_name("base.h5") if is_converted else None
        own = [
            file.with_name(name)
            for name in ("base.h5", "base.keras", "base.json", "base", "model.json")
        ]
        fitting = bases.get((note.get("model", ""), note.get("base_class", "")), [])
        candidates = (
            [beside] if beside else [*(p for p in own if p.exists() and p != file), *fitting]
        )
        if candidates and candidates[0] is not None and candidates[0].exists():
            found.append((file, candidates[0], str(note["stack"])))
    return found


def table() -> str:
    """Return the table of container and era: of how many files every weight was set, and predictions are the same."""
    lines = [f"| container | {' | '.join(ERAS)} |", f"|{'---|' * (len(ERAS) + 1)}"]
    wrong = without = 0
    for container in CONTAINERS:
        counts: dict[str, Counter[str]] = {era: Counter() for era in ERAS}
        for file, base, stack in files_of(container):
            era = era_of(stack)
            if era is None:
                continue
            with tempfile.TemporaryDirectory() as folder:
                told = outcome(file, base, Path(folder))
            kind = told.split()[0].rstrip(":")
            counts[era][kind] += 1
            if kind != "equal":
                sys.stderr.write(f"{file.relative_to(FIXTURES)}: {told}\n")
        wrong += sum(count["other"] for count in counts.values())
        without += sum(count["no"] for count in counts.values())
        cells = [
            f"{c['equal']} of {c['equal'] + c['refused'] + c['other']}" if c else ""
            for c in counts.values()
        ]
        lines.append(f"| {container} | {' | '.join(cells)} |")
    told = (
        f"{wrong or 'None'} predicts something else; the others are refused with the layer's name. "
    )
    left = f"{without} more could not be asked: Keras 3 cannot hold their model, or it needs classes of its author.\n"
    return "".join(f"{line}\n" for line in lines) + f"\n{told}{left}"


def main(stacks: list[str]) -> None:
    """Write the table."""
    library = "tf_keras" if stacks == ["--tf_keras"] else "keras"
    stacks = [] if library == "tf_keras" else stacks
    if stacks == ["--write"]:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        PAGE.write_text(before + BEGIN + table() + END + rest.partition(END)[2], encoding="utf-8")
        return
    total: Counter[str] = Counter()
    for stack in stacks or sorted({p.parents[1].name for p in FIXTURES.glob("*/*/io.npz")}):
        count: Counter[str] = Counter()
        for file, base in cases(stack, library):
            with tempfile.TemporaryDirectory() as folder:
                told = outcome(file, base, Path(folder), library)
            kind = told.split()[0].rstrip(":")
            count[kind] += 1
            if kind != "equal":
                sys.stderr.write(f"{file.relative_to(FIXTURES)}: {told}\n")
        total += count
        sys.stdout.write(
            f"| {stack} | {count['equal']} | {count['refused']} | {count['no']} | {count['other']} |\n"
        )
    sys.stdout.write(
        f"| all | {total['equal']} | {total['refused']} | {total['no']} | {total['other']} |\n"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
