"""Small files that ask for seconds without end, or for gigabytes, through the command line: within their means."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests import cost
from tests.attacks.costly import COMMANDS, COSTLY, LARGEST

#: What a bad small file may cost, as the design has it; more seconds where the machine is slower.
SECONDS, MEGABYTES = 5, 300


@pytest.mark.skipif(not cost.STATUS.exists(), reason="the system does not tell what a process cost")
@pytest.mark.parametrize("name", COSTLY)
def test_cost(name: str, tmp_path: Path) -> None:
    """Every command ends in time, with a right answer or in one line with the code that was foreseen."""
    make, codes = COSTLY[name]
    path = make(tmp_path)
    given = sorted(p for p in tmp_path.rglob("*") if p.is_file())
    assert sum(p.stat().st_size for p in given) < LARGEST
    for command in COMMANDS.get(name, (["inspect"], ["fix"])):
        done, seconds, megabytes = cost.run(
            *command, path.name, "--json", cwd=tmp_path, limited=True
        )
        assert cost.is_within(seconds, SECONDS)
        assert megabytes < MEGABYTES
        report = json.loads(done.stdout)["files"][0]
        code = report["error"] and report["error"]["code"]
        assert code in codes, report["error"]
        assert done.returncode == 2 if code else done.returncode in (0, 1)
        if code:
            assert sorted(p for p in tmp_path.rglob("*") if p.is_file()) == given
        assert "\n" not in (report["error"] or {}).get("message", "")
