"""Run Keras's own tests against ours, from a checkout of Keras.

    python scripts/keras_own_tests.py keras3   CHECKOUT [pytest options]   ModelCheckpoint, Keras 3
    python scripts/keras_own_tests.py tf_keras CHECKOUT [pytest options]   ModelCheckpoint, tf_keras
    python scripts/keras_own_tests.py keras2   CHECKOUT [pytest options]   multi_gpu_model, Keras 2.3.1

The test files stay where they are; copies with their import lines adjusted run in a temporary folder, where a
conftest swaps our class in. `--stock` leaves Keras's own class in place, to tell our failures from theirs.
The checkout should be of the version that is installed; docs/training-measured.md has the results.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

DEVICES = """
import tensorflow as tf
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration() for _ in range(8)])
"""

SWAP_KERAS_3 = """
import keras
import keras.src.callbacks
from unnest.keras import ModelCheckpoint
keras.callbacks.ModelCheckpoint = keras.src.callbacks.ModelCheckpoint = ModelCheckpoint
"""

SWAP_TF_KERAS = """
import tf_keras
import tf_keras.src.callbacks
from unnest.keras.legacy import ModelCheckpoint
tf_keras.callbacks.ModelCheckpoint = tf_keras.src.callbacks.ModelCheckpoint = ModelCheckpoint
"""

KERAS_2_IMPORTS = """
import tempfile
import time
import numpy as np
import pytest
import tensorflow as tf
import tf_keras as keras
from tf_keras import backend as K
from unnest.keras import multi_gpu_model


"""


def _from_installed(source: str) -> str:
    """The modules of a tf_keras checkout are under `tf_keras.src` where it is installed."""
    source = source.replace("import tf_keras as keras", "import tf_keras.src as keras")
    source = re.sub(r"^(\s*from tf_keras)\.(?!src\b)", r"\1.src.", source, flags=re.MULTILINE)
    return re.sub(r"^(\s*import tf_keras)\.(?!src\b)", r"\1.src.", source, flags=re.MULTILINE)


def _thin(source: str) -> str:
    """Keras 2.3.1's tests with our imports in place of theirs and of their wish for eight GPUs."""
    return KERAS_2_IMPORTS + source[source.index("def test_") :]


@dataclass(frozen=True)
class Suite:
    """One of Keras's test files: where it is, how it is adjusted, what is swapped, which tests are meant."""

    file: str
    adjust: Callable[[str], str]
    conftest: str
    only: str = ""


SUITES = {
    "keras3": Suite("keras/src/callbacks/model_checkpoint_test.py", str, SWAP_KERAS_3),
    "tf_keras": Suite(
        "tf_keras/callbacks_test.py",
        _from_installed,
        SWAP_TF_KERAS,
        "ModelCheckpoint or get_most_recently_modified or MostRecentlyModified",
    ),
    "keras2": Suite("tests/keras/utils/multi_gpu_test.py", _thin, DEVICES),
}


def main(arguments: list[str]) -> int:
    """Run one suite; the exit status is pytest's."""
    name, *options = arguments or [""]
    if name not in SUITES or not options:
        print(__doc__, file=sys.stderr)
        return 2
    suite, checkout = SUITES[name], Path(options.pop(0))
    stock = "--stock" in options
    source = (checkout / suite.file).read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        test = Path(folder) / f"test_{name}.py"
        test.write_text(suite.adjust(source), encoding="utf-8")
        (test.parent / "conftest.py").write_text("" if stock else suite.conftest, encoding="utf-8")
        only = ["-k", suite.only] if suite.only else []
        rest = [o for o in options if o != "--stock"]
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            str(test),
            *only,
            *rest,
        ]
        return subprocess.run(command, cwd=folder, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
