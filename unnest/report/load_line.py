"""The line of Python that loads a model's file."""

from __future__ import annotations

import re

from unnest.core.keras_facts.custom_objects_needed_to_load import Needs, needs, python_identifier
from unnest.core.keras_facts.load_time_code import lambdas
from unnest.core.keras_facts.loading_in_tf_keras import has_paths_of_windows, lambda_pythons
from unnest.core.keras_facts.optimizer_classes import custom_optimizers
from unnest.core.model import Json, JsonObject, Stored
from unnest.report.reasons_not_to_load import (
    is_not_loaded_in_its_time,
    why_not_keras_3,
    why_not_tf_keras,
)
from unnest.report.where_it_loads import (
    OF_BACKEND,
    OF_KERAS,
    OF_TENSORFLOW,
    keras_of_its_time,
    loads_untrained,
    other_name,
    own_globals,
    well_known_activations,
)

#: The last Keras whose .h5 files a standalone `keras` wrote; then it was part of TensorFlow.
STANDALONE_VERSION = re.compile(r"(1|2\.[0-3])\.[\d.]+")

#: Losses and metrics that a loader finds by name, in Keras 2 and 3 alike.
KNOWN_BY_NAME = (
    r"(sparse_|categorical_|binary_|top_k_|sparse_top_k_)*(crossentropy|accuracy|focal_crossentropy)|acc|ce|auc|AUC"
    r"|mean_(squared|absolute)_(error|percentage_error|logarithmic_error)|mse|mae|mape|msle|MSE|MAE|MAPE|MSLE"
    r"|kullback_leibler_divergence|kl_divergence|kld|KLD|poisson|cosine_similarity|cosine_proximity|cosine|logcosh"
    r"|log_cosh|(squared_|categorical_)?hinge|huber(_loss)?|[Pp]recision|[Rr]ecall|lr|"
)

#: Classes of losses and metrics. (Source: keras.losses and keras.metrics of tf_keras 2.21 and Keras 3.15.)
LOSSES_AND_METRICS = frozenset({
    "AUC", "Accuracy", "BinaryAccuracy", "BinaryCrossentropy", "BinaryFocalCrossentropy", "BinaryIoU", "CTC",
    "CategoricalAccuracy", "CategoricalCrossentropy", "CategoricalFocalCrossentropy", "CategoricalHinge", "Circle",
    "CategoricalGeneralizedCrossEntropy", "ConcordanceCorrelation", "CosineProximity", "CosineSimilarity", "Dice",
    "F1Score", "FBetaScore", "FalseNegatives", "FalsePositives", "Hinge", "Huber", "IoU", "KLDivergence", "LogCosh",
    "KullbackLeiblerDivergence", "LogCoshError", "Logcosh", "Mean", "MeanAbsoluteError", "MeanAbsolutePercentageError",
    "MeanIoU", "MeanRelativeError", "MeanSquaredError", "MeanSquaredLogarithmicError", "MeanTensor", "OneHotIoU",
    "OneHotMeanIoU", "PearsonCorrelation", "Poisson", "Precision", "PrecisionAtRecall", "R2Score", "Recall",
    "RecallAtPrecision", "RootMeanSquaredError", "SensitivityAtSpecificity", "SparseCategoricalAccuracy",
    "SparseCategoricalCrossentropy", "SparseTopKCategoricalAccuracy", "SpecificityAtSensitivity", "SquaredHinge", "Sum",
    "TopKCategoricalAccuracy", "TrueNegatives", "TruePositives", "Tversky",
})  # fmt: skip

TEMPLATE = "your single-device model"
"""The model that weights alone load into where the whole of a parallel model was its wrapper."""

FLAT_TEMPLATE = "your single-device model without nested models"
"""The same where names alone show the layers: their list is flat. (Source: weights of nested models of nine stacks.)"""

#: What a path's ending may be, as far as it decides anything here; the first that fits.
ENDINGS = (".weights.h5", ".h5", ".hdf5", ".keras")


