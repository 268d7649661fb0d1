"""What a run of our command costs: seconds of processor, and the most memory it held."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

#: The kernel's own note of the peak; what it tells a parent includes the parent's own past.
STATUS = Path("/proc/self/status")

RUN = """
import atexit, re, resource, sys
def tell():
    used = resource.getrusage(resource.RUSAGE_SELF)
    peak = re.search(r"VmHWM:\\s*(\\d+) kB", open("/proc/self/status").read())[1]
    print(f"\\ncost {used.ru_utime + used.ru_stime} {peak}", file=sys.stderr)
atexit.register(tell)
from unnest.__main__ import main
main()
"""


def run(*args: str, cwd: Path) -> tuple[subprocess.CompletedProcess[str], float, float]:
    """The finished run, its seconds, its megabytes."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, *args], cwd=cwd, capture_output=True, text=True, check=False, timeout=600
    )
    seconds, kilobytes = re.findall(r"\ncost (\S+) (\d+)\n", done.stderr)[0]
    done.stderr = re.sub(r"\ncost .*\n", "", done.stderr)
    return done, float(seconds), int(kilobytes) / 1024
