"""Outputs of every spelling answer as their bases do, at every batch the model takes, in today's TensorFlow.

Runs where `tensorflow` is installed beside the tests, or in the Python that UNNEST_TF names.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import unnest
from tests.corpus.test_spellings import WRAPPERS, row
from tests.slow.test_tensorflow import PYTHON, told

pytestmark = pytest.mark.slow

TOLERANCE = 1e-4

SERVE = """
import itertools, json, sys
import numpy as np, tensorflow as tf
told = {}
for case, (stored, folder, serving, batches) in json.loads(sys.argv[1]).items():
    stored, worst = np.load(stored), 0.0
    loaded = tf.saved_model.load(folder, tags=serving["tags"])
    serve = loaded.signatures[serving["signature"]]
    given = serve.structured_input_signature[1]
    # Of dictionaries the case lists the names in alphabetical order; then shapes say which is which.
    shapes = [stored["x_%d" % i].shape[1:] for i in range(len(serving["inputs"]))]
    orders = itertools.permutations(serving["inputs"])
    names = next(o for o in orders if [tuple(given[n].shape[1:]) for n in o] == shapes)
    for rows in batches:
        fed = {n: tf.constant(stored["x_%d" % i][:rows], given[n].dtype) for i, n in enumerate(names)}
        found = serve(**fed)
        for i, name in enumerate(serving["outputs"]):
            wanted = stored["base_%d_%d" % (rows, i)]
            value = found[name].numpy()
            worst = max(worst, float(np.abs(value - wanted).max()) if value.shape == wanted.shape else 9.0)
    told[case] = worst
print("TOLD", json.dumps(told))
"""


@pytest.mark.skipif(PYTHON is None, reason="no TensorFlow: set UNNEST_TF")
@pytest.mark.parametrize(
    ("first", "spelling"), [(100 + 10 * n, name) for n, name in enumerate(WRAPPERS)]
)
def test_what_is_left_answers_as_its_base(first: int, spelling: str, tmp_path: Path) -> None:
    """Of SavedModels with their Keras metadata, and bare, of TF 1.15 and 2, template inline and as a function."""
    cut = {}
    for case in row(first, spelling).values():
        if case.container == "h5" or "serving" not in case.facts:
            continue
        output = tmp_path / f"out-{case.name}"
        unnest.fix(case.folder / "parallel", output)
        cut[case.name] = (
            str(case.folder / "io.npz"),
            str(output),
            case.facts["serving"],
            case.facts["batches"],
        )
    assert cut
    worst = told(SERVE, cut)
    assert isinstance(worst, dict)
    assert {name: off for name, off in worst.items() if off > TOLERANCE} == {}
