"""Names that Keras gives to layers, and their numbers."""

from __future__ import annotations

from unnest.core.architecture.automatic_names import match_names_by_number, stem_and_number


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
