"""keras-applications as two-GPU models: after `fix --keras 3` today's Keras predicts what the original software did.

The models are made when this runs (UNNEST_STACKS: the folder of environments that fixtures/scripts/make-stack makes),
and loaded in the Python that UNNEST_TF names, by `keras.models.load_model(path)` alone, unnest never imported.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import unnest
from tests.corpus.unpacked import SCRIPTS
from tests.slow.applications import MODELS as MODEL_KINDS
from tests.slow.stacks import python_of

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SCRIPT = Path(__file__).with_name("applications.py")
#: Environment -> which Keras in it.
STACKS = {"k224": "keras", "tf23": "tf.keras"}
MODELS = (
    "vgg16", "resnet50", "inception_v3", "xception", "mobilenet", "mobilenet_v2", "densenet121", "nasnet_mobile",
    "efficientnet_b0",
)  # fmt: skip
#: Keras 2.2.4 is older than EfficientNet.
ABSENT = {("k224", "efficientnet_b0")}
#: Relative to the largest output: sums of float32 a hundred layers deep, in another order.
TOLERANCE = 1e-4
PATIENCE = 1800

LOAD = """
import sys
import numpy as np, keras
model = keras.models.load_model(sys.argv[1])
stored = np.load(sys.argv[2])
found = np.asarray(model.predict(stored["x0"], batch_size=4, verbose=0))
wanted = stored["y0"]
assert found.shape == wanted.shape, (found.shape, wanted.shape)
print("OFF", float(np.max(np.abs(found - wanted)) / np.max(np.abs(wanted))), "unnest" in sys.modules)
"""


def environment(home: Path) -> dict[str, str]:
    """Variables of a process that knows only its own folder."""
    return {
        "PATH": os.defpath, "HOME": str(home), "TMPDIR": str(home), "LANG": "C.UTF-8", "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1", "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "",
    }  # fmt: skip


def made(stack: str, name: str, folder: Path) -> Path:
    """The parallel model's file, written by the stack; its predictions lie beside it."""
    done = subprocess.run(
        [python_of(stack), SCRIPT, SCRIPTS, STACKS[stack], folder, name], env=environment(folder), cwd=folder,
        capture_output=True, text=True, errors="replace", check=False, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout.strip().splitlines()[-1])
    if (stack, name) in ABSENT:
        assert told["error"] == "absent"
        pytest.skip(f"{stack} has no {name}")
    assert told["error"] is None
    assert told["apart"] < TOLERANCE
    return folder / f"{name}.h5"


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("stack", STACKS)
def test_application_loads_in_todays_keras(stack: str, name: str, tmp_path: Path) -> None:
    """Parallel .h5 -> .keras, by the command; loaded by Keras alone; the recorded predictions."""
    today = os.environ.get("UNNEST_TF")
    if not today:
        pytest.skip("UNNEST_TF names no Python with tensorflow and keras")
    source, output = made(stack, name, tmp_path), tmp_path / "today.keras"
    fixed = subprocess.run(
        [sys.executable, "-m", "unnest", "fix", source, "-o", output, "--keras", "3"], cwd=ROOT,
        capture_output=True, text=True, check=False, timeout=PATIENCE,
    )  # fmt: skip
    assert fixed.returncode == 0, fixed.stderr
    done = subprocess.run(
        [today, "-c", LOAD, output, source.with_suffix(".npz")], env=environment(tmp_path), cwd=tmp_path,
        capture_output=True, text=True, errors="replace", check=False, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    word, off, imported = done.stdout.strip().splitlines()[-1].split()
    assert (word, imported) == ("OFF", "False")
    assert float(off) < TOLERANCE


#: Today's application computes something else: named, not loaded.
OTHER_MODEL = {("k224", "resnet50"): "epsilon 0.001"}
#: Today's are written in another form, which computes the same
#: (`unnest/core/weight_transfer/equivalent_expressions.py`).
OTHER_FORM = ("mobilenet", "mobilenet_v2")

INTO_TODAYS = """
import sys, warnings
sys.path.insert(0, sys.argv[4])
import numpy as np, keras
from unnest.keras import load_weights
kind, side, top = eval(sys.argv[3])
options = {"classes": 7} if top else {"pooling": "avg"}
model = getattr(keras.applications, kind)(include_top=top, weights=None, input_shape=(side, side, 3), **options)
warnings.simplefilter("ignore", UserWarning)
try:
    load_weights(model, sys.argv[1])
except ValueError as refusal:
    print("REFUSED", refusal)
else:
    stored = np.load(sys.argv[2])
    found, wanted = np.asarray(model.predict(stored["x0"], verbose=0)), stored["y0"]
    print("OFF", float(np.max(np.abs(found - wanted)) / np.max(np.abs(wanted))))
"""


@pytest.mark.parametrize(
    "name", ["mobilenet", "mobilenet_v2", "resnet50", "xception", "densenet121"]
)
@pytest.mark.parametrize("stack", STACKS)
def test_weights_into_todays_application(stack: str, name: str, tmp_path: Path) -> None:
    """Equal where today's application is the same model as the parallel file's, and refused by name where not."""
    today = os.environ.get("UNNEST_TF")
    if not today:
        pytest.skip("UNNEST_TF names no Python with tensorflow and keras")
    source, why = made(stack, name, tmp_path), OTHER_MODEL.get((stack, name))
    word, text = into_todays(today, source, name, tmp_path)
    assert (word, True) == (("REFUSED", why in text) if why else ("OFF", float(text) < TOLERANCE))
    if name in OTHER_FORM:
        weights = tmp_path / "weights.h5"
        unnest.fix(source, weights, to="weights").raise_for_error()
        word, text = into_todays(today, weights, name, tmp_path)
        assert (word, float(text) < TOLERANCE) == ("OFF", True)


def into_todays(today: str, file: Path, name: str, folder: Path) -> tuple[str, str]:
    """`OFF` and how far the predictions are from those recorded, or `REFUSED` and why."""
    recorded = folder / f"{name}.npz"
    done = subprocess.run(
        [today, "-c", INTO_TODAYS, file, recorded, repr(MODEL_KINDS[name]), ROOT], env=environment(folder),
        cwd=folder, capture_output=True, text=True, errors="replace", check=False, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    word, _, text = done.stdout.strip().splitlines()[-1].partition(" ")
    return word, text
