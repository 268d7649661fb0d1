"""Write keras-applications models as two-GPU parallel models, with what they predict (Python 3.6 to 3.8, in the original stack).

    PYTHON applications.py FAKE_GPUS API OUT [NAME...]      API: keras or tf.keras; FAKE_GPUS: the folder of fake_gpus.py

OUT/<name>.h5 and OUT/<name>.npz (x0, y0). Weights are the initializers'; BatchNormalization's are made to matter.
One line of JSON for each model: {"name", "error", "apart"}; apart: between the parallel model and its template.
"""

import json
import os
import sys
from typing import Any

os.environ.update(CUDA_VISIBLE_DEVICES="", TF_CPP_MIN_LOG_LEVEL="3", KERAS_BACKEND="tensorflow")

import numpy as np

#: Name -> the class, the input's side, whether with its classifier (else: what the pooled features are).
MODELS = {
    "vgg16": ("VGG16", 32, True),
    "resnet50": ("ResNet50", 32, False),
    "inception_v3": ("InceptionV3", 75, False),
    "xception": ("Xception", 71, False),
    "mobilenet": ("MobileNet", 32, True),
    "mobilenet_v2": ("MobileNetV2", 32, False),
    "densenet121": ("DenseNet121", 32, False),
    "nasnet_mobile": ("NASNetMobile", 32, False),
    "efficientnet_b0": ("EfficientNetB0", 32, True),
}
ROWS = 4


def stir(model: Any, backend: Any, rng: Any) -> None:
    """Statistics, scales and offsets that are neither 0 nor 1.

    All in one call: TensorFlow 1 looks through its whole graph again at each call that follows a new operation, which
    layer by layer took DenseNet121 longer than everything else together.
    """
    normalizing = [layer for layer in model.layers if type(layer).__name__.startswith("BatchNormalization")]
    weights = [weight for layer in normalizing for weight in layer.weights]
    values = []
    for weight, value in zip(weights, backend.batch_get_value(weights)):
        positive = "variance" in weight.name or "gamma" in weight.name
        noise = rng.uniform(0.7, 1.4, value.shape) if positive else rng.randn(*value.shape) * 0.1
        values.append(noise.astype(value.dtype))
    backend.batch_set_value(list(zip(weights, values)))


def make(keras: Any, name: str, out: str) -> float:
    kind, side, top = MODELS[name]
    build = getattr(keras.applications, kind)
    options = {"classes": 7} if top else {"pooling": "avg"}
    template = build(include_top=top, weights=None, input_shape=(side, side, 3), **options)
    rng = np.random.RandomState(7)
    stir(template, keras.backend, rng)
    parallel = keras.utils.multi_gpu_model(template, gpus=2)
    x = rng.uniform(-1, 1, (ROWS, side, side, 3)).astype("float32")
    y = parallel.predict(x, batch_size=ROWS)
    apart = float(np.max(np.abs(y - template.predict(x, batch_size=ROWS))))
    parallel.save(os.path.join(out, name + ".h5"))
    np.savez(os.path.join(out, name + ".npz"), x0=x, y0=y)
    return apart


def main() -> None:
    sys.path.insert(0, sys.argv[1])
    import fake_gpus  # type: ignore[import-not-found]  # lies in the folder that was just named

    if sys.argv[2] == "keras":
        import keras
    else:
        from tensorflow import keras
    for name in sys.argv[4:] or MODELS:
        keras.backend.clear_session()
        fake_gpus.install(2)
        told = {"name": name, "error": None, "apart": None}  # type: Any
        if not hasattr(keras.applications, MODELS[name][0]):
            told["error"] = "absent"
        else:
            try:
                told["apart"] = make(keras, name, sys.argv[3])
            except Exception as error:
                told["error"] = f"{type(error).__name__}: {error}"
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
