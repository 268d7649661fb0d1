"""Training goes on: one more step from the carried optimizer state gives what the file's own stack got by it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import unnest
from tests.corpus.unpacked import FIXTURES
from tests.keras.process_without_unnest import answers_of
from tests.layer_cases import cases

#: Relative to the largest output.
TOLERANCE = 1e-4
#: One case of every optimizer. Keras 2.2.4 and 2.3.1 count the steps of Adam and Adamax otherwise from run to run.
OPTIMIZERS = (
    "SGD_0.05", "SGD_0.05_momentum_0.9", "RMSprop_0.01", "RMSprop_0.01_centered_True", "Adam_0.01",
    "Adam_0.01_amsgrad_True", "Adamax_0.01", "Adagrad_0.05", "Adadelta_1.0", "Ftrl_0.05", "AdamW_0.01",
)  # fmt: skip
STACKS = {
    "k122": ("SGD_0.05", "Adam_0.01", "Adadelta_1.0"),
    "k209": OPTIMIZERS,
    "k224": ("SGD_0.05_momentum_0.9", "RMSprop_0.01", "Adagrad_0.05"),
    "k231": ("SGD_0.05_momentum_0.9", "RMSprop_0.01", "Adagrad_0.05"),
    "tfk115": OPTIMIZERS,
    "tf23": OPTIMIZERS,
    "tf215": OPTIMIZERS,
}


#: The others run in the slow suite: each stack loads TensorFlow anew.
SAMPLE = ("k122", "k224", "tf23")


@pytest.mark.parametrize(
    "stack", [s if s in SAMPLE else pytest.param(s, marks=pytest.mark.slow) for s in STACKS]
)
def test_one_more_step(stack: str, tmp_path: Path) -> None:
    """Every optimizer that Keras 3 has too but Nadam, whose schedule is not stored."""
    wanted = {f"train-optimizer-{name}" for name in STACKS[stack]}
    jobs = []
    for case in (c for c in cases(stack) if c.name in wanted):
        path = case.extract(tmp_path)
        result = unnest.fix(path, path.with_name("today.keras"), keras="3")
        assert (result.error, [f.code for f in result.findings]) == (None, []), case.name
        jobs.append(
            {"file": str(path.with_name("today.keras")), "io": str(path.with_name("io.npz"))}
        )
    told = answers_of("train_today.py", jobs, tmp_path)
    assert len(told) >= min(len(wanted), 7)
    assert all("error" not in answer for answer in told), told
    assert all(answer["step"] > 10 * TOLERANCE for answer in told)
    assert all(answer["off"] <= TOLERANCE for answer in told), told


MASKED = FIXTURES / "masked_steps"
#: What says that a mask counted otherwise in training.
OF_MASKS = {"masked-loss", "masked-normalization"}


def test_masks_that_reach_the_loss(tmp_path: Path) -> None:
    """A finding where the next step is another by it, and only there."""
    jobs, warned = [], {}
    for path in sorted(MASKED.glob("*.h5")):
        output = tmp_path / f"{path.stem}.keras"
        result = unnest.fix(path, output, keras="3")
        assert result.error is None, path.stem
        assert {f.code for f in result.findings} <= OF_MASKS
        warned[path.stem] = bool(result.findings)
        jobs.append({"file": str(output), "io": str(path.with_suffix(".npz"))})
    told = answers_of("train_today.py", jobs, tmp_path)
    off = dict(zip(warned, [answer["off"] > TOLERANCE for answer in told], strict=True))
    assert len(off) == 13
    assert off == warned
    assert 0 < sum(off.values()) < len(off)


def test_what_a_normalization_adapted_to_is_no_weight_that_was_trained(tmp_path: Path) -> None:
    """Its mean, variance and count have no slots; the replacement waits for the sizes of its input."""
    keras, tf_keras = (pytest.importorskip(name) for name in ("keras", "tf_keras"))
    values = np.random.default_rng(0).normal(2, 3, (8, 5)).astype("float32")
    normalization = tf_keras.layers.Normalization(axis=-1)
    normalization.adapt(values)
    dense = [tf_keras.layers.Dense(units) for units in (6, 1)]
    model = tf_keras.Sequential([tf_keras.Input((5,)), normalization, *dense])
    model.compile(tf_keras.optimizers.Adam(0.05), "mse")
    for _ in range(3):
        model.train_on_batch(values, values[:, :1])
    model.save(tmp_path / "adapted.h5")
    result = unnest.fix(tmp_path / "adapted.h5", tmp_path / "out.keras", keras="3")
    assert [f.code for f in result.findings] == []
    today = keras.models.load_model(tmp_path / "out.keras")
    before = today.predict(values, verbose=0)
    for each in (model, today):
        each.train_on_batch(values, values[:, :1])
    after = today.predict(values, verbose=0)
    assert np.abs(after - before).max() > 100 * TOLERANCE
    np.testing.assert_allclose(after, model.predict(values, verbose=0), atol=TOLERANCE)
