"""Near misses of look-alikes: one sentence each, of layer graphs and of bare operations."""

from __future__ import annotations

import pytest

import unnest
from tests.corpus.unpacked import TREE

CASES = "tests/corpus/cases"
NOT_ITS_ROWS = "does not give back the rows of"


@pytest.mark.parametrize(
    ("file", "layer", "reason"),
    [
        ("fixtures/k224/lookalike-mixed_halves/lookalike.h5", "concatenate_1",
         "first_half and second_half are different layers"),
        (f"{CASES}/h5/316-gan-real-fake/lookalike.h5", "concatenate_1",
         "the towers read different tensors: real, generator"),
        (f"{CASES}/h5/469-norm-per-domain/lookalike.h5", "concatenate_1",
         "bn_source and bn_target are different layers"),
        (f"{CASES}/h5/722-not-siamese-h5-k3-inline/lookalike.h5", "scores",
         "no layer is known to join the outputs of the 2 calls of scores along the batch"),
        (f"{CASES}/h5/348-towers-not-merged/lookalike.h5", "net",
         "no layer is known to join the outputs of the 2 calls of net along the batch"),
        (f"{CASES}/keras/311-swapped-halves/lookalike.keras", "tf.concat",
         "tf.concat gives all rows of x, in another order"),
        (f"{CASES}/keras/314-training-differs-per-part/lookalike.keras", "concatenate",
         "the calls of student differ in their arguments"),
        (f"{CASES}/saved_model/304-tta-batch-concat/lookalike", "views",
         "the towers read different tensors: pic, mirror"),
        (f"{CASES}/saved_model/310-two-models-two-halves/lookalike", "answers",
         "answers joins the outputs of different models: net_a, net_b"),
        (f"{CASES}/saved_model/311-overlapping-slices/lookalike", "model/tf.concat/concat",
         f"model/tf.concat/concat {NOT_ITS_ROWS} serving_default_rows, each once and in order"),
        (f"{CASES}/saved_model/312-halves-swapped/lookalike", "swapped/concat",
         "swapped/concat gives all rows of rows, in another order"),
        (f"{CASES}/saved_model/667-not-one-tower-read-bare-k231-function/lookalike", "concat",
         "classes/BiasAdd, a part of a tower, is read by other layers too"),
        (f"{CASES}/saved_model/679-not-other-weights-bare-tf215-function/lookalike", "concat",
         "the towers read different tensors: scores/bias, other_scores/bias"),
    ],
)  # fmt: skip
def test_the_reason_of_a_look_alike(file: str, layer: str, reason: str) -> None:
    """The layer or operation that joins, and what is wrong with what it joins."""
    seen = unnest.inspect(TREE / file)
    assert (seen.verdict, [*map(tuple, seen.near_misses)]) == ("clean", [(layer, reason)])


@pytest.mark.parametrize(
    "file",
    [
        f"{CASES}/h5/100-split-h5-tf23-inline/base.h5",
        f"{CASES}/h5/215-k33-nested-registered-objects/lookalike.h5",
        "fixtures/saved_model/tf23/plain-lookalike-cnn/lookalike",
    ],
)
def test_a_plain_model_has_none(file: str) -> None:
    """Nothing in it looks like towers."""
    seen = unnest.inspect(TREE / file)
    assert (seen.verdict, seen.near_misses) == ("clean", ())
