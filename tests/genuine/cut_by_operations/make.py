"""Weights of a parallel model whose batch is cut by operations, which have no place in a path-keyed file.

`python make.py FOLDER` in the environment keras3 of `fixtures/scripts/make-stack`.
"""

from __future__ import annotations

import pathlib
import sys

import keras

layers = keras.layers
target = pathlib.Path(sys.argv[1])
keras.utils.set_random_seed(3)

ids, rows = keras.Input((2,), name="ids"), keras.Input((4,), name="rows")
seen = layers.Concatenate()([layers.Dense(3, name="hidden")(rows), ids])
template = keras.Model([rows, ids], layers.Dense(2, name="scores")(seen), name="template")
all_ids, all_rows = keras.Input((2,), name="all_ids"), keras.Input((4,), name="all_rows")
halves = zip(keras.ops.split(all_rows, 2), keras.ops.split(all_ids, 2), strict=True)
merged = layers.Concatenate(axis=0)([template([*half]) for half in halves])
parallel = keras.Model([all_ids, all_rows], merged, name="parallel")

parallel.save_weights(target / "parallel.weights.h5")
template.save_weights(target / "template.weights.h5")
(target / "template.json").write_text(template.to_json())
(target / "parallel.json").write_text(parallel.to_json())
