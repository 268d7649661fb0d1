"""The named rules: what each changes, and where it is known from. The report's `conversions[]` name them."""

from __future__ import annotations

from typing import NamedTuple


class Rule(NamedTuple):
    """`what` a rule does, as a report says it, and the `source` of the fact behind it.

    `altered`: what Keras 3 computes otherwise where it opens a file that the rule was not applied to; empty where it
    computes the same, refuses the file, or neither is known.
    (Source: 8,044 models of older Kerases, most of a single layer, loaded by Keras 3.15: each of the 234 with such a
    rule that `predictions_if_not_converted.is_opened` names predicted something else.)
    """

    what: str
    source: str
    altered: str = ""


RULES: dict[str, Rule] = {
    "arguments": Rule(
        "obsolete arguments were dropped; each held what Keras 3 computes anyway",
        "the constructors of Keras 3.15 beside those of Keras 1.2.2 to 2.3.1 and tf.keras 1.13 to 2.15",
    ),
    "keras-1-arguments": Rule(
        "arguments of Keras 1 were written by their names of today",
        "Keras 2.0.0, keras/legacy/interfaces.py",
    ),
    "class-name": Rule(
        "classes were written by their names of today",
        "Keras 2.0.0 release notes; TensorFlow 2.0 (V1 and V2 classes)",
    ),
    "defaults-of-then": Rule(
        "arguments whose default has changed since were written out with the value of then",
        "GRU's reset_after: Keras 3.0 (true), Keras 2 before 2.1.5 knew none; ConvLSTM2D's recurrent_activation: "
        "Keras 3.0 (sigmoid), hard_sigmoid before",
    ),
    "input-layer": Rule(
        "a Sequential's input shape, kept by its first layer, became an input layer",
        "Keras 3.0: layers take no batch_input_shape",
    ),
    "sequential-graph": Rule(
        "a Sequential that needs an operation between its layers was written as a functional model",
        "Keras 3.0: a Sequential holds layers alone",
    ),
    "functional-subclass": Rule(
        "a subclass of Model over a plain graph of layers was written as a functional model",
        "Keras 3.0: a custom class is loaded through its own code",
    ),
    "initializer": Rule(
        "initializers that Keras 3 has not were written as zeros: the weights themselves are stored",
        "Keras 3.15, keras.initializers",
    ),
    "dtype-policy": Rule(
        "dtype policies were written by name",
        "TensorFlow 2.4: Policy; Keras 3.0: DTypePolicy",
    ),
    "discretization-dtype": Rule(
        "a Discretization that stored the integer dtype of its result was written with that of its input, float32",
        "Keras 3.15, keras/src/layers/layer.py: inputs are cast to the layer's dtype",
    ),
    "embedding-dtype": Rule(
        "an Embedding that stored the dtype of its ids was written with that of its weights, float32",
        "Keras 2.0.4, keras/layers/embeddings.py",
    ),
    "known-size": Rule(
        "a Normalization behind an input of unknown size was built on the size of its stored mean",
        "Keras 3.15, keras/src/layers/preprocessing/normalization.py: build",
    ),
    "shape-of-weights": Rule(
        "a Sequential's input shape, which is not in the file, was read off its weights; behind a Dense, rows of "
        "features are assumed",
        "Keras 2.2.4, keras/engine/sequential.py: the InputLayer is left out of the config",
    ),
    "hard-sigmoid": Rule(
        "hard_sigmoid was 0.2 x + 0.5 and is x / 6 + 0.5 today: what feeds it was multiplied by 1.2",
        "Keras 3.0, keras/src/activations: hard_sigmoid",
        altered="hard_sigmoid",
    ),
    "cudnn-rnn": Rule(
        "a CuDNN layer was written as its plain kin: kernels transposed gate by gate, both biases kept or added",
        "Keras 2.2.4, keras/engine/saving.py: weights of CuDNNLSTM and CuDNNGRU in LSTM and GRU",
    ),
    "keras-1-gates": Rule(
        "a recurrent layer's arrays, one a gate in Keras 1, were joined in today's order",
        "Keras 2.2.4, keras/engine/saving.py: preprocess_weights_for_loading",
    ),
    "keras-1-kernel": Rule(
        "a convolution's kernel was written in today's order of axes",
        "Keras 2.2.4, keras/engine/saving.py: preprocess_weights_for_loading",
    ),
    "theano-kernel": Rule(
        "kernels by the Theano backend were flipped: it convolves, the others correlate",
        "Keras 2.2.4, keras/engine/saving.py: _need_convert_kernel",
    ),
    "thresholded-relu": Rule(
        "ThresholdedReLU was written as ReLU with that threshold", "Keras 3.0: ThresholdedReLU removed"
    ),
    "locally-connected": Rule(
        "a LocallyConnected layer was written as patches and an EinsumDense over them",
        "Keras 3.0: LocallyConnected1D and 2D removed",
    ),
    "known-function": Rule(
        "a function stored by name, which was custom code then, was taken for the well-known one",
        "keras-applications 1.0 (relu6), the EfficientNet and SE-ResNeXt packages of 2017 to 2019 (swish)",
    ),
    "activation-layer": Rule(
        "an activation that is a layer was written as a layer behind",
        "Keras 3.0, keras.activations",
    ),
    "tf-operation": Rule("TensorFlow operations were written as operations of Keras 3", "Keras 3.15, keras.ops"),
    "lambda": Rule(
        "a Lambda's stored code was read, not run, and written as operations", "CPython's bytecode, 2.7 to 3.14"
    ),
    "merge": Rule("Keras 1's Merge was written as the layer of its mode", "Keras 2.0.0: Merge removed"),
    "keras-1-layer": Rule(
        "a layer that later Kerases have not was written as the layers that compute the same",
        "Keras 1.2.2, keras/layers/core.py",
    ),
    "mask": Rule(
        "a layer was given the mask of then as an argument: merge layers took what is unmasked in all inputs, and take "
        "what is unmasked in any today; a TimeDistributed handed on the masks of the layer in it, and does not today",
        "Keras 3.4, commit 603db8003c; Keras 3.15, keras/src/layers/rnn/time_distributed.py",
        altered="the mask of merged tensors, or of the steps of a TimeDistributed",
    ),
    "carried-mask": Rule(
        "a layer of your own, an attention or a model in the model, behind a mask that Keras 3 would lose or compute "
        "otherwise, reads a TimeDistributed layer that does nothing but carry the mask of then",
        "Keras 3.12, keras/src/layers/layer.py: a mask that is given as an argument becomes the output's",
    ),
    "no-mask": Rule(
        "a layer that heeds, or hands on, the mask of its input today, and did not then, was written so that it sees "
        "none, or none comes out",
        "Keras 2.1.6 (TimeDistributed), Keras 2.10 (MultiHeadAttention), TensorFlow 2.3 (Softmax, ReLU), "
        "Keras 3.15 (Identity, Normalization)",
    ),
    "initial-state-mask": Rule(
        "a recurrent layer with an initial state was given the mask of its input as an argument: Keras 3 forgets it "
        "where there is more than one input",
        "Keras 3.15, keras/src/layers/layer.py",
    ),
    "masked-first-steps": Rule(
        "where a row begins with masked steps, a recurrent layer gave back its initial state, and gives zeros in "
        "Keras 3: operations behind it put the state there. Behind them a loss no longer leaves out masked steps",
        "Keras 2.2.4, keras/backend/tensorflow_backend.py: rnn",
    ),
    "masked-steps": Rule(
        "a Bidirectional gave back its last output at masked steps, and gives zeros in Keras 3: its directions were "
        "written as two layers, joined by operations. Behind them a loss no longer leaves out masked steps",
        "Keras 2.2.4, keras/backend/tensorflow_backend.py: rnn; Keras 3.15, keras/src/layers/rnn/bidirectional.py",
    ),
    "vocabulary": Rule(
        "the words that adapt() found, which a file beside the weights held, were written into the config",
        "tf_keras 2.15 and Keras 3.15, index_lookup.py: save_assets",
    ),
    "word-state": Rule(
        "what adapt() found beside the words, their number or their weights (TF-IDF), was written as Keras 3 keeps it",
        "TensorFlow 2.3, category_encoding.py; Keras 2.15 and 3.15, index_lookup.py: load_own_variables",
    ),
    "counted-words": Rule(
        "a TextVectorization that counts words is followed by a layer that says their number, which Keras 3 mistakes",
        "Keras 3.15, text_vectorization.py: compute_output_shape",
    ),
    "bin-boundaries": Rule(
        "the boundaries that adapt() found, which a weight summarized, were computed and written into the config",
        "TensorFlow 2.7, keras/layers/preprocessing/discretization.py: compress_summary",
    ),
    "large-noise": Rule(
        "GaussianNoise of more than 1, which Keras 3 refuses, was written around a smaller tensor",
        "Keras 3.15, keras/src/layers/regularization/gaussian_noise.py",
    ),
    "causal": Rule(
        "SeparableConv1D's causal padding, which Keras 3 refuses, was written as a layer before it",
        "Keras 3.15, keras/src/layers/convolutional/base_separable_conv.py",
    ),
    "causal-attention": Rule(
        "an attention's causal=True, which Keras 3 takes with each call, became use_causal_mask=True of its calls",
        "TensorFlow 2.7, keras/layers/dense_attention.py; Keras 3.15, keras/src/layers/attention/attention.py",
    ),
    "time-major": Rule(
        "a recurrent layer that took time before the batch was written between two operations that swap the two",
        "Keras 3.0: time_major removed",
    ),
    "channels-first-bias": Rule(
        "a convolution of channels_first whose last axis is as long as it has filters was turned to channels_last: "
        "Keras 3 on TensorFlow would add its bias along the wrong axis",
        "Keras 3.15, keras/src/backend/tensorflow/numpy.py: add",
        altered="the bias of channels_first",
    ),
    "initial-state": Rule(
        "a recurrent layer's initial state, an input of its call in Keras 2, became the argument initial_state",
        "Keras 3.0, keras/src/layers/rnn/rnn.py",
    ),
    "bilinear": Rule(
        "bilinear upsampling of before TensorFlow 1.15 had other pixel centres; constant matrices reproduce it",
        "TensorFlow 1.15: half_pixel_centers",
        altered="bilinear upsampling",
    ),
    "layer-name": Rule(
        "names that Keras 3 refuses were changed: those with slashes, and those that its own operations "
        "on masks take",
        "Keras 3.0, keras/src/ops/operation.py",
    ),
    "optimizer-arguments": Rule(
        "the optimizer's arguments were written by their names of today",
        "Keras 2.3.0 (learning_rate), Keras 3.0",
    ),
    "optimizer-decay": Rule("the optimizer's decay became the schedule InverseTimeDecay", "Keras 2.11: decay removed"),
    "optimizer-epsilon": Rule(
        "epsilon stands inside the root today, outside it before: it was squared, which is the same but for small "
        "gradients",
        "Keras 3.15, keras/src/optimizers/rmsprop.py and adagrad.py",
    ),
    "optimizer-state": Rule(
        "the optimizer's state was put into today's order",
        "Keras 2.11 and 3.0: slots weight by weight; Keras 3.0: learning_rate stored",
    ),
    "loss-or-metric-name": Rule(
        "losses and metrics were written by their names of today",
        "Keras 3.15, keras.losses and keras.metrics",
    ),
}  # fmt: skip
