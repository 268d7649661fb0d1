"""Cases of `fixtures/slice_code`: run by a stack's own Python, 2.7 or 3, with OUT and the stack's name."""
from __future__ import print_function

import json
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "..", "..", "fixtures", "slice_code"))
sys.dont_write_bytecode = True

import numpy as np
import tensorflow as tf
from sources import SOURCES

OUT, STACK = sys.argv[1:]
if STACK.startswith("tf"):
    keras = tf.keras
else:
    import keras
K, L = keras.backend, keras.layers

SCALES = "its slices scale the values"
DEALS = "its slices deal the rows out, and the merge joins them end to end"
CASES = [
    (971, "keras-get-slice", "KERAS", "i", None),
    (972, "branch", "BRANCH", "part", None),
    (973, "reversed-features", "REVERSED_FEATURES", "i", "its slices reverse the features"),
    (974, "scaled", "SCALED", "i", SCALES),
    (975, "normalized-before", "NORMALIZED_BEFORE", "i", SCALES),
    (976, "later-features", "LATER_FEATURES", "i", "its slices leave the first feature out"),
    (977, "rolled", "ROLLED", "i", "its towers see the whole batch, rolled"),
    (978, "jittered", "JITTERED", "i", "its towers see the whole batch, moved by a number"),
    (979, "strided", "STRIDED", "i", DEALS),
    (980, "gathered", "GATHERED", "i", DEALS),
    (981, "other-end", "OTHER_END", "i", "the halves come out the other way round"),
    (982, "first-half-always", "FIRST_HALF_ALWAYS", "i", "both towers see the first half"),
]


def function(name):
    names = {"tf": tf, "K": K, "keras": keras}
    text = SOURCES[name]
    if text.startswith("lambda"):
        return eval(compile(text, "<written>", "eval"), names)
    before = set(names)
    exec(compile(text, "<written>", "exec"), names)
    return next(names[key] for key in names if key not in before and key != "__builtins__")


def template(features):
    x = keras.layers.Input((features,), name="features")
    y = L.Dense(3, activation="tanh", name="hidden")(x)
    return keras.models.Model(x, L.Dense(2, name="score")(y), name="template")


def case(number, name, source, index, reason):
    K.clear_session()
    seen = 4 if source == "LATER_FEATURES" else 5
    base = template(seen)
    x = keras.layers.Input((5,), name="features_of_all")
    count = "n_gpus" if index == "part" else "parts"
    towers = []
    for k in range(2):
        cut = L.Lambda(function(source), output_shape=(seen,), arguments={index: k, count: 2}, name="slice_%d" % k)
        towers.append(base(cut(x)))
    whole = keras.models.Model(x, L.Concatenate(axis=0, name="merge")(towers))
    whole.compile("sgd", "mse")
    folder = os.path.join(OUT, "%d-slice-code-%s-%s" % (number, name, STACK))
    os.makedirs(folder)
    whole.save(os.path.join(folder, "source.h5"))
    rows = np.arange(40, dtype="f4").reshape(8, 5) / 40
    if reason is None:
        base.compile("sgd", "mse")
        base.save(os.path.join(folder, "expected.h5"))
        assert np.array_equal(whole.predict(rows), base.predict(rows))
    elif seen == 5 and source not in ("ROLLED", "JITTERED"):
        assert not np.array_equal(whole.predict(rows), base.predict(rows))
    facts = {
        "stack": STACK, "expected": "clean" if reason else "parallel", "how": "slices: " + source,
        "reason": reason or "", "towers": None if reason else 2, "also_acceptable": [],
    }
    with open(os.path.join(folder, "case.json"), "w") as file:
        json.dump(facts, file, indent=1, sort_keys=True)


for each in CASES:
    if each[2] != "KERAS" or hasattr(K, "slice"):  # tf.keras has none
        case(*each)