def ending_of(path: str) -> str:
    """Return the one of ENDINGS that a path has, else "": equal endings have equal load lines, paths apart."""
    return next((ending for ending in ENDINGS if path.endswith(ending)), "")


def with_path_moved(line: str, path: str, new_path: str) -> str:
    """Return the `load_line` of `path` for another path of the same ending; no name from a file precedes the path."""
    moved = {path: new_path}
    moved |= {with_ending(path, ending): with_ending(new_path, ending) for ending in ENDINGS}
    present = [old for old in moved if repr(old) in line]
    if not present:
        return line
    first = min(present, key=lambda old: line.index(repr(old)))
    return line.replace(repr(first), repr(moved[first]), 1)


def with_ending(path: str, ending: str) -> str:
    """Return a path with this one of ENDINGS in place of the one that it has, in whatever case."""
    has = ending_of(path.lower())
    return path[: len(path) - len(has)] + ending


def load_line(
    model: Stored,
    path: str,
    container: str = "",
    taker: str = TEMPLATE,
    architecture_text: str = "",
) -> str | None:
    """Return the line of Python that loads a file, with quoted path and named custom code; None without one.

    `taker`: the model that weights alone load into, in words. `architecture_text`: the expression for the text of a
    file that holds an architecture alone.
    None where nothing loads the file, its writer included: operations in an .h5 of Keras 3, frozen models of Keras 2.
    """
    if container == "tfjs" or (model.contents == "model" and _nothing_loads(model, container)):
        return None
    if container == "saved_model":
        return f"import tensorflow as tf; model = tf.saved_model.load({path!r})"
    path, conditions = _name_and_conditions(model, path, container)
    if model.contents == "weights":
        notes = [f"model: {taker}, built by your code", *conditions]
        if container == "h5" and not model.is_keras_3 and model.keras_version:
            notes.append("in Keras 3: unnest.keras.load_weights")
        return f"model.load_weights({path!r}){_note(notes)}"
    module, notes = _module(model, container)
    notes += conditions
    wanted = needs(model)
    if module != "import tf_keras":
        wanted = wanted._replace(functions=(*wanted.functions, *well_known_activations(model)))
    custom_objects = _custom_objects_keyword(wanted, _called(module))
    if not {*wanted.globals}.isdisjoint(OF_TENSORFLOW):
        module = f"import tensorflow as tf; {module}"
    if own := [*wanted.classes, *wanted.functions, *own_globals(wanted)]:
        notes.append(f"define or import {', '.join(map(python_identifier, own))} first")
    if model.contents == "architecture":
        text = architecture_text or f"open({path!r}).read()"
        form = "yaml" if container == "yaml" else "json"
        module = f"import json; {module}" if text.startswith("json.") else module
        function, arguments = f"model_from_{form}", [text, *custom_objects]
    else:
        keywords, more_notes = _keywords_of_load_model(model, path, container, wanted)
        notes += more_notes
        function, arguments = "load_model", [repr(path), *custom_objects, *keywords]
    call = f"{_called(module)}.models.{function}({', '.join(arguments)})"
    return f"{module}; model = {call}{_note(notes)}"


def _nothing_loads(model: Stored, container: str) -> bool:
    """Return True if no Keras loads the model, its writer included, for certain."""
    is_lost = model.is_keras_3 and bool(why_not_keras_3(model, container))
    return is_lost or is_not_loaded_in_its_time(model, container)


def _keywords_of_load_model(
    model: Stored, path: str, container: str, wanted: Needs
) -> tuple[list[str], list[str]]:
    """Return the keywords that `load_model` takes beside `custom_objects`, and notes on them."""
    keywords: list[str] = []
    notes: list[str] = []
    is_guarded = model.is_keras_3 or container == "keras" or path.endswith(".keras")
    if is_guarded and wanted.stored_code:
        keywords.append("safe_mode=False")
        layers = ", ".join(lambdas(model.architecture))
        notes.append(f"runs the code stored in {layers}: only if you trust it")
    own_names = _own_names(model.training)
    is_untrained = loads_untrained(model, path)
    if is_untrained or own_names:
        keywords.append("compile=False")
    can_be_given = all(
        name.rpartition(">")[2].isidentifier() and name.strip("_") != "lambda" for name in own_names
    )
    if own_names and can_be_given and not is_untrained:
        notes.append(
            f"to train on, give {', '.join(own_names)} in custom_objects instead of compile=False"
        )
    return keywords, notes


