"""Exit codes of the process."""

from __future__ import annotations

from unnest.signals import INTERRUPTED

DONE, FOUND, TROUBLE = 0, 1, 2
EXITS = {
    DONE: "inspect: every file is clean. fix: every file is clean now",
    FOUND: "inspect: at least one parallel model. fix --dry-run: something would change",
    TROUBLE: "a file could not be read or fixed, or the command line is wrong",
    INTERRUPTED: "interrupted (other signals: 128 and their number); nothing half-written is left",
}
