"""Cost of a run of our command: seconds of processor, and the most memory it held."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path

#: The kernel's own note of the peak; the value for a parent includes the parent's own past.
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


#: No run of an attack goes on for longer, or takes more, whatever it asks for.
LIMITS = """
import resource
resource.setrlimit(resource.RLIMIT_CPU, (30, 30))
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
"""


def run(
    *args: str, cwd: Path, limited: bool = False
) -> tuple[subprocess.CompletedProcess[str], float, float]:
    """The finished run, its seconds, its megabytes; `limited` keeps the machine from what it may ask for."""
    done = subprocess.run(
        [sys.executable, "-c", LIMITS + RUN if limited else RUN, *args],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    seconds, kilobytes = re.findall(r"\ncost (\S+) (\d+)\n", done.stderr)[0]
    done.stderr = re.sub(r"\ncost .*\n", "", done.stderr)
    return done, float(seconds), int(kilobytes) / 1024


#: Seconds of the processor that `_reference_work` took at best on the machine of the limits (2 cores, Python 3.11.7).
REFERENCE_SECONDS = 1.25


def is_within(seconds: float, limit: float) -> bool:
    """Return whether a run took less than a limit of the processor, which counts for more on a slower machine."""
    return seconds < limit or seconds < limit * _slowness()


def _slowness() -> float:
    """Return how many times as long as on the machine of the limits Python takes here for a fixed work."""
    began = time.process_time()
    _reference_work()
    return (time.process_time() - began) / REFERENCE_SECONDS


def _reference_work() -> None:
    """Read and walk a large architecture, which no cache of the processor holds, as the commands do."""
    layers = [
        {"name": f"d{i}", "config": {"units": i, "inbound": [[f"d{i}", 0, {}]]}}
        for i in range(60_000)
    ]
    text = json.dumps(layers)
    kept = []
    for _ in range(3):
        kept.append(json.loads(text))
        pending: list[object] = [*kept[-1]]
        while pending:
            part = pending.pop()
            if isinstance(part, dict):
                pending.extend(part.values())
            elif isinstance(part, list):
                pending.extend(part)
