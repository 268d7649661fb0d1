"""The content of a model, and the names in its code, in a verbose report."""

from __future__ import annotations

from dataclasses import replace

from tests.unit.report.test_text_report import CLEAN
from unnest.core.keras_facts.custom_objects_needed_to_load import Needs
from unnest.report import text_report
from unnest.report.model_contents_text import safety
from unnest.report.result import Inside

VERBOSE = text_report.Look(verbose=True)


def test_a_clean_model_in_numbers() -> None:
    inside = Inside(17, 12_466, ("image (None, 32, 32, 3)",), ("probs (None, 10)",))
    shown = text_report.render(replace(CLEAN, inside=inside), VERBOSE).splitlines()
    assert (
        "  model: 17 layers, 12,466 parameters; input image (None, 32, 32, 3); output probs (None, 10)"
        in shown
    )
    assert "  no stored code, and no custom code is needed to load it" in shown


def test_a_graph_alone_has_no_numbers() -> None:
    report = replace(CLEAN, container="saved_model", inside=Inside(0, 0))
    assert "model:" not in text_report.render(report, VERBOSE)


def test_weights_of_layers_that_the_file_does_not_name() -> None:
    """The weights of a `.weights.h5` or a checkpoint are one group: they are not one layer."""
    report = replace(CLEAN, container="weights_h5", inside=Inside(0, 407_050))
    shown = text_report.render(report, VERBOSE).splitlines()
    assert "  model: 407,050 parameters" in shown


def test_names_in_code() -> None:
    """Layers with the same names share a line; code that cannot be read is not called free of names."""
    code = (("a", ("os", "system")), ("b", ("os", "system")), ("c", ()), ("d", None))
    assert [*safety(replace(CLEAN, inside=Inside(4, 0, code=code)))] == [
        "the code of 'a', 'b' uses the names os, system",
        "the code of 'c' uses no names",
        "the code of 'd' cannot be read",
    ]


def test_a_file_is_called_free_of_code_only_if_nothing_is_needed_to_load_it() -> None:
    inside = Inside(4, 0)
    for needs in (
        Needs(classes=("Scale",)),
        Needs(functions=("f",)),
        Needs(stored_code=True),
        Needs(files=("v.txt",)),
    ):
        assert [*safety(replace(CLEAN, inside=inside, needs=needs))] == []
    for contents, container in (("weights", "h5"), ("model", "saved_model")):
        assert [
            *safety(replace(CLEAN, inside=inside, contents=contents, container=container))
        ] == []
