"""The output of `unnest balance`."""

from __future__ import annotations

from typing import Any

from unnest.report.balance_text import render, render_table

MOVED: dict[str, Any] = {
    "rows": [614, 410],
    "seconds": 0.4,
    "low": 0.4,
    "high": 0.4,
    "tower_seconds": [0.4, 0.39],
    "gain": 0.2,
}
MEASURED: dict[str, Any] = {
    "devices": ["GPU:0", "GPU:1"],
    "alone": [
        {"device": "GPU:0", "rows": 512, "seconds": 0.4, "low": 0.396, "high": 0.404},
        {"device": "GPU:1", "rows": 512, "seconds": None, "low": None, "high": None},
    ],
    "equal": {
        "rows": [512, 512],
        "seconds": 0.5,
        "low": 0.5,
        "high": 0.5,
        "tower_seconds": [0.3, 0.5],
        "gain": 0,
    },
    "trials": [MOVED],
    "best": MOVED,
    "too_large": [],
    "fitting_batch": None,
    "finished": True,
    "pays": True,
    "ratios": [3, 2],
    "line": "multi_gpu_model(model, gpus=[0, 1], ratios=[3, 2])",
}


def test_the_table_and_the_line_to_paste() -> None:
    assert render(MEASURED).splitlines() == [
        "    rows               GPU:0               GPU:1   samples a second, alone",
        "     512           1280 +-1%       out of memory",
        "   equal  512 + 512: 2048 +-0% samples a second, towers 300.0, 500.0 ms",
        "   moved  614 + 410: 2560 +-0% samples a second, towers 400.0, 390.0 ms",
        "",
        "multi_gpu_model(model, gpus=[0, 1], ratios=[3, 2])",
    ]


def test_a_table_that_still_grows_has_no_conclusion() -> None:
    growing = {
        **MEASURED,
        "finished": False,
        "pays": None,
        "equal": None,
        "trials": [],
        "best": None,
    }
    assert render_table(growing).splitlines()[-1].startswith("     512 ")


def test_figures_that_vary_are_called_unreliable() -> None:
    busy = {**MEASURED["best"], "high": 0.56, "low": 0.24}
    assert "vary by +-40%: the machine was busy" in render({**MEASURED, "best": busy})
    assert "vary" not in render(MEASURED)


def test_nothing_is_said_of_speeds_that_were_not_compared() -> None:
    """Equal shares fitted, the only other split did not."""
    shown = render({**MEASURED, "ratios": None, "trials": [], "too_large": [[900, 124]]})
    assert shown.splitlines()[-2:] == [
        "900 + 124 rows did not fit into the devices' memory.",
        MEASURED["line"],
    ]


def test_endings() -> None:
    assert "no ratios are needed" in render({**MEASURED, "ratios": None})
    slow = render({**MEASURED, "pays": False, "line": None})
    assert slow.endswith("Towers do not pay here: GPU:0 alone is faster, at 512 rows a batch.")
    cut = render({**MEASURED, "finished": False, "pays": None, "equal": None, "trials": []})
    assert cut.splitlines()[-2:] == [
        "Interrupted: this is what was measured until then.",
        "Nothing was measured together, so nothing is proposed.",
    ]
    full = render(
        {
            **MEASURED,
            "pays": None,
            "equal": None,
            "trials": [],
            "too_large": [[1024, 710]],
            "fitting_batch": 1386,
        }
    )
    assert full.splitlines()[-3:] == [
        "1024 + 710 rows did not fit into the devices' memory.",
        "In shares of their speeds the devices hold 1386 rows: try --batch-size with that.",
        "Nothing was measured together, so nothing is proposed.",
    ]
