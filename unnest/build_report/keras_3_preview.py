"""The answer of a report to "what would --keras 3 do?", found by making the conversion without writing it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from unnest.core.architecture import is_model, read
from unnest.core.model import JsonObject, Stored
from unnest.core.plan import Plan
from unnest.errors import Refused
from unnest.findings import listed
from unnest.formats.container_interface import Source
from unnest.formats.translate_errors import raise_callers_own
from unnest.report.result import AsKeras3, Report
from unnest.report.where_it_loads import UNPROMISED

if TYPE_CHECKING:
    from unnest.core.keras3.conversion_context import Conversion


def as_keras_3(
    source: Source, plan: Plan, report: Report, stored: Stored | None
) -> AsKeras3 | None:
    """Return what --keras 3 would do with a file that Keras 3 does not load; None for one that it loads.

    `stored`: the model in the file that is reported, if it is the one that the plan makes.

    None also where that is not known, as where the file's budget does not last for a second plan, and of models of more
    than TRIED_LAYERS layers, where finding out would take about as long as what was asked for.
    """
    if "Keras 3" not in report.does_not_load_in:
        return None
    from unnest.formats.change_container.convert_to_keras3 import (
        keras_3_target_format,  # a third of all modules
    )

    as_it_is = AsKeras3()
    try:
        if plan.refusal is not None:
            return AsKeras3(plan.refusal.message)
        if _is_large(source.stored.architecture):
            return None
        target = keras_3_target_format(source, plan, None)
        if (
            report.does_not_load_in["Keras 3"] == UNPROMISED
            and source.container in ("h5", "keras")
            and stored is not None
        ):
            as_it_is = _unconverted(stored, target.conversions)
    except Refused as e:
        if e.code != "needs-architecture":  # which is asked for by the command
            return AsKeras3(e.message.removeprefix(f"{source.path}: "))
    except Exception as e:  # noqa: BLE001 - optional: the requested work is done, and its result stands
        raise_callers_own(e)
        return None
    return as_it_is


def _unconverted(model: Stored, conversions: Sequence[Conversion]) -> AsKeras3:
    """Return what Keras 3 computes with the model as Keras 2 wrote it; `conversions` are what would be changed."""
    from unnest.core.keras3.predictions_if_not_converted import (  # a part of what writes Keras 3's
        altered_predictions,
        is_opened_unconverted,
    )

    if not is_opened_unconverted(model, conversions):
        return AsKeras3()
    names = tuple(
        f"{what} ({listed(layers)})" for what, layers in altered_predictions(conversions).items()
    )
    return AsKeras3(opens=True, altered=names, compile_false=model.training is not None)


#: Layers of the outermost model; the largest of Keras's own applications has about 1,000 (NASNetLarge).
TRIED_LAYERS = 3_000


def _is_large(architecture: JsonObject | None) -> bool:
    return (
        architecture is not None
        and is_model(architecture)
        and len(read(architecture).layers) > TRIED_LAYERS
    )
