"""The data of a page: the JSON report, and beside it what only a page shows. The script reads nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from unnest import __version__
from unnest.core.model import Tensor
from unnest.report import json_report
from unnest.report.batch_row_facts import KINDS, STATES
from unnest.report.diagram import svg
from unnest.report.diagram.drawing import Drawing
from unnest.report.page.model_view import (
    Histogram,
    LayerFacts,
    LayerPath,
    ModelView,
    Side,
    Totals,
    dtype_name,
    shape_text,
)
from unnest.report.page.page_graphs import Pictures, shorten, shorten_all
from unnest.report.proposed_commands import (
    fix_command,
    keras_3_answer,
    keras_3_command,
    run_steps,
    whole_model_command,
)
from unnest.report.result import Report, Result, Tally, state_of

#: Boxes of all pictures of a page of many models, and letters of all settings of a page of one.
BOXES, SETTINGS_LETTERS = 30_000, 4_000_000


def document(reports: Sequence[Report], paths: Sequence[str] = ()) -> dict[str, Any]:
    """Return the data of the page: of one model with a view, or of rows.

    `paths`: what was given to an `inspect` of many, for the commands on all of them.
    """
    is_fix = any(isinstance(report, Result) for report in reports)
    empty: Report = Report(path="", verdict="clean")
    if is_fix:
        empty = Result(path="", verdict="clean", action="unchanged")
    defaults = json_report.entry(empty)
    view = reports[0].view if len(reports) == 1 else None
    pictures = Pictures()
    rows, model = _rows(reports, defaults, None if view is not None else pictures), None
    if view is not None:
        model = _model(view, pictures)
    report, tally = json_report.document([]), Tally.of(reports)
    options = reports[0].options if reports else ()
    steps = run_steps(tally, paths, options)
    return {
        "command": "fix" if is_fix else "inspect",
        "version": __version__,
        "schema_version": report["schema_version"],
        "summary": json_report.summary(tally),
        "states": STATES,
        "legend": dict(svg.LEGEND),
        "defaults": defaults,
        "rows": rows,
        "steps": [[what, shorten(command, 1_000)] for what, command in steps],
        "figures": pictures.figures,
        "model": model,
    }


def _rows(
    reports: Sequence[Report], defaults: Mapping[str, Any], pictures: Pictures | None
) -> list[dict[str, Any]]:
    """Return a row a model, trouble first: its entry of the JSON report without what equals the defaults."""
    drawn: dict[Drawing, list[int] | None] = {}
    left, rows = BOXES, []
    for report in sorted(reports, key=lambda report: [*KINDS].index(STATES[state_of(report)])):
        entry = {
            key: shorten_all(value)
            for key, value in json_report.entry(report).items()
            if value != defaults[key]
        }
        row: dict[str, Any] = {"entry": entry, "state": state_of(report), "steps": _steps(report)}
        if (answer := keras_3_answer(report)) is not None:
            row["keras_3"] = shorten(answer)
        drawing = report.drawing
        if drawing is not None and pictures is not None:
            if drawing not in drawn:
                figures = [*drawing.before, *([drawing.after] if drawing.after else [])]
                left -= sum(len(figure.nodes) for figure in figures)
                drawn[drawing] = [pictures.add(figure) for figure in figures] if left >= 0 else None
            row["figures"] = drawn[drawing]
        rows.append(row)
    return rows


def _steps(report: Report) -> list[list[str]]:
    """Return what to do next, each with the command to copy."""
    steps = [
        ("Take the wrapper out", fix_command(report)),
        ("Make a whole model of these weights", whole_model_command(report)),
        ("Write a file that Keras 3 loads", keras_3_command(report)),
    ]
    return [[what, shorten(command, 1_000)] for what, command in steps if command is not None]


def _model(view: ModelView, pictures: Pictures) -> dict[str, Any]:
    facts = _Facts(view.histograms)
    sides = [facts.side(side, pictures) for side in (view.before, view.after) if side is not None]
    return {
        "sides": sides,
        "facts": facts.layers,
        "weights": facts.weights,
        "refusal": view.refusal,
        "unread": view.unread,
        "settings_left_out": facts.settings_left_out,
    }


class _Facts:
    """Layers' facts and weights by number, each once."""

    def __init__(self, histograms: Mapping[str, Histogram]) -> None:
        self.layers: list[dict[str, Any]] = []
        self.weights: list[list[Any]] = []
        self.settings_left_out = 0
        self._histograms = histograms
        self._layer_numbers: dict[str, int] = {}
        self._weight_numbers: dict[Tensor, int] = {}
        self._letters = 0

    def side(self, side: Side, pictures: Pictures) -> dict[str, Any]:
        """Return a side: its totals, the number of its figure, and its layers with their places in figures."""
        numbers = {path: self._number_of(layer) for path, layer in side.layers.items()}
        pictures.places.clear()
        figure = None if side.figure is None else pictures.add(side.figure, numbers)
        layers = [
            [[shorten(name) for name in path], number, *_place(path, pictures)]
            for path, number in numbers.items()
        ]
        return {"totals": _totals(side.totals), "figure": figure, "layers": layers}

    def _number_of(self, layer: LayerFacts) -> int:
        """Return the number of a layer's facts in `layers`; equal facts share one."""
        settings = [[key, value] for key, value in layer.settings]
        self._letters += sum(len(key) + len(value) for key, value in settings)
        if self._letters > SETTINGS_LETTERS and settings:
            settings, self.settings_left_out = [], self.settings_left_out + 1
        facts = {
            "class": shorten(layer.class_name),
            "settings": settings,
            "output": None if layer.output is None else shape_text(layer.output),
            "weights": [self._weight(tensor) for tensor in layer.weights],
        }
        key = json.dumps(facts)
        if key not in self._layer_numbers:
            self._layer_numbers[key] = len(self.layers)
            self.layers.append(facts)
        return self._layer_numbers[key]

    def _weight(self, tensor: Tensor) -> int:
        """Return the number of a weight: name, shape, dtype, parameters, bytes, and its histogram."""
        tensor = tensor._replace(owner=(), trained=True)
        if tensor not in self._weight_numbers:
            self._weight_numbers[tensor] = len(self.weights)
            found = None if tensor.recipe is not None else self._histograms.get(tensor.ref)
            row = [
                shorten(tensor.name),
                shape_text(tensor.shape),
                dtype_name(tensor.dtype),
                tensor.size,
                tensor.nbytes,
            ]
            self.weights.append([*row, None if found is None else found._asdict()])
        return self._weight_numbers[tensor]


def _place(path: LayerPath, pictures: Pictures) -> Iterable[int]:
    return pictures.places.get(path, (-1, -1))


def _totals(totals: Totals) -> dict[str, Any]:
    return {
        **totals._asdict(),
        "inputs": [*map(shorten, totals.inputs)],
        "outputs": [*map(shorten, totals.outputs)],
    }
