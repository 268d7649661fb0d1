"""The text of `unnest balance`: the table of measurements, what follows from them, and the line of Python to paste.

It takes `Balance.to_json()`: `alone` (device, rows, seconds and its quartiles), `equal` and `trials` (rows and
seconds of each tower), `best` of these, `ratios`, `pays`, `line`, `too_large` and `fitting_batch`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

#: The result of `Balance.to_json()`, or a part of it.
Measured = Mapping[str, Any]

#: Half the distance between the quartiles, as a share of the median, from which on figures are called unreliable.
LARGE_SPREAD = 0.2


def render(result: Measured) -> str:
    """Return the table of all measurements, the conclusion, and the line to paste."""
    return "\n".join([render_table(result), "", *_conclusion(result)])


def render_table(result: Measured) -> str:
    """Return the table of what was measured so far."""
    return "\n".join([*_alone(result), *_together(result)])


def _alone(result: Measured) -> Iterator[str]:
    """Yield a heading, and a line for each batch size with the speed of every device."""
    devices = result["devices"]
    by_size: dict[int, dict[str, Measured]] = {}
    for speed in result["alone"]:
        by_size.setdefault(speed["rows"], {})[speed["device"]] = speed
    yield (
        f"{'rows':>8}"
        + "".join(f"{device:>20}" for device in devices)
        + "   samples a second, alone"
    )
    for rows, speeds in by_size.items():
        yield f"{rows:>8}" + "".join(f"{_speed(speeds.get(device)):>20}" for device in devices)


def _speed(speed: Measured | None) -> str:
    """Return the samples a second and their spread, as in `1345 +-1%`; "..." before they are measured."""
    if speed is None:
        return "..."
    if speed["seconds"] is None:
        return "out of memory"
    return f"{speed['rows'] / speed['seconds']:.0f} {_spread(speed)}"


def _spread(measured: Measured) -> str:
    return f"+-{_relative_spread(measured):.0%}"


def _relative_spread(measured: Measured) -> float:
    """Return half the distance between the quartiles, as a share of the median."""
    spread: float = (measured["high"] - measured["low"]) / 2 / measured["seconds"]
    return spread


def _together(result: Measured) -> Iterator[str]:
    """Yield a line for each split of the batch that was measured with all devices at work."""
    for label, trial in [
        ("equal", result["equal"]),
        *(("moved", trial) for trial in result["trials"]),
    ]:
        if trial is None:
            continue
        rows = sum(trial["rows"])
        split = " + ".join(str(n) for n in trial["rows"])
        ends = ", ".join(f"{1000 * s:.1f}" for s in trial["tower_seconds"])
        yield f"{label:>8}  {split}: {rows / trial['seconds']:.0f} {_spread(trial)} samples a second, towers {ends} ms"


def _conclusion(result: Measured) -> Iterator[str]:
    """Yield what follows from the measurements: sizes that did not fit, and the line to paste."""
    if not result["finished"]:
        yield "Interrupted: this is what was measured until then."
    for rows in result["too_large"]:
        yield f"{' + '.join(str(n) for n in rows)} rows did not fit into the devices' memory."
    if result["fitting_batch"] is not None:
        yield f"In shares of their speeds the devices hold {result['fitting_batch']} rows: try --batch-size with that."
    yield from _unreliable(result)
    if result["pays"] is None:
        if result["alone"] and not any(speed["seconds"] for speed in result["alone"]):
            yield "No size fitted into the memory of any device: try smaller ones, with --sizes."
        yield "Nothing was measured together, so nothing is proposed."
        return
    if not result["pays"]:
        best = max(
            (s for s in result["alone"] if s["seconds"]), key=lambda s: s["rows"] / s["seconds"]
        )
        yield f"Towers do not pay here: {best['device']} alone is faster, at {best['rows']} rows a batch."
        return
    if result["ratios"] is None and result["trials"]:
        yield "The devices are equally fast: no ratios are needed."
    yield result["line"]


def _unreliable(result: Measured) -> Iterator[str]:
    """Yield a warning if the splits that the proposal compares vary too much."""
    spread = max(
        (_relative_spread(trial) for trial in (result["equal"], result["best"]) if trial), default=0
    )
    if spread > LARGE_SPREAD:
        yield f"The figures vary by +-{spread:.0%}: the machine was busy. Close other programs and measure again."
