"""The result of `unnest.keras.balance`: speeds and splits that were measured, and the ratios that follow from them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from unnest.keras import device_names
from unnest.keras.ratio_search import (
    EQUAL,
    Measurement,
    Trial,
    first_shares,
    presentable,
    settled,
)


@dataclass(frozen=True, slots=True)
class Speed:
    """The speed of one device alone with `rows` rows."""

    device: str
    """Its name, as in `GPU:0`."""
    rows: int
    """Rows of the batch."""
    seconds: float | None
    """Seconds a step, the median over the turns; None if that many rows did not fit into its memory."""
    low: float | None = None
    """The lower quartile, in seconds."""
    high: float | None = None
    """The upper quartile, in seconds."""

    @property
    def samples_per_second(self) -> float | None:
        """Throughput at the median, in samples a second."""
        return None if self.seconds is None else self.rows / self.seconds


@dataclass
class Balance:
    """Measurements, and the split that follows from them. All fields grow while `balance` measures."""

    devices: tuple[str, ...]
    """Names, as in `GPU:0`."""
    batch_size: int
    """Rows of the whole batch."""
    alone: list[Speed] = field(default_factory=list)
    """Every device at every size tried."""
    equal: Trial | None = None
    """The split in equal shares."""
    trials: list[Trial] = field(default_factory=list)
    """The splits tried after it, in order."""
    too_large: list[tuple[int, ...]] = field(default_factory=list)
    """The splits, in rows, that did not fit into the devices' memory."""
    finished: bool = False
    """True once the measuring has come to its end."""

    @property
    def best_single(self) -> Speed | None:
        """The device and size with the highest throughput alone."""
        measured = [speed for speed in self.alone if speed.seconds is not None]
        return max(measured, key=lambda speed: speed.samples_per_second or 0, default=None)

    @property
    def split(self) -> tuple[int, ...] | None:
        """The rows of each device to train with; None where equal shares are as good, or nothing else was measured.

        Where memory was short, it is a split that was measured: another one might not fit.
        """
        if not self.trials:
            return None
        if not self.too_large:
            return settled(self.trials)
        fastest = min(self.trials, key=lambda trial: trial.seconds)
        return fastest.rows if self.equal is None or fastest.gain > EQUAL else None

    @property
    def best(self) -> Trial | None:
        """The trial nearest to the split to train with; equal shares if these are as good."""
        split = self.split
        if split is None:
            return self.equal
        return min(
            self.trials, key=lambda t: max(abs(a - b) for a, b in zip(t.rows, split, strict=True))
        )

    @property
    def ratios(self) -> tuple[int, ...] | None:
        """The ratios to pass on; None where equal shares are as good, or nothing was measured together."""
        split = self.split
        return presentable(split) if split else None

    @property
    def pays(self) -> bool | None:
        """True if towers are faster than the best single device; None if that was not measured."""
        if self.best is None or self.best.over_single is None:
            return None
        return self.best.over_single > 0

    @property
    def fitting_batch(self) -> int | None:
        """The largest batch, in rows, that fits in shares by speed, if no split of the batch did.

        None if one did, or if a device held none of the sizes tried.
        """
        curves = self.curves()
        if not self.too_large or self.equal or self.trials or not all(curves):
            return None
        shares = first_shares(curves, self.batch_size)
        return int(
            min(curve[-1][0] / share for curve, share in zip(curves, shares, strict=True))
            * self.batch_size
        )

    def curves(self) -> list[list[Measurement]]:
        """Return for each device alone (rows, seconds a step), ascending, of the sizes that fitted into its memory."""
        return [
            [
                (float(s.rows), s.seconds)
                for s in self.alone
                if s.device == device and s.seconds is not None
            ]
            for device in self.devices
        ]

    def holds(self) -> list[float]:
        """Return the rows that each device holds, as far as was seen: at most the batch."""
        full = {speed.device for speed in self.alone if speed.seconds is None}
        return [
            curve[-1][0] if device in full and curve else float(self.batch_size)
            for device, curve in zip(self.devices, self.curves(), strict=True)
        ]

    def to_json(self) -> dict[str, Any]:
        """Return the measurements, and what follows from them, as JSON types."""
        return {
            **asdict(self),
            "ratios": list(self.ratios) if self.ratios else None,
            "best": asdict(self.best) if self.best else None,
            "split": list(self.split) if self.split else None,
            "pays": self.pays,
            "fitting_batch": self.fitting_batch,
            "line": self.line,
        }

    @property
    def line(self) -> str | None:
        """The line of Python to paste; None where towers do not pay, or nothing was measured together."""
        if self.best is None or not self.pays:
            return None
        kinds = {name.partition(":")[0] for name in self.devices}
        are_numbered = kinds == {device_names.kind_of_numbers()}
        gpus: list[Any] = (
            [int(d.partition(":")[2]) for d in self.devices] if are_numbered else list(self.devices)
        )
        ratios = f", ratios={list(self.ratios)}" if self.ratios else ""
        return f"multi_gpu_model(model, gpus={gpus}{ratios})"
