"""Today's TensorFlow: cut graphs load and predict what the base predicts; our messages are TensorFlow's.

Runs where `tensorflow` is installed beside the tests, or in the Python that UNNEST_TF names.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import unnest
from tests.corpus.case import cases
from tests.corpus.unpacked import FIXTURES
from tests.slow.stacks import python_of
from unnest.formats.tensorflow import protobuf_messages

pytestmark = pytest.mark.slow

PYTHON = os.environ.get("UNNEST_TF") or (
    sys.executable if importlib.util.find_spec("tensorflow") else None
)

PREDICT = """
import itertools, json, sys
import numpy as np, tensorflow as tf
told = {}
for case, folder in json.loads(sys.argv[1]).items():
    stored = np.load(case + "/io.npz")
    xs = [stored[k] for k in sorted(stored.files) if k[0] == "x"]
    ys = [stored[k] for k in sorted(stored.files) if k[0] == "y"]
    loaded = tf.saved_model.load(folder)
    sign = loaded.signatures
    serve = sign["serving_default"] if "serving_default" in sign else sign[sorted(sign)[0]]
    names = list(serve.structured_input_signature[1])
    worst = 0.0
    for rows in (1, 3, 5, 8):
        best = 9.0
        for order in itertools.permutations(range(len(xs))):
            try:
                given = {n: tf.constant(xs[j][:rows]) for n, j in zip(names, order)}
                found = [v.numpy() for v in serve(**given).values()]
            except Exception:
                continue
            # A loss over fewer rows is another loss; some Kerases repeat it for each row.
            ys = [y if y.ndim and (y != y[0]).any() else y.reshape(-1)[0] for y in ys]
            wanted = [y[:rows] if y.ndim else y for y in ys if y.ndim or rows == len(xs[0])]
            alike = [[v for v in found if v.shape == y.shape] for y in wanted]
            off = [min([float(np.abs(v - y).max()) for v in vs] or [9.0]) for vs, y in zip(alike, wanted)]
            best = min(best, max(off))
        worst = max(worst, best)
    with tf.compat.v1.Session(graph=tf.Graph()) as session:
        tf.compat.v1.saved_model.loader.load(session, ["serve"], folder)
    told[case] = worst
print("TOLD", json.dumps(told))
"""

SERVE = """
import json, sys
import numpy as np, tensorflow as tf
told = {}
for case, (folder, calls) in json.loads(sys.argv[1]).items():
    stored = np.load(case + "/io.npz")
    tags = calls[0]["tags"]
    loaded, worst = tf.saved_model.load(folder, tags=tags), 0.0
    for call in calls:
        serve = loaded.signatures[call["signature"]]
        given = serve.structured_input_signature[1]
        fixed = {spec.shape[0] for spec in given.values() if spec.shape.rank} - {None}
        for rows in fixed or (1, 3, 5, 8):
            xs = [stored[x][:rows] for x in call["x"]]
            found = serve(**{n: tf.constant(x, dtype=given[n].dtype) for n, x in zip(call["inputs"], xs)})
            for name, y in zip(call["outputs"], call["y"]):
                value, wanted = found[name].numpy(), stored[y]
                # A loss over fewer rows is another loss.
                if wanted.ndim or rows == 8:
                    wanted = wanted[:rows] if wanted.ndim else wanted
                    same = value.shape == wanted.shape
                    # As everywhere in this suite: of the largest output.
                    off = np.abs(value - wanted).max() / max(1.0, np.abs(wanted).max()) if same else 9.0
                    worst = max(worst, float(off))
    with tf.compat.v1.Session(graph=tf.Graph()) as session:
        tf.compat.v1.saved_model.loader.load(session, tags, folder)
    told[case] = worst
print("TOLD", json.dumps(told))
"""

NUMBERS = """
import json, sys
from tensorflow.core.protobuf import tensor_bundle_pb2, trackable_object_graph_pb2, saved_model_pb2
ours = json.loads(sys.argv[1])
theirs = {
    "BundleHeader": tensor_bundle_pb2.BundleHeaderProto, "BundleEntry": tensor_bundle_pb2.BundleEntryProto,
    "ObjectGraph": trackable_object_graph_pb2.TrackableObjectGraph, "SavedModel": saved_model_pb2.SavedModel,
}
wrong, pending, seen = [], [(n, t.DESCRIPTOR) for n, t in theirs.items()], set()
while pending:
    name, message = pending.pop()
    if name in seen:
        continue
    seen.add(name)
    known = {f.number: f for f in message.fields}
    for number, kind, inner in ours[name]:
        field = known.get(number)
        if field is None or (field.type != kind and not (field.type == 14 and kind == 5) and kind != 12):
            wrong.append([name, number])
        elif inner:
            pending.append((inner, field.message_type.fields_by_name["value"].message_type
                            if field.message_type.GetOptions().map_entry else field.message_type))
