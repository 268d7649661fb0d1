"""MODULE:FN of a command line."""

from __future__ import annotations

import sys

import pytest

from unnest.errors import UsageError
from unnest.user_build_function import target_model_of


@pytest.mark.parametrize(
    ("like", "advice"),
    [
        ("build_model", "build_model: give MODULE:FN, as in train:build_model"),
        (
            "train.py:build_model",
            "train.py:build_model: give the module, not its file: train:build_model",
        ),
        ("models/train.py:f", "models/train.py:f: give the module, not its file: models.train:f"),
    ],
)
def test_another_form_is_refused_before_keras_is_imported(
    like: str, advice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Importing it would be another error.
    monkeypatch.setitem(sys.modules, "unnest.keras.describe_built_model", None)
    with pytest.raises(UsageError) as raised:
        target_model_of(like)
    assert raised.value.message == advice
