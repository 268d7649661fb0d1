"""NumPy's linear algebra, of which no command but `balance` uses anything."""

from __future__ import annotations

import os


def start_no_threads() -> None:
    """Keep OpenBLAS from starting a thread a core when NumPy is loaded, which takes a tenth of a short run.

    To be called before NumPy is loaded. Whoever has set the variable knows why.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
