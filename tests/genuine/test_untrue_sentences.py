"""Sentences of a report on a file, or on an output, are true."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

import unnest
from tests.corpus.unpacked import FIXTURES, TREE
from tests.judged import check_verdict
from unnest.cli import app
from unnest.report import text_report

MODEL = FIXTURES / "k224" / "official-cnn-adam" / "parallel.h5"


def test_json_holds_no_weights(tmp_path: Path) -> None:
    """So none were kept."""
    result = unnest.fix(MODEL, tmp_path / "m.json")
    told = text_report.render(result, text_report.Look(verbose=True))
    assert "the weights" in told
    assert "weight was kept" not in told


@pytest.mark.parametrize("options", [{}, {"keras": "3"}, {"in_place": True}])
def test_a_dry_run_loads_nothing(options: dict[str, bool], tmp_path: Path) -> None:
    """An output that does not exist has no line that loads it; an existing file is unchanged."""
    path = tmp_path / "m.h5"
    shutil.copy(MODEL, path)
    result = unnest.fix(path, dry_run=True, **options)  # type: ignore[arg-type]  # one of several options
    assert result.action in ("would-fix", "would-convert")
    assert result.load is None
    assert "load_model(" not in text_report.render(result)


def test_a_dry_run_of_what_is_there(tmp_path: Path) -> None:
    """An output of an earlier run loads."""
    assert unnest.fix(MODEL, tmp_path / "o.h5").load is not None
    again = unnest.fix(MODEL, tmp_path / "o.h5", dry_run=True)
    assert (again.action, again.load is None) == ("unchanged", False)


@pytest.mark.parametrize("options", [{"to": "h5"}, {"keras": "3"}])
def test_a_serving_graph_is_no_file_of_weights(options: dict[str, str], tmp_path: Path) -> None:
    """It is a graph without Keras's layers."""
    folder = FIXTURES / "saved_model" / "tf23" / "plain-official-named" / "parallel"
    shutil.copytree(folder, tmp_path / "sm", ignore=shutil.ignore_patterns("keras_metadata.pb"))
    result = unnest.fix(tmp_path / "sm", **options)  # type: ignore[arg-type]  # one of several options
    assert result.error is not None
    assert result.error.code == "no-architecture"
    assert "is a serving graph without Keras's layers" in result.error.message


def test_a_wrapper_that_the_layers_do_not_show() -> None:
    """The SavedModel has Keras's layers: its slices are functions whose code the metadata do not hold."""
    result = unnest.fix(FIXTURES / "training_only" / "tf27-activations", keras="3", dry_run=True)
    assert result.error is not None
    assert "shows the wrapper in its serving graph, not in its Keras layers" in result.error.message
    assert "--slice-layer" not in result.error.message  # no class of one's own is there


def test_a_tokenizer_is_no_model(tmp_path: Path) -> None:
    """Its JSON looks like a layer's; a walk passes it by."""
    config = {
        "num_words": None,
        "document_count": 2,
        "word_counts": "{}",
        "word_docs": "{}",
        "word_index": "{}",
    }
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps({"class_name": "Tokenizer", "config": config}))
    report = unnest.inspect(path)
    assert report.verdict == "unreadable"
    assert report.error is not None
    assert "is the JSON of a Tokenizer" in report.error.message
    # A model may be called so: its layers show that it is one.
    path.write_text(json.dumps({"class_name": "Tokenizer", "config": {"name": "m", "layers": []}}))
    check_verdict(unnest.inspect(path), "clean")


@pytest.mark.parametrize("name", ["int8-base.h5", "lora-base.h5"])
def test_keras_3_stays_where_no_other_container_holds_it(name: str, tmp_path: Path) -> None:
    """`--keras 3` of what is Keras 3's already asks for no conversion, and gets no advice on one."""
    shutil.copy(FIXTURES / "quantized" / name, tmp_path / "m.h5")
    result = unnest.fix(tmp_path / "m.h5", keras="3")
    assert (result.action, result.error) == ("unchanged", None)
    asked = unnest.fix(tmp_path / "m.h5", keras="3", to="keras")
    assert asked.action == "refused"
    fixed = unnest.fix(
        FIXTURES / "quantized" / name.replace("base", "parallel"), tmp_path / "o.h5", keras="3"
    )
    assert fixed.error is None


