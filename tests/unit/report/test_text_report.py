"""The report of one model as text."""

from __future__ import annotations

from dataclasses import replace

import pytest

from unnest.core.recognition_results import Wrapper
from unnest.findings import Code
from unnest.report import text_report
from unnest.report.result import AsKeras3, Problem, Report, Result, Writer
from unnest.report.where_it_loads import UNPROMISED

TORN = Report(
    path="a\x1b[2J.h5",
    verdict="unreadable",
    error=Problem("truncated", "a\x1b[2J.h5: is cut short; copy it"),
)
CLEAN = Report(
    path="b.h5", verdict="clean", container="h5", contents="model", loads_in=("tf_keras (Keras 2)",)
)
PARALLEL = Report(
    path="<script>alert(1)</script>.h5",
    verdict="parallel",
    container="h5",
    contents="model",
    writer=Writer("2.2.4", "tensorflow"),
    wrappers=(
        Wrapper("m", "inner", 4, "whole", ("c",), 0, "proven", ("<b>names</b> \x07",)),
        Wrapper("inner", "net", 2, "whole", ("c",), 1, "proven", ()),
    ),
    loads_in=("Keras 2.2.4, which wrote it",),
    findings=(Code.NEEDS_ARCHITECTURE(), Code.WEIGHTLESS_LEFT_OUT()),
    fix_would="unnest fix will refuse this: no",
)


def test_on_a_terminal() -> None:
    """Lines are broken between words, and continued further in; what is to be pasted is not broken."""
    look = text_report.Look(width=60, wraps=True)
    report = replace(
        PARALLEL,
        path="my models/b.h5",
        does_not_load_in={"Keras 3": "a bare list of layers"},
        as_keras_3=AsKeras3(),
    )
    lines = text_report.render(report, look).splitlines()
    assert all(len(line) <= 60 for line in lines)
    assert lines[-1] == "    unnest fix 'my models/b.h5' --keras 3"
    load = "import tf_keras; model = tf_keras.models.load_model('b.h5')"
    output = "a folder with a long name/and one within/model.unnested.keras"
    fixed = Result(path="b.h5", verdict="clean", action="converted", output=output, load=load)
    assert text_report.render(fixed, look).splitlines() == [
        f"converted: {output}",
        "  from b.h5",
        f"  {load}",
    ]
    painted = text_report.render(fixed, look._replace(color=True)).splitlines()
    assert painted[0] == f"\x1b[32mconverted\x1b[0m: {output}"


def test_the_result_first() -> None:
    """At most six lines, the verdict first; the reasons are behind -v, which says all of it."""
    report = replace(
        PARALLEL, path="b.h5", fix_would="unnest fix writes b.unnested.h5",
        does_not_load_in={"Keras 3": "old"}, as_keras_3=AsKeras3(),
    )  # fmt: skip
    assert text_report.render(report).splitlines() == [
        "b.h5: parallel (model in h5, Keras 2.2.4)",
        '  multi-GPU wrapper: your model "net", in wrappers of 4 and 2 towers (proven)',
        "  attention: weights alone do not show whether this is a parallel model [needs-architecture] (-v says more)",
        "  loads in: Keras 2.2.4, which wrote it",
        "  next: unnest fix b.h5  # writes b.unnested.h5",
        "  Keras 3: no: old; next: unnest fix b.h5 --keras 3",
    ]
    told = text_report.render(report, text_report.Look(verbose=True))
    for fact in (
        "m wraps inner in 4 towers (proven)",
        "because <b>names</b>",
        "info: layers without weights",
    ):
        assert fact in told


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ((2,), "2 towers"), ((None,), "towers (number not stored)"), ((2, 2), "2 wrappers of 2 towers"),
        ((3, 2), "wrappers of 3 and 2 towers"),
    ],
)  # fmt: skip
def test_towers_of_nested_wrappers(numbers: tuple[int | None, ...], words: str) -> None:
    assert (
        text_report.towers([PARALLEL.wrappers[0]._replace(towers=number) for number in numbers])
        == words
    )


@pytest.mark.parametrize(
    ("why", "answer"),
    [
        ("a bare list of layers", "no: a bare list of layers"),
        (
            UNPROMISED,
            "not safely. Keras 3 can open some Keras 2 files, but may compute something else",
        ),
    ],
)
def test_keras_3(why: str, answer: str) -> None:
    """A file that it refuses differs from one that it may compute wrongly; what to run is the same."""
    report = replace(PARALLEL, path="b.h5", does_not_load_in={"Keras 3": why})
    line = text_report.render(report).splitlines()[-1].strip()
    assert line == f"Keras 3: {answer}; next: unnest fix b.h5 --keras 3"
    weights = text_report.render(replace(report, contents="weights"))
    assert weights.endswith("next: unnest fix b.h5 --architecture MODEL.json --keras 3")


@pytest.mark.parametrize(
    ("asked", "line"),
    [
        (AsKeras3(opens=True), "yes"),
        (AsKeras3(opens=True, compile_false=True), "yes, with compile=False"),
        (
            AsKeras3(opens=True, altered=("hard_sigmoid (lstm_1)",)),
            "yes, but wrong: hard_sigmoid (lstm_1); next: unnest fix b.h5 --keras 3",
        ),
        (AsKeras3(), f"not safely. {UNPROMISED}; next: unnest fix b.h5 --keras 3"),
    ],
)
def test_keras_3_opens_the_file_as_it_is(asked: AsKeras3, line: str) -> None:
    """Yes, yes but wrong, or no promise."""
    report = replace(
        PARALLEL, path="b.h5", does_not_load_in={"Keras 3": UNPROMISED}, as_keras_3=asked
    )
    assert text_report.render(report).splitlines()[-1].strip() == f"Keras 3: {line}"


@pytest.mark.parametrize(
    ("as_keras_3", "options", "end"),
    [
        (AsKeras3(), (), "next: unnest fix 'a b.h5' --keras 3"),
        (AsKeras3(), ("--trust",), "next: unnest fix 'a b.h5' --trust --keras 3"),
        (AsKeras3("'s' (SReLU): gone"), (), "--keras 3 refuses it: 's' (SReLU): gone"),
    ],
    ids=["command", "options", "refused"],
)
def test_the_command_for_keras_3(as_keras_3: AsKeras3, options: tuple[str, ...], end: str) -> None:
    """Shown where it works; where it would refuse the file, why."""
    report = Report(
        path="a b.h5",
        verdict="clean",
        does_not_load_in={"Keras 3": "old"},
        as_keras_3=as_keras_3,
        options=options,
    )
    assert text_report.render(report).splitlines()[-1].strip() == f"Keras 3: no: old; {end}"
