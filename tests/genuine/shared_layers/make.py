"""Models in which two nested models share a layer: parallel, and clean, with what they predict.

`python make.py FOLDER NAME` in the environments keras3 and tf215 of `fixtures/scripts/make-stack`; NAME ends the files.
"""

from __future__ import annotations

import pathlib
import sys

import numpy as np

try:
    from tensorflow import keras, split
except ImportError:
    import keras
    from keras.ops import split

layers = keras.layers
target, name = pathlib.Path(sys.argv[1]), sys.argv[2]
rows = np.random.RandomState(0).rand(6, 4).astype("float32")


def tied() -> keras.Model:
    """An encoder and a decoder that share a layer, which the model itself calls once more."""
    shared = layers.Dense(4, name="shared", activation="tanh")
    image, code = keras.Input((4,)), keras.Input((4,))
    encoder = keras.Model(image, shared(layers.Dense(4, name="first")(image)), name="encoder")
    decoder = keras.Model(code, layers.Dense(4, name="last")(shared(code)), name="decoder")
    seen = keras.Input((4,), name="seen")
    return keras.Model(
        seen, layers.Dense(3, name="head")(shared(decoder(encoder(seen)))), name="template"
    )


def twice() -> keras.Model:
    """A classifier that holds an encoder, beside the encoder itself."""
    image, other = keras.Input((4,)), keras.Input((4,))
    code = layers.Dense(4, name="second")(layers.Dense(4, name="shared")(image))
    encoder = keras.Model(image, code, name="encoder")
    classifier = keras.Model(
        other, layers.Dense(2, name="classes")(encoder(other)), name="classifier"
    )
    seen = keras.Input((4,), name="seen")
    return keras.Model(
        seen, [classifier(seen), layers.Dense(5, name="beside")(encoder(seen))], name="template"
    )


def note(model: keras.Model, path: pathlib.Path) -> None:
    """Write the rows, and what the model gives for them, output by output."""
    outputs = model.predict(rows, verbose=0)
    arrays = {f"y{k}": y for k, y in enumerate(outputs if isinstance(outputs, list) else [outputs])}
    np.savez(path, allow_pickle=False, x=rows, **arrays)


keras.utils.set_random_seed(7)
template = tied()
whole = keras.Input((4,), name="whole")
parallel = keras.Model(
    whole, layers.Concatenate(axis=0)([template(half) for half in split(whole, 2)])
)
parallel.compile("adam", "mse")
parallel.fit(rows, template.predict(rows, verbose=0), batch_size=6, verbose=0)
parallel.save(target / f"tied_parallel_{name}.keras")
note(template, target / f"tied_{name}.npz")
clean = twice()
clean.save(target / f"twice_{name}.keras")
note(clean, target / f"twice_{name}.npz")