print("TOLD", json.dumps(wrong))
"""


def told(program: str, argument: object, python: str | None = PYTHON) -> object:
    """Return the output of a program that runs where TensorFlow is."""
    assert python is not None
    env = {
        **os.environ,
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "CUDA_VISIBLE_DEVICES": "",
        "TF_ENABLE_ONEDNN_OPTS": "0",
    }
    done = subprocess.run(
        [python, "-c", program, json.dumps(argument)],
        capture_output=True,
        text=True,
        check=False,
        env=env,
    )
    line = next((x for x in done.stdout.splitlines() if x.startswith("TOLD ")), None)
    assert line is not None, done.stderr[-2000:]
    return json.loads(line[5:])


LOAD = """
import json, sys
import tensorflow as tf
told = {}
for case, folder in json.loads(sys.argv[1]).items():
    try:
        tf.saved_model.load(folder)
    except Exception as error:
        told[case] = repr(error)
print("TOLD", json.dumps(told))
"""


@pytest.mark.parametrize("stack", ["tf20", "tf22", "tf23", "tf27", "tf210", "tf215"])
def test_cut_graphs_load_in_the_tensorflow_that_wrote_them(stack: str, tmp_path: Path) -> None:
    """Today's does not mind what the releases of then refuse."""
    python = python_of(stack)
    jobs = {}
    for folder in sorted((FIXTURES / "saved_model" / stack).glob("*/parallel")):
        assert unnest.fix(folder, tmp_path / folder.parent.name).action == "fixed"
        jobs[folder.parent.name] = str(tmp_path / folder.parent.name)
    assert jobs
    assert told(LOAD, jobs, str(python)) == {}


@pytest.mark.skipif(PYTHON is None, reason="needs TensorFlow")
def test_cut_graphs_predict(tmp_path: Path) -> None:
    """At batch sizes 1, 3, 5 and 8, through both of TensorFlow's loaders."""
    jobs = {}
    for k, folder in enumerate(sorted((FIXTURES / "saved_model").glob("*/*"))):
        if (folder / "parallel").exists():
            assert unnest.fix(folder / "parallel", tmp_path / str(k)).action == "fixed"
            jobs[str(folder)] = str(tmp_path / str(k))
    found = told(PREDICT, jobs)
    assert isinstance(found, dict)
    assert {case: off for case, off in found.items() if not off < 1e-5} == {}
    assert len(found) == len(jobs) > 45


def calls(told_of: dict[str, Any]) -> list[dict[str, Any]]:
    """How to call what is cut out of a SavedModel of the corpus; which arrays of io.npz go in and should come out."""
    main = told_of.get("serving_parallel", told_of["serving"])
    both = [(main, [f"y{k}" for k in range(len(main["outputs"]))])]
    both += [(other, other["values"]) for other in told_of.get("other_serving", [])]
    return [
        {**call, "x": [f"x{k}" for k in range(len(call["inputs"]))], "y": values}
        for call, values in both
    ]


@pytest.mark.skipif(PYTHON is None, reason="needs TensorFlow")
def test_cut_graphs_of_the_corpus_serve(tmp_path: Path) -> None:
    """Every signature, called by name as its maker called it, at batch sizes 1, 3, 5 and 8 where the batch is free."""
    jobs = {}
    for case in cases("saved_model"):
        if not case.parallel or "signatures" not in case.facts:
            continue
        if unnest.fix(case.folder / "parallel", tmp_path / case.name).action == "fixed":
            jobs[str(case.folder)] = (str(tmp_path / case.name), calls(case.facts))
    found = told(SERVE, jobs)
    assert isinstance(found, dict)
    assert {case: off for case, off in found.items() if not off < 1e-5} == {}
    assert len(found) == len(jobs) >= 47


@pytest.mark.skipif(PYTHON is None, reason="needs TensorFlow")
def test_field_numbers() -> None:
    """Every field that we name has TensorFlow's number and type."""
    ours = {}
    for name in protobuf_messages.TABLE:
        fields = []
        for field in protobuf_messages.new(name).DESCRIPTOR.fields:
            inner = field.message_type
            if inner is not None and inner.GetOptions().map_entry:
                inner = inner.fields_by_name["value"].message_type
            fields.append([field.number, field.type, inner.name if inner is not None else None])
        ours[name] = fields
    assert told(NUMBERS, ours) == []
