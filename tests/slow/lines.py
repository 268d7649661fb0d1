"""Run the lines that unnest prints, in today's Keras, and write down what the models predict.

    PYTHON lines.py JOB.json OUT.jsonl

JOB: {"scripts": fixtures/scripts, "api": which Keras, "cases": [{"id", "line": what was printed, "io": recorded inputs and
outputs, or null, "base": a file of the expected model, or null}]}
OUT: one line per case: {"id", "error": or null, "off": the largest difference, or null, "state": of the optimizer}.
"""
# As untyped as the fixtures' scripts, whose models and classes it uses, hence:
# mypy: ignore-errors

import json
import sys

import stack as S  # reads the job
import numpy as np

A, M = S.A, S.M


def rows_of(io):
    with np.load(io) as z:
        return [[z[f"{kind}{k}"] for k in range(sum(n[0] == kind for n in z.files))] for kind in "xy"]


def run(line):
    """The model that the line gives; classes of the fixtures are known, as they are to their authors."""
    space = dict(S.custom_objects())
    with A.keras.utils.custom_object_scope(S.custom_objects()):
        exec(line, space)  # noqa: S102 - the very thing to be tested
    return space["model"]


def outcome(case):
    """A line of the output."""
    told = {"id": case["id"], "error": None, "off": None, "state": None}
    A.K.clear_session()
    try:
        model = run(case["line"])
        xs, ys = rows_of(case["io"]) if case["io"] else (S.inputs_for(model)[0], None)
        found = M.predict(model, xs, len(xs[0]))
        if case["base"]:
            base = S.loaded({"code": None}, case["base"])
            wanted = M.predict(base, xs, len(xs[0]))
            told["off"] = S.worst(found, wanted, model)
            states = S.optimizer_values(model), S.optimizer_values(base)
            if None not in states:
                told["state"] = S.same(*states) or "equal"
        if ys:
            told["off"] = max(told["off"] or 0.0, S.worst(found, ys, model))
    except Exception as e:
        told["error"] = " ".join(f"{type(e).__name__}: {e}".split())[-300:]
    return told


if __name__ == "__main__":
    try:
        A.load(S.JOB["api"])
        M.models.setup()
        M.wrappers.setup()
        config = getattr(A.keras, "config", None)
        if hasattr(config, "enable_unsafe_deserialization"):
            config.enable_unsafe_deserialization()
        with open(sys.argv[2], "w") as out:
            for each in S.JOB["cases"]:
                out.write(json.dumps(outcome(each)) + "\n")
                out.flush()
    finally:
        M.shutil.rmtree(M.HOME, ignore_errors=True)
