"""Modules that are loaded at each step: start-up time is a feature, and the core opens nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests import makeh5


def loaded(code: str, *names: str, exit_code: int = 0) -> set[str]:
    """Return those of the modules that a fresh Python has after running this."""
    tell = f"lambda: print(*(n for n in {names!r} if n in sys.modules))"
    check = f"import atexit, sys\natexit.register({tell})\n{code}"  # the program does not come back from its `main`
    done = subprocess.run(
        [sys.executable, "-c", check], capture_output=True, text=True, check=False
    )
    assert done.returncode == exit_code, done.stderr
    return set(done.stdout.splitlines()[-1].split()) if done.stdout.strip() else set()


HEAVY = ("h5py", "numpy", "typer", "rich", "pydantic", "tensorflow", "keras", "google.protobuf")

#: Light each, but start-up is the sum; what a plain .h5 does without.
RARE = (
    "zipfile",
    "tempfile",
    "concurrent.futures",
    "typing_extensions",
    "google_crc32c",
    "zlib_ng",
    "jsonschema",
)


def of_typer() -> set[str]:
    """Return those of the modules that typer loads for any command, before it converts a value."""
    code = """
import typer, typer.main
app = typer.Typer()
@app.command()
def main(number: int = 1) -> None: ...
typer.main.get_command(app)
"""
    return loaded(code, *HEAVY, *RARE)


def test_the_package_is_instant() -> None:
    """Names are loaded on use."""
    assert (
        loaded("import unnest; dir(unnest)", *HEAVY, "unnest.inspection", "unnest.repair") == set()
    )


def test_the_core_opens_nothing() -> None:
    """It imports, and plans, with everything blocked that could open a file."""
    blocked = ("h5py", "zipfile", "shutil", "tempfile")
    code = f"""
for name in {blocked!r}:
    sys.modules[name] = None
from unnest.core.model import Stored
from unnest.core.make_plan import plan
import unnest.core.wrappers.layer_graph.recognise_layer_graph, unnest.core.rewrite.remove_one_wrapper
import unnest.core.weight_assignment.flat_list.divide_flat_list
assert plan(Stored("weights")).verdict == "clean"
"""
    assert loaded(code, "unnest.formats", "unnest.files.write_output_atomically") == set()


@pytest.mark.parametrize(("args", "library"), [(["inspect"], set()), (["fix", "-n"], {"h5py"})])
def test_a_run_loads_what_it_needs(bad: Path, args: list[str], library: set[str]) -> None:
    """Not the pretty printer, not the validator, nothing of Keras, nor what some containers need; a look not h5py.

    The validator is pydantic, by which typer converts values from 0.29 on.
    """
    code = f"""
sys.argv = ["unnest", *{args!r}, {str(bad)!r}]
from unnest.__main__ import main
main()
"""
    assert loaded(code, *HEAVY, *RARE, exit_code=1) == {"numpy"} | library | of_typer()


#: What other containers, other commands, parallel models and stores need, and a clean .h5 does not.
OTHERS = (
    *("unnest.formats.tensorflow", "unnest.formats.keras3.keras_zip"),
    *(
        "unnest.core.byte_code.machine",
        "unnest.core.wrappers.serving_graph.recognise_serving_graph",
        "unnest.core.ops.keras3_nodes.expression_values",
    ),
    *(
        "unnest.keras",
        "unnest.outputs.verify",
        "unnest.batch.workers",
        "unnest.batch.dask_workers",
    ),
    *(
        "unnest.remote.store",
        "unnest.remote.run_on_local_copy",
        "unnest.report.json_report",
        "unnest.report.page.render",
    ),
    *("unnest.report.diagram.svg", "unnest.report.diagram.html_page"),
)


def test_a_clean_file_needs_less(tmp_path: Path) -> None:
    """Each module takes a tenth of a millisecond and more, of every start."""
    code = f"""
sys.argv = ["unnest", "inspect", {str(makeh5.clean_file(tmp_path / "m.h5"))!r}]
from unnest.__main__ import main
main()
"""
    assert loaded(code, *OTHERS) == set()
    assert all(find_spec(name) for name in OTHERS)


def test_a_chain_of_layers_needs_neither_numpy_nor_operations_nor_byte_code() -> None:
    """Neither does a graph of Keras's own layers that joins nothing."""
    chain = Path(__file__).parents[1] / "fixtures/k224/official-cnn-adam/base.h5"
    code = f"""
sys.argv = ["unnest", "inspect", {str(chain)!r}]
from unnest.__main__ import main
main()
"""
    parts = ("numpy", "unnest.core.byte_code.read_code_objects", "unnest.core.ops.registry")
    assert loaded(code, *OTHERS, *parts) == set()
    assert all(find_spec(name) for name in parts)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="Linux lists the threads")
@pytest.mark.parametrize("args", [["inspect"], ["fix", "-n"]])
def test_numpy_starts_no_threads(bad: Path, args: list[str]) -> None:
    """Its linear algebra would have one a core."""
    code = f"""
import atexit, os, sys
atexit.register(lambda: print("threads", len(os.listdir("/proc/self/task"))))
sys.argv = ["unnest", *{args!r}, {str(bad)!r}]
from unnest.__main__ import main
main()
"""
    asked = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=asked
    )
    assert done.stdout.splitlines()[-1] == "threads 1"


def test_help_needs_no_hdf5() -> None:
    """Neither does the version."""
    for option in ("--help", "--version"):
        code = f"""
sys.argv = ["unnest", {option!r}]
from unnest.__main__ import main
main()
"""
        assert loaded(code, *HEAVY) <= of_typer()


def test_public_names() -> None:
    """All of them are there, and no others are promised."""
    import unnest

    for name in unnest.__all__:
        assert getattr(unnest, name) is not None
    assert dir(unnest) == sorted(unnest.__all__)
    with pytest.raises(AttributeError, match="nonsense"):
        unnest.nonsense  # noqa: B018
