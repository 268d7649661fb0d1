"""Checkpoints over restarts: the best value, the files that stay, and no leftovers of killed saves."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unnest.files import staging_folder
from unnest.keras import atomic_save, checkpoint_storage
from unnest.keras.checkpoint_history import History, HistoryEntry, surplus

HERE = Path(__file__).parent
CONTAINERS = {
    "keras": ["m.keras", "m.h5", "m.weights.h5"],
    "tf_keras": ["m.keras", "m.h5", "m.weights.h5", "saved", "prefix"],
}


def visible(folder: Path) -> list[str]:
    return sorted(name for name in os.listdir(folder) if not name.startswith("."))


@pytest.fixture
def model(keras: Any) -> Any:
    made = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)], name="small")
    made.compile(keras.optimizers.SGD(0.1), loss=keras.losses.MeanSquaredError())
    made.train_on_batch(np.ones((2, 3)), np.ones((2, 2)))
    return made


@pytest.fixture
def save(model: Any, checkpoint: Any) -> Any:
    """`save(path, [values of epochs], **options)`: the checkpoint of a new run, after these epochs."""

    def run(path: Any, values: list[float], **options: Any) -> Any:
        weights_only = str(path).endswith((".weights.h5", "prefix"))
        options = {"monitor": "loss", "mode": "min", "save_weights_only": weights_only, **options}
        callback = checkpoint(str(path), **options)
        callback.set_model(model)
        callback.on_train_begin()
        for epoch, value in enumerate(values):
            # As after a step of training: no file is the one before.
            model.set_weights([w + np.float32(1.5) for w in model.get_weights()])
            callback.on_epoch_begin(epoch)
            callback.on_epoch_end(epoch, {options["monitor"]: value})
        return callback

    return run


# -- the best value ----------------------------------------------------------------


def test_the_best_value_survives_for_a_fixed_name(keras: Any, save: Any, tmp_path: Path) -> None:
    """In every container, to the last digit; a worse model does not replace the best."""
    for name in CONTAINERS[keras.__name__]:
        path = tmp_path / name / name
        save(path, [0.25 + 2**-10, 0.5], save_best_only=True)
        written = checkpoint_storage.fingerprint(checkpoint_storage.GFileStore(), str(path))
        assert written is not None
        assert save(path, [0.25 + 2**-9], save_best_only=True).best == 0.25 + 2**-10
        assert checkpoint_storage.fingerprint(checkpoint_storage.GFileStore(), str(path)) == written
        assert save(path, [0.25], save_best_only=True).best == 0.25
        assert checkpoint_storage.fingerprint(checkpoint_storage.GFileStore(), str(path)) != written


def test_a_file_that_is_not_the_one_that_was_noted_tells_nothing(
    keras: Any, save: Any, tmp_path: Path
) -> None:
    path = tmp_path / "m.keras"
    save(path, [0.25], save_best_only=True)
    path.write_bytes(b"another's")
    assert save(path, [0.5], save_best_only=True).best == 0.5
    path.unlink()
    assert save(path, [0.75], save_best_only=True).best == 0.75
    record = tmp_path / ".m.keras.checkpoints"
    for torn in (b"", b"{", b"[1]", b'[{"name": "m.keras"}]', b"\xff"):
        record.write_bytes(torn)
        assert save(path, [1.0], save_best_only=True).best == 1.0


def fresh(keras: Any, model: Any) -> None:
    """Make the model one whose training begins: an optimizer without a step."""
    model.compile(keras.optimizers.SGD(0.1), loss=keras.losses.MeanSquaredError())


def test_a_run_that_starts_anew_takes_up_nothing(
    keras: Any, model: Any, save: Any, tmp_path: Path
) -> None:
    """As the folds of a cross-validation: the file is this run's, and a line says whose it was."""
    path = tmp_path / "m.keras"
    save(path, [0.25], save_best_only=True)
    fresh(keras, model)
    told = r"m\.keras is an earlier run's, with loss=0\.25; .* pass initial_value_threshold=0\.25 to keep"
    with pytest.warns(UserWarning, match=told):
        assert save(path, [0.75, 0.5], save_best_only=True).best == 0.5
    np.testing.assert_array_equal(
        keras.models.load_model(path).get_weights()[0], model.get_weights()[0]
    )


def test_a_run_that_starts_anew_leaves_the_files_of_earlier_ones(
    keras: Any, model: Any, save: Any, tmp_path: Path
) -> None:
    """Its own best files are kept, whatever the others' values are."""
    save(tmp_path / "m-{epoch}-{loss}.keras", [1.0, 2.0], best_to_keep=1)
    fresh(keras, model)
    save(tmp_path / "m-{epoch}-{loss}.keras", [4.0, 3.0, 5.0], best_to_keep=1)
    assert visible(tmp_path) == ["m-1-1.0.keras", "m-2-3.0.keras"]


