"""The report's answer for a Sequential in a `.keras` of Keras 2 in Keras 3.

`tests/keras/test_keras3_answers.py` asks Keras 3 itself.
"""

from __future__ import annotations

import pytest

import unnest
from tests.corpus.unpacked import FIXTURES
from unnest.report import text_report

FOLDER = FIXTURES / "sequential_archives"


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("plain", "yes"),
        ("activations", "yes"),
        ("image", "yes"),
        ("compiled", "yes, with compile=False"),
        ("hard_sigmoid", "yes, but wrong: hard_sigmoid (dense_6)"),
        ("first_shape", "no: Dense with `batch_input_shape`"),
        ("listed_axis", "no: BatchNormalization with its axis in a list"),
        ("time_major", "no: LSTM with `time_major`"),
        ("groups", "no: DepthwiseConv2D with `groups`"),
        ("noise_shape", "no: SpatialDropout1D with `trainable`"),
        ("functional_within", "no: a Functional within the model, whose module Keras 3 lacks"),
    ],
)
def test_answer_for_keras_3(name: str, answer: str) -> None:
    """Its last line, as far as the reason."""
    report = unnest.inspect(FOLDER / f"tf215-{name}.keras", draw=True)
    line = text_report.render(report).splitlines()[-1].strip()
    assert line.partition("; next:")[0] == f"Keras 3: {answer}"
