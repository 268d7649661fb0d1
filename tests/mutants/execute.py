"""Runs mutants and their extractions in tf_keras, with the weights of both, on one batch.

    python -m tests.mutants.execute FOLDER 300   (a Python with tf_keras; called by `tests.mutants.run --execute`)

The folder holds pairs: `7.json` with the `mutant`'s and the `extraction`'s architecture, the names of their layers and
the rows of a batch, `7.npz` with the weights. Slices become layers of ours that cut by the same numbers, for the code
of another Python cannot be run. Goes on until so many pairs ran. Prints, as JSON, for each pair that it came to `same`,
`differs` or why it could not be run.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from tests.mutants.meaning import Entry, is_model, numbers_of

#: Of the processor, for a pair: tf_keras looks without end for a node that is never reached.
SECONDS = 30


def too_long(number: int, frame: object) -> None:
    """The end of a pair that goes on for longer."""
    del number, frame
    raise TimeoutError


def runnable(model: Entry) -> Entry:
    """The architecture with layers of ours for its slices. Raises ValueError for any other stored code."""
    config = model["config"]
    entries = config if isinstance(config, list) else config["layers"]
    for number, entry in enumerate(entries):
        if is_model(entry):
            runnable(entry)
            continue
        kept = numbers_of(entry)
        if kept is not None:
            holder, keys = kept
            told = {"name": entry["config"]["name"], "told": [holder[key] for key in keys]}
            entries[number] = {**entry, "class_name": "Cut", "config": told}
        elif entry["class_name"] == "Lambda":
            raise ValueError("holds stored code")
    return model


def judge(folder: Path, pair: Path) -> str:
    """One pair."""
    import numpy as np
    import tf_keras

    tf_keras.backend.clear_session()  # or each pair takes longer than the one before

    class Cut(tf_keras.layers.Layer):
        """Rows by an index and a count, or by a share, a total and a start."""

        def __init__(self, told: list[int], **rest: Any) -> None:
            super().__init__(**rest)
            self.told = told

        def call(self, x: Any) -> Any:
            import tensorflow as tf

            index, count = self.told[:2]
            n = tf.shape(x)[0]
            if len(self.told) == 3:
                share, total, start = self.told
                return x[start * n // total : (start + share) * n // total]
            return x[index * n // count : (index + 1) * n // count]

    told = json.loads(pair.read_text("utf8"))
    arrays = np.load(folder / f"{pair.stem}.npz")
    random = np.random.default_rng(0)
    given: list[Any] = []
    answers = []
    try:
        for which in ("mutant", "extraction"):
            model = tf_keras.models.model_from_json(
                json.dumps(runnable(told[which])), custom_objects={"Cut": Cut}
            )
            for name, count in told[f"{which} weights"]:
                values = [arrays[f"{which}/{name}/{k}"] for k in range(count)]
                if count:
                    layer = model.get_layer(name)
                    # As the file has them.
                    kept = [
                        *layer.trainable_weights,
                        *layer.non_trainable_weights,
                    ]
                    for variable, value in zip(kept, values, strict=True):
                        variable.assign(value)
            if not given:
                given = [
                    random.random((told["rows"], *i.shape[1:])).astype("float32")
                    for i in model.inputs
                ]
            made = model(given if len(given) > 1 else given[0], training=False)
            answers.append(
                [np.asarray(y) for y in (made if isinstance(made, list | tuple) else [made])]
            )
    except Exception as e:  # noqa: BLE001 - a graph that TensorFlow of today does not run is reported, not judged
        return f"not run: {type(e).__name__}: {str(e).splitlines()[0][:80] if str(e) else ''}"
    same = len(answers[0]) == len(answers[1]) and all(
        a.shape == b.shape
        and np.allclose(a, b, rtol=0, atol=1e-5 * float(np.abs(a).max(initial=1.0)))
        for a, b in zip(*answers, strict=True)
    )
    return "same" if same else "differs"


def main(folder: Path, wanted: int) -> None:
    """The pairs of a folder, until so many ran."""
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    signal.signal(signal.SIGPROF, too_long)
    pairs = sorted(folder.glob("*.json"), key=lambda p: int(p.stem))
    ends: dict[str, str] = {}
    ran = 0
    for number, pair in enumerate(pairs, 1):
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            ends[pair.stem] = judge(folder, pair)
        except TimeoutError:  # before or after what `judge` watches
            ends[pair.stem] = "not run: too long"
        signal.setitimer(signal.ITIMER_PROF, 0)
        ran += ends[pair.stem] in ("same", "differs")
        print(f"\r{ran} of {number} pairs ran", end="", file=sys.stderr, flush=True)
        if ran == wanted:
            break
    print(json.dumps(ends))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