def test_values_of_another_monitor_or_mode_are_not_compared(save: Any, tmp_path: Path) -> None:
    path = tmp_path / "m.keras"
    save(path, [0.25], save_best_only=True)
    assert save(path, [0.125], save_best_only=True, mode="max").best == 0.125
    assert save(path, [0.5], save_best_only=True, monitor="accuracy", mode="max").best == 0.5
    assert save(path, [0.25], save_best_only=True, monitor="accuracy", mode="max").best == 0.5


def test_files_of_another_monitor_are_not_ranked(save: Any, tmp_path: Path) -> None:
    """They stay, as files do whose value is not known."""
    save(tmp_path / "m-{epoch}.keras", [0.25, 0.5, 0.75], best_to_keep=3)
    save(
        tmp_path / "m-{epoch}.keras",
        [0.125, 0.0625],
        best_to_keep=1,
        monitor="accuracy",
        mode="max",
    )
    assert visible(tmp_path) == ["m-1.keras", "m-3.keras"]


def test_a_threshold_of_the_callers_own_is_what_counts(save: Any, tmp_path: Path) -> None:
    path = tmp_path / "m.keras"
    save(path, [0.25], save_best_only=True)
    assert save(path, [0.5], save_best_only=True, initial_value_threshold=0.75).best == 0.5


def test_copied_files_are_known_again(save: Any, tmp_path: Path) -> None:
    """By what they hold, not by their times."""
    save(tmp_path / "a" / "m.keras", [0.25], save_best_only=True)
    (tmp_path / "b").mkdir()
    for file in (tmp_path / "a").iterdir():
        (tmp_path / "b" / file.name).write_bytes(file.read_bytes())
    assert save(tmp_path / "b" / "m.keras", [0.5], save_best_only=True).best == 0.25


