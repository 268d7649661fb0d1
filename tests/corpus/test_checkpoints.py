"""TensorFlow checkpoints by people who never saw the reader: what is said of them, and whose weights come out.

What should come out is what the same stack wrote for the base model. `.meta` files are kept compressed.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import h5py
import pytest

import unnest
from tests.corpus.case import Case, cases, contents, limited
from tests.h5compare import names_of
from unnest.findings import Code

CASES = cases("checkpoint")
WRAPPERS = [c for c in CASES if c.parallel]
LOOKALIKES = [c for c in CASES if not c.parallel]

#: What the recogniser does not reach with the parallel model's JSON, and why.
LIMITS = {
    "128-tf27-subclassed-template": "the template keeps its layers in code, so there is no graph to look for",
    "149-tf18-wrapped-twice": "tf.keras 1.8 numbers layers and variables apart: neither name leads to the other",
}

#: What cannot be placed in full, and why: the code of the refusal.
REFUSED = {
    "114-trainable-only": ("weights-missing", "two moving statistics were never saved"),
    "142-k1-merge-function-newest-py27": (
        "weights-ambiguous",
        "no .meta: the order of a separable convolution is stored nowhere",
    ),
    "144-k216-shard-layer-shared-head": (
        "weights-ambiguous",
        "only a custom layer's code orders its trained weights",
    ),
    "149-tf18-wrapped-twice": ("architecture-mismatch", "see LIMITS"),
    "154-tf20-one-cutter-ftrl": (
        "weights-ambiguous",
        "only a custom layer's code orders its dictionary of layers",
    ),
    "163-tf215-bfloat16": ("dtype", "no .h5 has bfloat16; TF 2.15 cannot load its own"),
    "167-keras3-mixed-odd-layer": ("dtype", "no .h5 has bfloat16; Keras 3 writes two opaque bytes"),
    "311-k1-siamese-two-inputs": (
        "weights-unplaced",
        "'dense_1_W' may belong to a merge, says its name",
    ),
}

#: What comes out otherwise and is as good, and why.
AS_GOOD = {
    "112-gan-embedded-py27": "a model on the merge is its head: the template's layers are the model's own then",
    "147-k231-video-embedded-newest": "the same",
    "161-tf215-lion-embedded": "the same; the optimizer's state has the order of these layers",
}

#: Bases that were made with other names for layers, and which.
RENAMED = {"131-tf210-inline-embedded-stitch": "plus, which holds no weights"}

#: Where weights have other names than the base's, in the same order with the same bytes, and why.
NAMED = {
    "157-tf23-under-mirrored": "made under a strategy: variables have no full name stored: the cell lends its own",
    "158-tf27-mirrored-preprocessing": "the same; preprocessing layers name theirs without the layer",
}

#: Where the base's inputs or outputs are spelled otherwise (a list, a dictionary, or the one bare), and why.
SPELLED = {
    "158-tf27-mirrored-preprocessing": "the parallel model's outputs are a dictionary, its base was made with a list",
    "168-keras3-head-mirrored": "the parallel model's input stands bare, its base was made with a list",
}

#: Where `inspect` alone knows more than was asked for.
TOLD = {"120-tf113-save-weights": "TensorFlow 1.13 stores the architecture beside the weights"}

#: Look-alikes of which `inspect` alone says clean, and warns for nothing, and why.
CAUTIOUS = {
    "313-k216-two-domains": "what is joined along the batch has variables in common, so .meta alone leaves a doubt"
}

#: Templates' JSONs that cannot be told from others', and why.
UNTOLD = {
    "122-tf115-checkpoint-head": "it is that of the whole, head and all, which is no layer",
    "126-tf23-write-embedded": "it is that of the whole, in which the template is a model",
    "128-tf27-subclassed-template": "it is no graph",
    "131-tf210-inline-embedded-stitch": "it is that of the whole, in which the template is a model",
    "138-keras3-write-ops-split": "it is that of the whole, head and all, which is no layer",
    "155-tf22-head-best-only": "it is that of the whole, head and all, which is no layer",
    "161-tf215-lion-embedded": "it is that of the whole, in which the template is a model",
    "168-keras3-head-mirrored": "it is that of the whole, head and all, which is no layer",
}

#: Keys that `to_json()` has and .h5 has not, or the other way round.
SPELLING = frozenset({"module", "registered_name", "build_config", "compile_config", "shared_object_id",
                      "keras_version", "backend", "ragged"})  # fmt: skip


def of(chosen: list[Case]) -> pytest.MarkDecorator:
    """A test of each of these cases."""
    return pytest.mark.parametrize("case", chosen, ids=lambda c: c.name)


@of(CASES)
def test_alone(case: Case) -> None:
    """Parallel where .meta shows it; where names and objects do not tell, that."""
    facts = case.facts
    seen = unnest.inspect(case.sources[0])
    said = seen.verdict + (
        " with a warning" if any(f.severity == "warning" for f in seen.findings) else ""
    )
    also = [w.removeprefix("without_architecture: ") for w in facts["also_acceptable"]]
    wanted = {facts["without_architecture"], *facts["without_architecture_also_acceptable"], *also}
    assert seen.error is None
    if case.name in TOLD or case.name in CAUTIOUS:
        wanted = {"parallel" if case.name in TOLD else "clean with a warning"}
    assert said in wanted


@of(WRAPPERS)
def test_what_is_said(case: Case, request: pytest.FixtureRequest) -> None:
    """Towers and scope, with the JSON of the parallel model."""
    if not (case.folder / "model.json").exists():
        pytest.skip("the stack could not write the parallel model's JSON")
    limited(case, LIMITS, request)
    facts, seen = (
        case.facts,
        unnest.inspect(case.sources[0], architecture=case.folder / "model.json"),
    )
    assert (seen.error, seen.verdict, seen.wrappers[0].towers) == (
        None,
        "parallel",
        facts["towers"],
    )
    assert seen.wrappers[0].scope == ("head" if case.name in AS_GOOD else facts["scope"])


@pytest.mark.parametrize("to", ["h5", "weights"])
@of(WRAPPERS)
def test_what_comes_out(
    case: Case, to: Any, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The base's layers, weights, names and bytes; in .h5 its architecture and its optimizer's state too."""
    if case.name not in REFUSED:
        limited(case, LIMITS, request)
    given = case.folder / (
        "model.json" if (case.folder / "model.json").exists() else "base_model.json"
    )
    out = tmp_path / ("out.h5" if to == "h5" else "out.weights.h5")
    made = unnest.fix(case.sources[0], out, architecture=given, to=to)
    if case.name in REFUSED:
        assert made.error is not None
        assert (made.action, made.error.code) == ("refused", REFUSED[case.name][0])
        assert not out.exists()
        return
    assert made.error is None
    base = next(
        case.folder / n
        for n in ("base.h5" if to == "h5" else "base_weights.h5", "base.weights.h5")
        if (case.folder / n).exists()
    )
    if base.name == "base.weights.h5":
        assert tree(out, named=case.name not in NAMED) == tree(base, named=case.name not in NAMED)
        return
    named = case.name not in NAMED
    with h5py.File(out) as a, h5py.File(base) as b:
        if case.name in {*AS_GOOD, *RENAMED}:
            assert sorted(w for _, own in weights(a) for w in own) == sorted(
                w for _, own in weights(b) for w in own
            )
            return
        assert weights(a, named=named) == weights(b, named=named)
        if to == "h5":
            made_of, wanted = (
                plain(f.attrs["model_config"], ends=case.name not in SPELLED) for f in (a, b)
            )
            assert made_of == wanted
            state = [
                tensors(f["optimizer_weights"], named=False) if "optimizer_weights" in f else None
                for f in (a, b)
            ]
            assert (
                state[0] == state[1]
                or "optimizer-dropped" in {f.code for f in made.findings}
                or not state[1]
            )


