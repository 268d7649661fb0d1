"""Names that stored code reads as globals: the report's line gives them, or the report says that no loader does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import unnest

RUN = "import numpy, sys\n{line}\nmodel.predict(numpy.ones((2, 4)), verbose=0)"


#: What the code below reads as globals, set by the tests.
K: Any = None
helpers: Any = None


def runs(line: str) -> subprocess.CompletedProcess[str]:
    """Load a model by a report's line and predict, in a process that has none of the program's names."""
    return subprocess.run(
        [sys.executable, "-c", RUN.format(line=line)], capture_output=True, text=True, check=False
    )


def saved(keras: Any, function: Any, path: Path) -> str:
    """Save a model of one Lambda."""
    inputs = keras.layers.Input((4,))
    keras.Model(inputs, keras.layers.Lambda(function, output_shape=(4,))(inputs)).save(str(path))
    return str(path)


@pytest.mark.filterwarnings("ignore:You are saving your model as an HDF5 file")
def test_a_line_gives_the_backend(
    keras: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In an .h5 of Keras 2, whose loader takes `custom_objects` for the code's globals, too."""
    if keras.__name__ == "keras":
        pytest.skip("an .h5 of Keras 2")
    monkeypatch.setattr(sys.modules[__name__], "K", keras.backend)
    line = unnest.inspect(
        saved(keras, lambda x: K.max(x, axis=1, keepdims=True) + x, tmp_path / "m.h5")
    ).load
    assert line is not None
    assert "custom_objects={'K': tf_keras.backend}" in line
    done = runs(line)
    assert done.returncode == 0, done.stderr[-500:]


def test_no_loader_gives_names_to_code_in_a_keras_file(
    keras: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules[__name__], "helpers", keras.activations)
    report = unnest.inspect(saved(keras, lambda x: helpers.relu(x) + 1, tmp_path / "m.keras"))
    software = "Keras 3" if keras.__name__ == "keras" else "tf_keras"
    assert report.loads_in == ()
    assert report.load is None
    assert report.does_not_load_in[software].startswith(
        "its Lambda code uses helpers, which no Keras gives to code"
    )
    load = f"load_model({report.path!r}, safe_mode=False, custom_objects={{'helpers': {keras.__name__}.activations}})"
    done = runs(f"import {keras.__name__}; model = {keras.__name__}.models.{load}")
    assert "name 'helpers' is not defined" in done.stderr


def test_code_without_names_of_its_own_loads(keras: Any, tmp_path: Path) -> None:
    report = unnest.inspect(saved(keras, lambda x: 2 * abs(x), tmp_path / "m.keras"))
    assert report.load is not None
    done = runs(report.load)
    assert done.returncode == 0, done.stderr[-500:]