def test_killed_between_the_note_and_the_rename(
    save: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.keras"
    save(path, [0.5], save_best_only=True)
    with monkeypatch.context() as patched:

        def killed(*_: Any, **__: Any) -> None:
            raise SystemExit

        patched.setattr(staging_folder.StagingFolder, "move", killed)
        with pytest.raises(SystemExit):
            save(path, [0.25], save_best_only=True)
    assert save(path, [0.75], save_best_only=True).best == 0.5


# -- the files that stay -------------------------------------------------------------


def test_the_last_and_the_best(save: Any, tmp_path: Path) -> None:
    save(tmp_path / "m-{epoch}.keras", [3, 1, 2, 5, 4], max_to_keep=2, best_to_keep=2)
    assert visible(tmp_path) == ["m-2.keras", "m-3.keras", "m-4.keras", "m-5.keras"]


def test_the_rules_hold_over_restarts_and_for_ones_own_files_alone(
    save: Any, tmp_path: Path
) -> None:
    pattern = tmp_path / "m-{epoch}-{loss}.keras"
    (tmp_path / "m-0-9.keras").write_text("somebody's")
    save(pattern, [3.0, 1.0], best_to_keep=2)
    (tmp_path / "m-1-3.0.keras").write_text("somebody's own since")
    save(pattern, [2.0, 5.0, 0.5], best_to_keep=2)
    assert visible(tmp_path) == ["m-0-9.keras", "m-1-3.0.keras", "m-2-1.0.keras", "m-3-0.5.keras"]


def test_checkpoints_of_several_files_go_as_a_whole(keras: Any, save: Any, tmp_path: Path) -> None:
    if keras.__name__ == "keras":
        return
    save(tmp_path / "{epoch}-prefix", [1.0, 2.0, 3.0], max_to_keep=1)
    save(tmp_path / "{epoch}-saved", [1.0, 2.0, 3.0], max_to_keep=1)
    kept = ["3-prefix.data-00000-of-00001", "3-prefix.index", "3-saved", "checkpoint"]
    assert visible(tmp_path) == kept


@pytest.mark.parametrize(
    ("last", "best", "lower", "kept"),
    [
        (None, None, True, "abcde"),
        (2, None, True, "de"),
        (9, None, True, "abcde"),
        (None, 1, True, "be"),
        (None, 1, False, "de"),
        (1, 1, True, "be"),
        (1, 2, False, "ade"),
    ],
)
def test_surplus(last: int | None, best: int | None, lower: bool, kept: str) -> None:
    """Values 3, 1, 2, 4, and one that is not known, which only the rule of the last lets go."""
    values = [3.0, 1.0, 2.0, 4.0, None]
    entries = [HistoryEntry(name, value, 0, 0) for name, value in zip("abcde", values, strict=True)]
    gone = surplus(entries, last, best, lower_is_better=lower)
    assert "".join(e.name for e in entries if e not in gone) == kept


def test_the_records_own_name(tmp_path: Path) -> None:
    """Short enough for the file system, and another one for another checkpoint."""
    names = {
        os.path.basename(History(str(tmp_path / (letter * 250 + end))).path)
        for letter in "ab"
        for end in ".-"
    }
    assert len(names) == 4
    assert all(len(os.fsencode(name)) <= 255 for name in names)
    assert History("{epoch}/m-{loss:.2f}.keras").path == "._epoch__m-_loss_.2f_.keras.checkpoints"


# -- remote ------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["ram", "memory"])
def test_remote_paths(tf: Any, keras: Any, save: Any, scheme: str, tmp_path: Path) -> None:
    """`ram://` is TensorFlow's, `memory://` fsspec's: files, best value and rules are as on a disk."""
    if scheme == "memory":
        pytest.importorskip("fsspec")
    home = f"{scheme}://{keras.__name__}"
    store = checkpoint_storage.store_of(home)
    for name in CONTAINERS[keras.__name__]:
        path = f"{home}/fixed/{name}"
        save(path, [0.5], save_best_only=True)
        assert checkpoint_storage.fingerprint(store, path) is not None
        assert save(path, [0.75], save_best_only=True).best == 0.5
    with store.open(f"{home}/fixed/m.keras") as file:
        (tmp_path / "m.keras").write_bytes(file.read())
    assert keras.models.load_model(tmp_path / "m.keras").name == "small"
    save(f"{home}/kept/m-{{epoch}}.keras", [3, 1, 2], best_to_keep=1, max_to_keep=1)
    assert [n for n in store.names(f"{home}/kept") if n.startswith("m")] == [
        "m-2.keras",
        "m-3.keras",
    ]
    assert not os.path.exists(f"{scheme}:")


def test_an_upload_that_fails_leaves_the_old_file(
    tf: Any, save: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save("ram://upload/m.keras", [0.5])
    store = checkpoint_storage.store_of("ram://upload")
    before = checkpoint_storage.fingerprint(store, "ram://upload/m.keras")

    def fails(source: str, target: str, overwrite: bool) -> None:
        with tf.io.gfile.GFile(target, "wb") as file:
            file.write(b"half")
        raise OSError("no route to host")

    with monkeypatch.context() as patched:
        patched.setattr(tf.io.gfile, "copy", fails)
        with pytest.raises(OSError, match="no route"):
            save("ram://upload/m.keras", [0.25])
    assert checkpoint_storage.fingerprint(store, "ram://upload/m.keras") == before
    assert store.names("ram://upload") == ["m.keras"]


def test_a_scheme_that_nothing_serves_is_told_in_one_line(save: Any) -> None:
    with pytest.raises(ValueError, match=r"^nosuch://m\.keras: [^\n]*fsspec[^\n]*$"):
        save("nosuch://m.keras", [1.0])


# -- killed runs ---------------------------------------------------------------------------


def test_what_killed_saves_left_goes_when_training_starts(
    tf: Any, save: Any, tmp_path: Path
) -> None:
    """Of this checkpoint's names alone, and of runs that are over."""
    for name in (
        ".m-3-0.25.keras.unnest-tmp",
        ".m-4-0.5.keras.unnest-2-tmp",
        ".other.keras.unnest-tmp",
    ):
        (tmp_path / name / "new").mkdir(parents=True)
        (tmp_path / name / "new" / "half").write_text("half")
    with staging_folder.StagingFolder(str(tmp_path / "m-7-1.0.keras")) as alive:
        save(tmp_path / "m-{epoch}-{loss}.keras", [])
        assert sorted(os.listdir(tmp_path)) == sorted(
            [".other.keras.unnest-tmp", os.path.basename(alive.path)]
        )
    with tf.io.gfile.GFile("ram://debris/m-3.keras.part", "wb") as file:
        file.write(b"half")
    atomic_save.sweep("ram://debris/m-{epoch}.keras")
    assert checkpoint_storage.store_of("ram://debris").names("ram://debris") == []


@pytest.mark.slow
def test_killed_and_started_again(keras: Any, tmp_path: Path) -> None:
    """Under MirroredStrategy: in the midst of an epoch, and of a save; the losses are those of an undisturbed run."""

    def run(folder: str, dies: int) -> int:
        (tmp_path / folder).mkdir(exist_ok=True)
        command = [
            sys.executable,
            str(HERE / "killed.py"),
            keras.__name__,
            str(tmp_path / folder),
            str(dies),
        ]
        environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "-1"}
        return subprocess.run(
            command, check=False, timeout=300, env=environment, stderr=subprocess.DEVNULL
        ).returncode

    assert run("whole", 0) == 0
    whole = json.loads((tmp_path / "whole" / "losses.json").read_text())
    assert len(whole) == 4
    assert run("broken", 6) == -signal.SIGKILL
    assert run("broken", -1) == -signal.SIGKILL
    assert len(json.loads((tmp_path / "broken" / "losses.json").read_text())) == 2
    assert len(os.listdir(tmp_path / "broken")) == 3, (
        "the model, the losses, and what the killed save left"
    )
    assert run("broken", 0) == 0
    assert json.loads((tmp_path / "broken" / "losses.json").read_text()) == pytest.approx(
        whole, rel=1e-6
    )
    assert sorted(os.listdir(tmp_path / "broken")) == ["losses.json", "m.keras"]