@of(
    [
        c
        for c in WRAPPERS
        if (c.folder / "model.json").exists() and (c.folder / "base_model.json").exists()
    ]
)
def test_with_the_templates_json(case: Case, tmp_path: Path) -> None:
    """The same weights, or a refusal; never a layer without its weights."""
    made = unnest.fix(
        case.sources[0],
        tmp_path / "out.h5",
        architecture=case.folder / "base_model.json",
        to="weights",
    )
    if case.name in UNTOLD or case.name in REFUSED:
        assert (made.action, (tmp_path / "out.h5").exists()) == ("refused", False)
        return
    assert made.error is None
    if (case.folder / "base_weights.h5").exists():
        with h5py.File(tmp_path / "out.h5") as a, h5py.File(case.folder / "base_weights.h5") as b:
            named = case.name not in NAMED
            assert weights(a, named=named) == weights(b, named=named)


@pytest.mark.parametrize("given", [None, "model.json"])
@of(LOOKALIKES)
def test_lookalike(case: Case, given: str | None, tmp_path: Path) -> None:
    """Stays byte for byte; asked for in another container, it is what its own stack writes."""
    if given and not (case.folder / given).exists():
        pytest.skip("the stack could not write the JSON")
    architecture = case.folder / given if given else None
    seen = unnest.inspect(case.sources[0], architecture=architecture)
    assert (seen.error, seen.verdict) == (None, "clean")
    made = unnest.fix(
        case.sources[0], tmp_path / "copy" / case.sources[0].name, architecture=architecture
    )
    assert made.action == "failed"  # the folder is not there
    (tmp_path / "copy").mkdir()
    made = unnest.fix(
        case.sources[0], tmp_path / "copy" / case.sources[0].name, architecture=architecture
    )
    assert (made.error, made.action) == (None, "unchanged")
    copied = contents(tmp_path / "copy")
    assert copied == {n: data for n, data in contents(case.folder).items() if n in copied}
    assert any(n.endswith(".index") for n in copied)
    if given:
        keras3 = not (case.folder / "base_weights.h5").exists()
        out = tmp_path / ("out.weights.h5" if keras3 else "out.h5")
        made = unnest.fix(case.sources[0], out, architecture=architecture, to="weights")
        if case.name in REFUSED:
            assert made.error is not None
            assert (made.action, made.error.code, out.exists()) == (
                "refused",
                REFUSED[case.name][0],
                False,
            )
            return
        assert made.action == "converted"
        if keras3:
            assert tree(out) == tree(case.folder / "base.weights.h5")
            return
        with h5py.File(out) as a, h5py.File(case.folder / "base_weights.h5") as b:
            assert weights(a) == weights(b)


