"""Every checkpoint is the template's, bit for bit, and training goes on from it as if never interrupted."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unnest.keras import multi_gpu_model

HERE = Path(__file__).parent
spec = importlib.util.spec_from_file_location("stranger", HERE / "stranger.py")
assert spec
assert spec.loader
stranger = importlib.util.module_from_spec(spec)
spec.loader.exec_module(stranger)

TRIGGERS: dict[str, dict[str, Any]] = {
    "epoch": {},
    "steps": {"save_freq": 3},
    "best": {"save_best_only": True, "monitor": "loss", "mode": "min"},
    "best_step": {"save_best_only": True, "monitor": "loss", "mode": "min", "save_freq": 3},
}
CONTAINERS = {
    "keras": {"m.keras": True, "m.h5": False, "m.weights.h5": True},
    "tf_keras": {
        "m.keras": True,
        "m.h5": True,
        "m.weights.h5": True,
        "w.h5": False,
        "saved": False,
        "prefix": True,
    },
}
"""Files by Keras, and whether stock Keras itself can resume from them: docs/checkpoints.md says which."""

WEIGHTS = ("m.weights.h5", "w.h5", "prefix")


def jobs(name: str, folder: Path) -> list[dict[str, Any]]:
    return [
        {
            "path": str(folder / trigger / container / container),
            "trigger": trigger,
            "weights_only": container in WEIGHTS,
            "resume": resumes,
        }
        for trigger in TRIGGERS
        for container, resumes in CONTAINERS[name].items()
    ]


def run(keras: Any, checkpoint: Any, todo: list[dict[str, Any]]) -> tuple[list[Any], list[float]]:
    """Three steps in towers, at whose end every checkpoint is due, then on: the weights then, the losses after."""
    template = stranger.template(keras)
    parallel = multi_gpu_model(template, 2)
    parallel.compile(**stranger.settings(keras))
    batches = stranger.data(3)
    x = np.concatenate([x for x, _ in batches])
    y = [np.concatenate(parts) for parts in zip(*(y for _, y in batches), strict=True)]
    callbacks = [
        checkpoint(job["path"], save_weights_only=job["weights_only"], **TRIGGERS[job["trigger"]])
        for job in todo
    ]
    parallel.fit(x, y, batch_size=8, epochs=1, verbose=0, shuffle=False, callbacks=callbacks)
    weights = template.get_weights()
    assert getattr(template, "optimizer", None) is None, (
        "the user's template was not compiled, and is not now"
    )
    return weights, stranger.next_losses(parallel)


def resumed(keras: Any, job: dict[str, Any]) -> list[float]:
    """The losses of a resumed run in towers."""
    template = stranger.load(keras, job)
    parallel = multi_gpu_model(template, 2)
    parallel.compile(**{**stranger.settings(keras), "optimizer": template.optimizer})
    losses: list[float] = stranger.next_losses(parallel)
    return losses


def assert_all_resume(
    keras: Any, checkpoint: Any, folder: Path, todo: list[dict[str, Any]]
) -> None:
    weights, losses = run(keras, checkpoint, todo)
    (folder / "jobs.json").write_text(json.dumps(todo))
    out = folder / "out.npz"
    command = [
        sys.executable,
        str(HERE / "stranger.py"),
        keras.__name__,
        str(folder / "jobs.json"),
        str(out),
    ]
    subprocess.run(
        command, check=True, timeout=500, env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1"}
    )
    results = np.load(out)
    for k, job in enumerate(todo):
        for i, weight in enumerate(weights):
            assert results[f"{k}/{i}"].tobytes() == weight.tobytes(), job
        if job["resume"]:
            np.testing.assert_allclose(results[f"{k}/losses"], losses, rtol=2e-6, err_msg=str(job))
            assert resumed(keras, job) == losses, job


def test_every_checkpoint_loads_elsewhere_and_resumes(
    tf: Any, keras: Any, checkpoint: Any, tmp_path: Path
) -> None:
    """All of them are loaded; to save time each container is resumed from after one trigger only."""
    todo = jobs(keras.__name__, tmp_path)
    for job, trigger in zip(todo, sorted(TRIGGERS) * len(todo), strict=False):
        job["resume"] = job["resume"] and job["trigger"] == trigger
    assert_all_resume(keras, checkpoint, tmp_path, todo)


@pytest.mark.slow
def test_every_checkpoint_resumes(tf: Any, keras: Any, checkpoint: Any, tmp_path: Path) -> None:
    assert_all_resume(keras, checkpoint, tmp_path, jobs(keras.__name__, tmp_path))