@pytest.mark.parametrize(
    ("name", "is_named"),
    [
        ("k209-characters", False),
        ("k209-masking", False),
        ("k209-outer", False),
        ("k209-ids", False),
        ("k209-dense", True),
        ("k209-twice", True),
        ("k216-dense", True),
        ("k224-characters", True),
        ("k224-fixed", False),  # stateful: from the second batch on
        ("k231-batch", False),
        ("tf210-batch", True),
    ],
)
def test_tf_keras_is_named_where_masks_are_the_same(name: str, is_named: bool) -> None:
    """Seen in tf_keras 2.21: others predict 0.05 to 0.3 off; a TimeDistributed got no mask before Keras 2.2."""
    report = unnest.inspect(FIXTURES / "masked_in_steps" / f"{name}.h5")
    assert any("tf_keras" in software for software in report.loads_in) is is_named
    assert "tf_keras" in str(report.load) or not is_named


@pytest.mark.parametrize("name", ["tf23", "tf215", "tf215-restored", "tf215-untraced"])
def test_a_subclassed_saved_model_is_no_graph_alone(name: str) -> None:
    """Its metadata name the class and the Keras that wrote it; no graph of its layers is stored."""
    folder = FIXTURES / "subclassed" / name
    facts = json.loads((folder.parent / f"{name}.json").read_text())
    report = unnest.inspect(folder)
    assert (report.verdict, report.writer.keras_version) == ("clean", facts["keras_version"])
    assert [f.message for f in report.findings if f.code == "no-graph"] == [
        f"{facts['class']} keeps its layers in code: the file has no graph of them"
    ]
    in_keras = ("tf_keras (Keras 2)", f"Keras {facts['keras_version']}, which wrote it")
    is_named = facts["loads_without_class"]
    assert report.loads_in == ("TensorFlow", *(in_keras if is_named else ()))
    assert report.needs.classes == ()
    result = unnest.fix(folder, keras="3", dry_run=True)
    assert result.error is not None
    assert f"is a subclassed model: only the code of {facts['class']!r}" in result.error.message


def test_without_metadata_a_graph_alone_is_left(tmp_path: Path) -> None:
    """Where the metadata are lost, nothing names a class."""
    folder = shutil.copytree(FIXTURES / "subclassed" / "tf215", tmp_path / "sm")
    (folder / "keras_metadata.pb").unlink()
    assert unnest.inspect(folder).findings == ()
    result = unnest.fix(folder, keras="3", dry_run=True)
    assert result.error is not None
    assert "is a serving graph without Keras's layers" in result.error.message


@pytest.mark.parametrize(
    ("name", "contents"),
    [
        (
            "fixtures/weights_h5/keras3/weights_h5-carried-named-adam/base.weights.h5",
            "62 parameters",
        ),
        ("fixtures/checkpoint/tf23/checkpoint-official-named-adam/parallel.ckpt", "62 parameters"),
        ("tests/corpus/cases/checkpoint/138-keras3-write-ops-split/parallel.ckpt", "67 parameters"),
        (
            "tests/corpus/cases/checkpoint/309-channel-slices-get-slice/parallel.ckpt",
            "88 numbers, an optimizer's among them if it was saved",
        ),
    ],
)
def test_an_optimizers_variables_are_no_parameters(name: str, contents: str) -> None:
    """Objects show which variables are an optimizer's, its slots, counters and settings; names alone do not."""
    shown = CliRunner().invoke(app.program(), ["inspect", "-v", str(TREE / name)])
    assert f"\n  model: {contents}\n" in shown.stdout
