"""Answers about stored code are told apart without the tables of nine Pythons."""

from __future__ import annotations

import subprocess
import sys


def test_answers_do_not_load_the_byte_code_machine() -> None:
    code = (
        "import sys; from unnest.core.wrappers.code_rows import CodeRows, RowsMade;"
        "print([name for name in sys.modules if name.startswith('unnest.core.byte_code')])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