def _name_and_conditions(model: Stored, path: str, container: str) -> tuple[str, list[str]]:
    """Return the path under which the file loads, and notes on it."""
    conditions = ["on Windows"] if has_paths_of_windows(model, container) else []
    ending = other_name(model, path, container)
    if ending is None:
        return path, conditions
    return with_ending(path, ending), ["first give the file this name", *conditions]


def _module(model: Stored, container: str) -> tuple[str, list[str]]:
    """Return the import of a Keras that loads the file, and notes on it."""
    if model.is_keras_3:
        return "import keras", []
    why = why_not_tf_keras(model, container)
    code = needs(model).stored_code
    if why is None:
        return "import tf_keras", [f"on {_python(model)}"] if code else []
    where = (
        f"in {keras_of_its_time(model)}" if model.keras_version else "in the Keras that wrote it"
    )
    if code:
        where += f", on {_python(model)}"
    standalone = STANDALONE_VERSION.fullmatch(model.keras_version or "") or (
        # `keras` of Keras 2.7 and 2.10 has no `layers.experimental`, tf.keras has it.
        model.release >= (2, 6) and not needs(model).of_keras
    )
    return ("import keras" if standalone else "from tensorflow import keras"), [where]


def _python(model: Stored) -> str:
    """Return the Python that runs the stored code, with versions if the code shows them."""
    versions = lambda_pythons(model)
    return (
        f"Python {versions}, of the Lambda layers"
        if versions
        else "the Python of the Lambda layers"
    )


def _called(module: str) -> str:
    return module.rsplit(maxsplit=1)[-1]


def _custom_objects_keyword(wanted: Needs, keras: str) -> list[str]:
    """Return the keyword `custom_objects` with classes, functions and globals; registered ones by registered name.

    `keras`: the name of the Keras that the line imports.
    """
    names = [*wanted.classes, *wanted.functions, *own_globals(wanted)]
    values = {name: python_identifier(name) for name in names}
    values |= {name: f"{keras}.{place}" for name, place in wanted.of_keras.items()}
    for name in wanted.globals:
        if name not in values:
            values[name] = (
                f"{keras}.backend" if name in OF_BACKEND else keras if name in OF_KERAS else "tf"
            )
    pairs = (f"{name!r}: {value}" for name, value in values.items())
    return [f"custom_objects={{{', '.join(pairs)}}}"] if values else []


def _note(notes: list[str]) -> str:
    return f"  # {'; '.join(notes)}" if notes else ""


def _own_names(training: JsonObject | None) -> list[str]:
    """Return custom losses, metrics and optimizers, which a loader needs in `custom_objects`."""
    names = custom_optimizers(training)
    pending: list[Json] = [
        (training or {}).get(key) for key in ("loss", "metrics", "weighted_metrics")
    ]
    while pending:
        part = pending.pop()
        if isinstance(part, dict) and part.get("class_name") == "function":
            part = part.get("config")
        if isinstance(part, str) and not re.fullmatch(KNOWN_BY_NAME, part):
            names.append(part)
        elif isinstance(part, dict) and "class_name" not in part:
            pending.extend(part.values())
        elif isinstance(part, dict) and part.get("module", "keras") is None:
            names.append(str(part["class_name"]))
        elif isinstance(part, dict) and isinstance(part.get("config"), dict):
            # TensorFlow's classes that make a metric or a loss of a function have it; a custom class has no module.
            if "fn" not in part["config"] and "module" not in part:
                names += {str(part["class_name"])} - LOSSES_AND_METRICS
            pending.append(part["config"].get("fn"))
        elif isinstance(part, (list, tuple)):
            pending.extend(part)
    return sorted({*names})
