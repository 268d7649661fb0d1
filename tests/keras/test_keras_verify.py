"""--verify: what is loaded, run and compared, and what is said where that cannot be."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import unnest
from tests.corpus.unpacked import FIXTURES
from unnest.keras import verify_worker
from unnest.outputs import verify


def codes(result: unnest.Result) -> dict[str, str]:
    """Code -> message of the findings."""
    return {f.code: f.message for f in result.findings}


@pytest.mark.parametrize(
    ("name", "output", "checks", "told"),
    [
        # Slices that are operations run in tf_keras: both predict the same.
        (
            "tfkeras/opslice-multiio-x2-sgd-byname/parallel.h5",
            "o.h5",
            ["loads in tf_keras", "runs", "predictions"],
            None,
        ),
        (
            "tf215/carried-cnn-adam/base.h5",
            "o.keras",
            ["loads in Keras 3", "runs"],
            "does not run in Keras 3",
        ),
        (
            "keras_zip/keras3/keras_zip-opsplit-cnn/parallel.keras",
            "o.keras",
            ["loads in Keras 3", "runs", "predictions"],
            None,
        ),
        # Slices that are stored code are not run.
        (
            "k224/official-named-adam-embedded/parallel.h5",
            "o.h5",
            ["loads in tf_keras", "runs"],
            "holds code",
        ),
        ("k224/official-lambdas/parallel.h5", "o.h5", [], "stored code, which is not run"),
        ("k224/official-custom-adam/parallel.h5", "o.h5", [], "Affine"),
        ("k122/kuza-mlp-x2-adam/parallel.h5", "o.h5", [], "tf_keras does not load it"),
        ("k224/official-cnn-weights/weights.h5", "o.h5", [], "weights alone"),
    ],
)
def test_genuine(
    name: str, output: str, checks: list[str], told: str | None, tmp_path: Path
) -> None:
    """The result is what it would be without; the checks and a finding say what was done."""
    done = unnest.fix(FIXTURES / name, tmp_path / output, verify=True)
    assert done.error is None
    assert [
        c for c in done.checks if c in ("runs", "predictions") or c.startswith("loads")
    ] == checks
    assert ("verified" in codes(done)) == (told is None)
    assert told is None or told in codes(done)["not-verified"]
    plain = unnest.fix(FIXTURES / name, tmp_path / f"plain-{output}")
    assert plain.action == done.action
    if output == "o.h5":
        assert (tmp_path / output).read_bytes() == (tmp_path / f"plain-{output}").read_bytes()


def test_other_predictions_fail(tmp_path: Path) -> None:
    """The output is compared with the input: another weight in it is noticed."""
    source = shutil.copy(FIXTURES / "tf215/carried-cnn-adam/base.h5", tmp_path / "m.h5")
    before = unnest.inspect(source)
    done = unnest.fix(source, tmp_path / "o.h5")
    with h5py.File(tmp_path / "o.h5", "r+") as file:
        weights: list[Any] = []
        file["model_weights"].visititems(
            lambda _, o: weights.append(o) if hasattr(o, "shape") else None
        )
        kernel = next(w for w in weights if len(w.shape) > 1)
        kernel[...] = kernel[...] + 1
    wrong = verify.verify_output(done, before)
    assert wrong.error is not None
    assert (wrong.action, wrong.error.code) == ("failed", "verify")
    assert "predicts something else" in wrong.error.message
    (tmp_path / "o.h5").write_bytes(b"no model")
    gone = verify.verify_output(done, before)
    assert gone.error is not None
    assert "does not load in tf_keras" in gone.error.message
    assert "\n" not in gone.error.message


def test_its_memory_is_limited(tmp_path: Path) -> None:
    """A process that wants more ends, and that is an answer."""
    job = {
        "keras": "keras",
        "output": str(tmp_path / "none.keras"),
        "input": None,
        "rows": 4,
        "memory": 64 << 20,
    }
    outcome = verify._run_worker(job)
    assert outcome["loaded"] is False
    assert outcome["why"]


def test_time_is_limited(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Whatever the model does."""
    monkeypatch.setattr(verify, "PATIENCE", 0.01)
    done = unnest.fix(
        FIXTURES / "tf215/carried-cnn-adam/base.h5",
        tmp_path / "o.keras",
        keras="original",
        verify=True,
    )
    assert done.error is None
    assert "took longer" in codes(done)["not-verified"]


def test_what_is_not_one_file_is_verified_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A checkpoint's prefix has no size."""
    jobs: list[dict[str, Any]] = []

    def tried(job: dict[str, Any]) -> dict[str, Any]:
        jobs.append(job)
        return {"loaded": True, "ran": True, "why": None, "difference": None}

    monkeypatch.setattr(verify, "_run_worker", tried)
    folder = FIXTURES / "checkpoint/tf215/checkpoint-carried-named-adam"
    done = unnest.fix(
        folder / "parallel.ckpt",
        tmp_path / "o.keras",
        architecture=folder / "model.json",
        keras="3",
        verify=True,
    )
    assert done.error is None
    assert [(job["output"], job["input"]) for job in jobs] == [(str(tmp_path / "o.keras"), None)]
    size = (tmp_path / "o.keras").stat().st_size
    assert jobs[0]["memory"] == verify.MEMORY + verify.PER_BYTE * size


def test_without_tensorflow_another_backend_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keras 3 and JAX are enough, for which Keras has to be asked by its name; neither Keras alone nor JAX alone is."""
    installed = {"keras", "jax"}
    monkeypatch.setattr(verify, "find_spec", lambda name: name if name in installed else None)
    monkeypatch.delenv("KERAS_BACKEND", raising=False)
    environments = []

    def answer(*_: object, env: dict[str, str], **__: object) -> subprocess.CompletedProcess[str]:
        environments.append(env)
        return subprocess.CompletedProcess([], 0, "{}", "")

    monkeypatch.setattr(subprocess, "run", answer)
    verify.check_installed()
    verify._run_worker({"keras": "keras"})
    assert environments[0]["KERAS_BACKEND"] == "jax"
    installed.add("tensorflow")
    verify._run_worker({"keras": "keras"})
    assert "KERAS_BACKEND" not in environments[1]
    for missing in ({"keras"}, {"jax"}):
        installed.clear()
        installed.update(missing)
        with pytest.raises(unnest.UsageError, match="needs Keras and its backend"):
            verify.check_installed()


def test_outputs_of_any_form_are_flattened() -> None:
    """In one order: a dict's by their names."""
    assert [*verify_worker.flat({"b": [1, (2, 3)], "a": 0})] == [0, 1, 2, 3]
    assert [*verify_worker.flat(7)] == [7]


def test_a_difference_is_a_share_of_the_largest_prediction() -> None:
    """Shapes that differ, and what is no number, are as far off as can be."""
    ones = np.ones((2, 2))
    assert verify_worker.difference([ones * 10, ones], [ones * 10, ones * 2]) == pytest.approx(0.1)
    assert verify_worker.difference([ones], [np.ones((2, 3))]) == float("inf")
    assert verify_worker.difference([ones * np.nan], [ones]) == float("inf")
    assert verify_worker.difference([], []) == 0
    json.dumps(verify_worker.difference([ones], [ones]))
