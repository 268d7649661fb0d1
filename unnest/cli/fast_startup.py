"""A short start of the program: libraries kept from work at import."""

from __future__ import annotations

import os
import platform


def keep_libraries_light() -> None:
    """Keep OpenBLAS from starting a thread a core, and h5py from running the program `uname` of the PATH.

    Each takes about a tenth of a short run. To be called before NumPy is loaded, where `balance`, which needs the
    threads, is not run. An OPENBLAS_NUM_THREADS of the user stays.
    h5py asks for the processor's name, for which Python runs `uname -p` where nothing is noted (source: CPython 3.10 to
    3.13, platform.py); the machine's name is the same but for a few old systems.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    vars(platform.uname()).setdefault("processor", platform.machine())
