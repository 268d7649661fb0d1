"""Towers of a model's own layers behind Lambda slices, as the original software saves them.

    python make.py keras|tensorflow OUT        in an original stack, from this folder: Lambda code keeps the file's name

Small on purpose: a parallel model `NAME.h5`, and `NAME-base.h5`, which the same process writes for the template.
"""
import os
import sys

import numpy as np

if sys.argv[1] == "keras":
    from keras import backend as K
    from keras import layers, models
else:
    from tensorflow.keras import backend as K
    from tensorflow.keras import layers, models


def get_slice(x, i, parts):
    size = K.shape(x)[0] // parts
    return x[i * size:] if i == parts - 1 else x[i * size:(i + 1) * size]


def template(end=""):
    return [
        layers.Dense(5, activation="relu", name="hidden" + end),
        layers.BatchNormalization(name="norm" + end),
        layers.Dense(2, name="scores" + end),
    ]


def called(own, y):
    for layer in own:
        y = layer(y)
    return y


def case(name, parts, order, copies=False):
    np.random.seed(7)
    x = layers.Input((4,), name="rows")
    shared, towers = template(), []
    for tower, i in enumerate(order):
        cut = layers.Lambda(get_slice, arguments={"i": i, "parts": parts}, name="part_%d" % tower)(x)
        towers.append(called(template("_%d" % tower) if copies else shared, cut))
    y = layers.Concatenate(axis=0, name="joined")(towers)
    models.Model(x, y, name="net").save(os.path.join(sys.argv[2], name + ".h5"))
    if not name.startswith("not-"):
        models.Model(x, called(shared, x), name="net").save(os.path.join(sys.argv[2], name + "-base.h5"))


def two_ends(name, order):
    """One output is computed from both inputs, the other from the first of them alone; `order`: its towers' parts."""
    np.random.seed(7)
    inputs = [layers.Input((4,), name="rows"), layers.Input((3,), name="marks")]
    hidden, scores, aux = (layers.Dense(units, name=end) for units, end in ((5, "hidden"), (2, "scores"), (3, "aux")))
    both = layers.Concatenate(name="both")

    def template_of(rows, marks):
        inner = hidden(rows)
        return [scores(both([inner, marks])), aux(inner)]

    towers = []
    for i in range(2):
        arguments = {"i": i, "parts": 2}
        towers.append(template_of(*[layers.Lambda(get_slice, arguments=arguments)(each) for each in inputs]))
    merged = [[tower[0] for tower in towers], [towers[i][1] for i in order]]
    y = [layers.Concatenate(axis=0, name="joined_%d" % n)(each) for n, each in enumerate(merged)]
    models.Model(inputs, y, name="net").save(os.path.join(sys.argv[2], name + ".h5"))
    if not name.startswith("not-"):
        models.Model(inputs, template_of(*inputs), name="net").save(os.path.join(sys.argv[2], name + "-base.h5"))


case("two", 2, [0, 1])
case("three", 3, [0, 1, 2])
case("not-swapped", 2, [1, 0])
case("not-twice", 2, [0, 0])
case("not-all", 3, [0, 1])
case("not-shared", 2, [0, 1], copies=True)
two_ends("two-ends", [0, 1])
two_ends("not-ends-swapped", [1, 0])
