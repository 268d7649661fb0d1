"""Names that Keras gives to layers, and their numbers."""

from __future__ import annotations

from unnest.core.architecture.automatic_names import (
    CountedOn,
    match_names_by_number,
    stem_and_number,
)


def test_a_name_and_its_number() -> None:
    assert [stem_and_number(n) for n in ("dense", "dense_12", "block1_conv1", "_3")] == [
        ("dense", 0), ("dense", 12), ("block1_conv1", 0), ("", 3),
    ]  # fmt: skip


def test_numbers_keep_their_order() -> None:
    """The tenth follows the ninth, whatever the text says."""
    assert match_names_by_number(["dense_10", "dense_9"], ["dense_1", "dense"]) == {
        "dense_9": "dense",
        "dense_10": "dense_1",
    }


def test_another_number_of_them_is_told_by_nothing() -> None:
    assert match_names_by_number(["dense", "dense_1", "lstm"], ["dense_4", "lstm_2"]) == {
        "lstm": "lstm_2"
    }


def test_names_that_another_number_began() -> None:
    """All of a stem by the same number; a name that is not its class's has to be equal."""
    names = CountedOn()
    assert names.takes("Dense", "dense_1", "dense")
    assert names.takes("Dense", "dense_3", "dense_2")
    assert names.takes("BatchNormalization", "batchnormalization_4", "batch_normalization")
    assert names.takes("Functional", "model_1", "functional_1")
    assert names.takes("Dense", "head", "head")
    assert not names.takes("Dense", "dense_3", "dense_3")
    assert not names.takes("Dense", "block_2", "block_1")
    assert not names.takes("Conv2D", "dense_3", "dense_2")
