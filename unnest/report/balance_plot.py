"""Plot of what `unnest balance` measured: throughput against batch size, a curve for each device."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO

from unnest.report.balance_text import Measured


def plot(result: Measured, kind: str) -> bytes | None:
    """Plot throughput against batch size, a curve a device, as `png` or `svg`; None without any measurement.

    Raises ImportError where Matplotlib is not installed.
    """
    from matplotlib.figure import Figure

    if not any(speed["seconds"] for speed in result["alone"]):
        return None
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.add_subplot()
    for device in result["devices"]:
        points = [s for s in result["alone"] if s["device"] == device and s["seconds"]]
        rows = [s["rows"] for s in points]
        low, high = ([s["rows"] / s[key] for s in points] for key in ("high", "low"))
        (line,) = axes.plot(
            rows, [s["rows"] / s["seconds"] for s in points], marker="o", label=device
        )
        axes.fill_between(rows, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
    axes.fill_between([], [], color="grey", alpha=0.2, label="between the quartiles")
    ends = [
        (sum(trial["rows"]) / trial["seconds"], label)
        for label, trial in _ends(result["equal"], result["best"])
    ]
    for height, label in ends:
        axes.axhline(height, linestyle="--", linewidth=1, color="grey")
        axes.text(
            0.98,
            height,
            label,
            transform=axes.get_yaxis_transform(),
            fontsize=8,
            ha="right",
            # Of two lines that lie close together each has room for its own.
            va="bottom" if height == max(ends)[0] else "top",
        )
    axes.set(xlabel="rows a batch", ylabel="samples a second")
    axes.set_ylim(0, 1.05 * axes.get_ylim()[1])
    axes.legend(frameon=False)
    drawn = BytesIO()
    figure.savefig(drawn, format=kind)
    return drawn.getvalue()


def _ends(equal: Measured | None, best: Measured | None) -> Iterator[tuple[str, Measured]]:
    if equal:
        yield "together, equal shares", equal
    if best and best != equal:
        yield f"together, {' + '.join(str(n) for n in best['rows'])} rows", best