def test_another_copy_without_meta(tmp_path: Path) -> None:
    """Two sets of variables fit, and nothing shows which one was trained: not the nicer names."""
    folder = next(c.folder for c in WRAPPERS if c.name.startswith("108"))
    for file in folder.glob("parallel.ckpt.[di]*"):
        shutil.copy(file, tmp_path)
    made = unnest.fix(
        tmp_path / "parallel.ckpt", tmp_path / "out.h5", architecture=folder / "model.json", to="h5"
    )
    assert made.error is not None
    assert (made.action, made.error.code) == ("refused", "weights-ambiguous")
    assert "conv_1" in made.error.message
    assert (
        unnest.inspect(tmp_path / "parallel.ckpt", architecture=folder / "model.json").verdict
        == "parallel"
    )


@pytest.mark.parametrize(
    ("given", "load"),
    [
        (
            "base_model.json",
            "tf.train.Checkpoint(model=tf.train.Checkpoint(**{'layer_with_weights-0': MODEL}))",
        ),
        ("model.json", "tf.train.Checkpoint(model=MODEL)"),
    ],
)
def test_an_order_that_only_code_knows(given: str, load: str, tmp_path: Path) -> None:
    """The wrapper shows all the same, and the report says how to load what is within it with the code."""
    folder = next(c.folder for c in WRAPPERS if c.name.startswith("154"))
    file, architecture = folder / "parallel.ckpt-1", folder / given
    assert unnest.inspect(file, architecture=architecture).verdict == "parallel"
    made = unnest.fix(file, tmp_path / "out.h5", architecture=architecture)
    assert made.error is not None
    assert made.error.message.endswith(
        "the order of the weights of 'mixer' is known to the code of Mixer alone; load it into the MODEL that your "
        f"code makes, {load}.restore({str(file)!r}), and save that as .h5"
    )


def test_tables_name_cases() -> None:
    """No row outlives its case; the warning that is asked for is the one that is given."""
    assert {*LIMITS, *REFUSED, *AS_GOOD, *NAMED, *SPELLED, *TOLD, *CAUTIOUS, *UNTOLD} <= {
        c.name for c in CASES
    }
    assert Code.NEEDS_ARCHITECTURE().severity == "warning"


def tensors(
    group: h5py.Group, *, named: bool = True
) -> list[tuple[str, str, tuple[int, ...], bytes]]:
    """A group's weights in its order."""
    return [
        (n if named else "", group[n].dtype.str, group[n].shape, group[n][()].tobytes())
        for n in names_of(group, "weight_names")
    ]


def weights(
    file: h5py.File, *, named: bool = True
) -> list[tuple[str, list[tuple[str, str, tuple[int, ...], bytes]]]]:
    """Every layer with its weights; newer files end in a group of the model's own, mostly empty."""
    root = file.get("model_weights", file)
    return [(n, tensors(root[n], named=named)) for n in names_of(root, "layer_names")]


def tree(path: Path, *, named: bool = True) -> dict[str, tuple[str | None, bytes | None]]:
    """A path-keyed file; a model's automatic name is not compared, nor an optimizer, which no weights have."""
    found: dict[str, tuple[str | None, bytes | None]] = {}

    def keep(name: str, item: h5py.Group | h5py.Dataset) -> None:
        data = item[()].tobytes() if isinstance(item, h5py.Dataset) else None
        found[name] = (None if name == "vars" or not named else item.attrs.get("name"), data)

    with h5py.File(path) as file:
        file.visititems(keep)
    return {k: v for k, v in found.items() if k.split("/")[0] != "optimizer"}


def plain(text: Any, *, ends: bool = True) -> Any:
    """The architecture without what `to_json()` and .h5 spell differently, and without the model's own name.

    `ends=False` makes lists of what the inputs and outputs may be else.
    """
    model = without(json.loads(text))
    config = model["config"]
    if isinstance(config, dict):
        config = {k: v for k, v in config.items() if k not in ("name", "trainable", "dtype")}
        if not ends:
            config |= {k: listed(config[k]) for k in ("input_layers", "output_layers")}
    return model["class_name"].replace("Functional", "Model"), config


def listed(value: Any) -> Any:
    """Inputs or outputs as a list, in their order."""
    value = list(value.values()) if isinstance(value, dict) else value
    return [value] if isinstance(value[0], str) else value


def without(value: Any) -> Any:
    """JSON without the keys of SPELLING."""
    if isinstance(value, dict):
        return {k: without(v) for k, v in value.items() if k not in SPELLING}
    return [without(v) for v in value] if isinstance(value, list) else value
