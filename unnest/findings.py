"""Every finding code, with its sentence and hint. A finding is a value; it renders itself.

Each code has a section in docs/findings.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Literal, NamedTuple, TypeAlias

Severity: TypeAlias = Literal["info", "warning", "error"]


class Code(Enum):
    """code = (severity, sentence, hint). Sentences are formatted with the finding's keywords."""

    WEIGHTLESS_LEFT_OUT = (
        "info",
        "layers without weights are missing from the list: the file does not name them",
        (
            "pass --architecture MODEL.json to list them; a template with a nested model needs it. Frozen and never "
            "trained layers (Normalization) come last without it: load with by_name=True"
        ),
    )
    NAMED_BY_COUNT = (
        "warning",
        "the weights do not say what {layers} are called: the names are what Keras calls the first ones in a process",
        "load in the order of layers, or call them so in your code; --architecture MODEL.json gives the names",
    )
    NEEDS_ARCHITECTURE = (
        "warning",
        "weights alone do not show whether this is a parallel model",
        "pass --architecture MODEL.json",
    )
    VARIABLES_ALONE = (
        "warning",
        "these are the variables of a SavedModel, whose folder also says what they are of",
        "pass the folder: {folder}",
    )
    OPTIMIZER_DROPPED = (
        "warning",
        "the optimizer state could not be carried over: {why}",
        "training resumes with a fresh optimizer",
    )
    NEVER_TRAINED = (
        "info",
        "the file holds no optimizer state: the model was compiled, and not trained",
        "training begins with a fresh optimizer, as it would have",
    )
    NO_COMPILE = (
        "info",
        "the optimizer state is carried, but not which optimizer it is of: a checkpoint stores no compile settings",
        "compile the loaded model as it was, then give optimizer_weights to optimizer.set_weights",
    )
    STATE_NOT_RESTORED = (
        "warning",
        "Keras restores no state of a LossScaleOptimizer from an .h5: training goes on with a fresh one",
        "a .keras of the same run holds the state, and is restored: keep it, and fix it without --to",
    )
    NO_GRAPH = (
        "info",
        "{what} keeps its layers in code: the file has no graph of them",
        "only a serving graph can show a wrapper inside it",
    )
    NAMES_ALONE = (
        "warning",
        "judged by layer names alone: {merge} may also end a triplet network or a window model",
        "pass --architecture MODEL.json to be sure; --in-place requires it",
    )
    BY_ORDER = (
        "warning",
        "the weights of {layers} bear other names than the architecture given: their order alone says whose they are",
        "make sure that the architecture is this model's, its layers in this order",
    )
    FROZEN_OTHERWISE = (
        "info",
        "the weights in {models} were saved with other layers frozen: their names say which layer each belongs to",
        "nothing to do: they are written in the order of the architecture given",
    )
    BOUND_LATE = (
        "warning",
        "{names} store the same captured values, those of the last one: lambdas made in a loop are saved so",
        "compare predictions with the original's, if you can still run it",
    )
    OTHER_ENDS = (
        "warning",
        "{name} lists inputs or outputs in another order than {template}, or not all; the result has {template}'s",
        "feed and read lists in the order of the template; names are safe",
    )
    CALLED_IN_TRAINING = (
        "warning",
        "the towers call {template} with training=True, and so predict with dropout and the means of their own rows",
        "the output is {template} as it predicts without: call it with training=True for the other",
    )
    ROWS_MIXED = (
        "warning",
        "{layer} of {template} works along the batch: a row's predictions depend on which rows are with it",
        "predictions depend on the batch: call the result with the rows that one tower received",
    )
    PENALTY_OF_TOWERS = (
        "warning",
        "each of the {towers} towers added the penalty on outputs of {what}, by its own rows: the result adds it once",
        "predictions are the same; to train on as before, multiply these factors of activity_regularizer by {towers}",
    )
    LAYERS_APART = (
        "warning",
        "models in it share {layers}, which no Keras finds again in a .keras: each place has a copy of the weights",
        "it predicts the same; share them again in your code before you train, and compile anew",
    )
    STAYS_NESTED = (
        "warning",
        "{template} stays a nested model: {why}",
        "its layers are one level deeper",
    )
    ORDER_NOT_TOLD = (
        "warning",
        "the weights of {template} stay in the order in which they were saved: the file does not name their layers",
        "if a model in it was frozen, Keras gives them to other layers: load them into your code's model, frozen alike",
    )

    FROZEN_WITHIN = (
        "warning",
        "loading this .h5 gives weights of {name} to other layers: Keras does not store that a model in it was frozen",
        "with --keras 3, or --to keras, fix writes a file that loads as the model was",
    )
    FROZEN_STATE = (
        "warning",
        "Keras {version} refuses this .h5: its optimizer's state covers fewer weights than the loaded model trains",
        "the file does not store that a model was frozen: load the output of fix --to weights into your code's model",
    )

    METAGRAPHS_LEFT_OUT = (
        "info",
        "only the graph that serves is kept; left out: {what}",
        "export again from code where another graph is needed",
    )
    OTHER_MODELS = (
        "info",
        "other models lie in this folder, and were not looked at: {what}",
        "name them in a command of their own; a SavedModel that fix writes has copies of them as they are",
    )
    SERVES_ONLY = (
        "info",
        "the output is a serving graph only: keras.load_model cannot open it",
        "{instead}",
    )
    NOT_CARRIED = (
        "warning",
        "in the file, but no part of the model: {what}",
        "unnest writes the model alone; keep the original if something reads these",
    )
    QUANTIZED = (
        "warning",
        "{count} weights were shortened to {dtype} by TensorFlow.js's converter: the numbers before that are lost",
        "the output has what TensorFlow.js computes with; convert the original Keras file where it was kept",
    )
    STORED_CODE = (
        "warning",
        "loading this file runs, imports or reads what it names: {what}{output}",
        "load it only if you trust its author; unnest never runs it",
    )
    NOT_HELD = (
        "info",
        "left out, because the output cannot hold it: {what}",
        "the input's own container keeps it",
    )
    NOT_ADAPTED = (
        "warning",
        "what {what} found by adapt() is left out, because the output cannot hold it: they do not work without it",
        "call adapt() again after loading, or keep the container: fix without --to",
    )
    LEFTOVER = (
        "info",
        "beside the output lies what a killed run left, and cannot be removed from here: {what}",
        "delete it when no other run is writing this output",
    )

    VERIFIED = (
        "info",
        "loaded and run in {software}: predicts what the input predicts (difference {off} of the largest prediction)",
        "nothing to do",
    )
    NOT_VERIFIED = (
        "warning",
        "not verified: {why}",
        "load it with the line below where what it needs is at hand",
    )
    CUSTOM_OBJECTS = (
        "warning",
        "your own code is needed to load it: {what}",
        "give them to the loader: load_model(..., custom_objects={{{objects}}})",
    )
    LAMBDA_KEPT = (
        "warning",
        "the {kind} {name!r} was not converted: {why} ({read})",
        "define {function}, or let --stub FILE.py write it, and load with custom_objects={{{function!r}: {function}}}",
    )
    COMPILE_DROPPED = (
        "warning",
        "the compile settings and the optimizer's state stayed out: {why}",
        "compile the loaded model before training goes on; predictions are the same",
    )
    COMPILE_PART = (
        "info",
        "of the compile settings, {what} stayed out: {why}",
        "compile the loaded model with it where it is needed",
    )
    STATE_NOT_STORED = (
        "warning",
        "the file holds no state of the optimizer: a .keras of Keras 2 has none of those of keras.optimizers.legacy",
        "training goes on with a fresh one; an .h5 of the same run has the state",
    )
    NOT_COMPARED = (
        "warning",
        "code keeps {layers} from being compared with your model's: its weights are placed by what surrounds it",
        "make sure that the code of both is the same",
    )
    PLACED_BY_ORDER = (
        "warning",
        "the weights of {layers} bear other names in the file: the order of layers and their shapes placed them",
        "make sure that your code builds the model that was saved, its layers in this order",
    )
    STATE_BY_SHAPES = (
        "warning",
        "the file does not name its optimizer: the state was taken for {kind}'s, whose number and shapes it has",
        "make sure that your model is compiled with the optimizer that was saved",
    )
    OTHER_GATES = (
        "warning",
        "the gates of {layers} are sigmoid: the default before TensorFlow 2 was hard_sigmoid, and the file has none",
        "where the old code did not say recurrent_activation, build it with recurrent_activation='hard_sigmoid'",
    )
    OTHER_HARD_SIGMOID = (
        "warning",
        "hard_sigmoid was 0.2 x + 0.5 and is x / 6 + 0.5 today: {layers}",
        "put Rescaling(1.2) before it in your code",
    )
    OTHER_RATE = (
        "warning",
        "weights were multiplied by a constant, and training goes on with another effective rate for them",
        "predictions are the same; compile with a fresh optimizer where that matters",
    )
    UNSCALED = (
        "warning",
        "hard_sigmoid was 0.2 x + 0.5 and is x / 6 + 0.5 today, and there are no weights to multiply by 1.2: {what}",
        "give the weights too: unnest fix WEIGHTS.h5 --architecture MODEL.json --keras 3",
    )
    OTHER_EPSILON = (
        "warning",
        "{kind}'s epsilon of {epsilon} stood outside the root; squared and inside, so large a one gives other steps",
        "predictions are the same; compile with a fresh optimizer where that matters",
    )
    OTHER_SCHEDULE = (
        "warning",
        "Nadam's slots are carried, but not how far its schedule of momenta had come, which the file does not tell",
        "training goes on with today's schedule",
    )
    WORDS_NOT_DROPPED = (
        "warning",
        "Embedding left out whole words in training, by its `dropout`, which no layer of Keras 3 does: {what}",
        "predictions are the same; training goes on without that dropout",
    )
    WEIGHTS_OF_SUBCLASS = (
        "warning",
        "{name}: if its class extends Keras's {parent}, Keras 3 does not load the weights that it adds: {what}",
        "give the class a load_own_variables(self, store) that sets every weight of self.weights from the store",
    )
    WEIGHTS_OF_PARTS = (
        "warning",
        "weights in pairs, which may be of layers inside a custom layer: {what}",
        (
            "they are written as the layer's own; where its code holds layers for them, loading stops at this layer: "
            "load the file where it was made, and hand the weights on by get_weights and set_weights"
        ),
    )
    FROZEN_NORMALIZATION = (
        "warning",
        "frozen BatchNormalization normalized by the batch at hand in training, and by its stored values today: {what}",
        "predictions are the same; training goes on otherwise, as later Kerases do it",
    )
    SUMMED_PENALTY = (
        "warning",
        "the penalty on the outputs of {what} was summed over the batch, and is divided by its rows today",
        "predictions are the same; to train on as before, multiply its factors by your batch size",
    )
    EMBEDDING_STEPS = (
        "warning",
        "{kind} trains {what}: if a word comes twice in a batch, Keras 3 on TensorFlow does not add up its gradients",
        "predictions are the same; the next steps of such rows are others, so expect other losses",
    )
    MASKED_NORMALIZATION = (
        "warning",
        "BatchNormalization behind a mask counted the masked steps too in training, and leaves them out today: {what}",
        "predictions are the same; training goes on with other means and variances where steps are masked",
    )
    TRAINING_OVERRIDDEN = (
        "warning",
        "called with training=False, which tf.keras heeded while it trained, and Keras 3's fit overrides: {what}",
        "predictions are the same; to train on as before, freeze these layers, or set their rate to 0",
    )
    UNKNOWN_MASK = (
        "warning",
        "{doubt}, if its code makes a mask",
        "compare the result's predictions with the old model's; without a mask they are the same",
    )
    MASKED_LOSS = (
        "warning",
        "a mask reaches the loss of {what}: {why}",
        "predictions are the same; training goes on with other gradients where steps are masked",
    )
    ASSUMED_DATA_FORMAT = (
        "warning",
        "{what}: Keras 1 stores no dim_ordering for these, and no other layer shows it; channels_last (tf) was taken",
        "where the model was of Theano's order (th), what was written computes something else: compare its predictions",
    )
    ASSUMED_INTERPOLATION = (
        "warning",
        "{what}: tf.keras of TensorFlow 1.13 and older stores no interpolation of UpSampling2D; nearest was taken",
        "if your code says interpolation='bilinear', the file predicts something else, in its own TensorFlow too",
    )
    ASSUMED_FUNCTION = (
        "warning",
        "{what}: custom code when the file was written, taken for Keras's function of that name",
        "where your code has a factor, as in x * sigmoid(1.5 * x), the output computes something else",
    )
    ADDED_LOSS = (
        "warning",
        "what add_loss or add_metric added to the model is left out, Keras 3 has no place for it: {what}",
        "predictions are the same; for training add it in a layer or a train_step of your own",
    )
    FUNCTIONAL_SUBCLASS = (
        "info",
        "{what} is a custom class over a plain graph of layers; the graph was written as a functional model",
        "methods that the class adds are in its code alone",
    )

    @property
    def severity(self) -> Severity:
        """Return how much the finding matters: info, warning or error."""
        severity: Severity = self.value[0]
        return severity

    def __call__(self, **facts: object) -> Finding:
        """Return the finding for these facts."""
        _, sentence, hint = self.value
        code = self.name.lower().replace("_", "-")
        return Finding(code, self.severity, sentence.format(**facts), hint.format(**facts))


class Finding(NamedTuple):
    """One coded observation."""

    code: str
    """Stable; a section of docs/findings.md."""
    severity: Severity
    """`info`, `warning` or `error`."""
    message: str
    """What was found, and where."""
    hint: str
    """What to do."""


def listed(names: Sequence[str], most: int = 20) -> str:
    """Return names for a sentence; beyond `most` of them a count."""
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")
