"""`--stub`: a module that names what the output needs, and loads it once it is complete."""

from __future__ import annotations

import ast
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import unnest
from tests import makeh5
from tests.conftest import Cli
from unnest.core.model import Stored
from unnest.report.custom_code_stub import render


def model(*entries: dict[str, Any]) -> Stored:
    """A Sequential model of Keras 3 with these layers."""
    layers: dict[str, Any] = {"name": "m", "layers": list(entries)}
    return Stored(
        "model",
        {"module": "keras", "class_name": "Sequential", "config": layers},
        keras_version="3.0.0",
    )


def entry(
    class_name: str, module: str | None, registered: str | None = None, **config: object
) -> dict[str, Any]:
    """A layer as Keras 3 stores it."""
    return {
        "module": module,
        "class_name": class_name,
        "config": config,
        "registered_name": registered,
    }


def test_signatures() -> None:
    """Arguments are those that are stored; a registered class is registered again."""
    code = render(
        model(
            entry("Lambda", "keras.layers", name="scale", function="scale_function", arguments={"by": 2.5}),
            entry("Mix", None, "mine>Mix", name="mix", trainable=True, units=3, ends=[1, None]),
        ),
        (), "out.keras",
    )  # fmt: skip
    tree = ast.parse(code)
    functions = {n.name: n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
    assert [a.arg for a in functions["scale_function"].args.args] == ["x", "by"]
    assert [a.arg for a in functions["__init__"].args.args] == ["self", "units", "ends"]
    assert "register_keras_serializable(package='mine', name='Mix')" in code
    assert "CUSTOM_OBJECTS = {'scale_function': scale_function, 'mine>Mix': Mix}" in code
    assert "load_model(path, custom_objects=CUSTOM_OBJECTS)" in code


@pytest.mark.parametrize(
    "name", ['x"""\nimport os', "class", "a\u202eb", "import os; os", "\\", "'", "a>b>c"]
)
def test_names_out_of_a_file_are_data(name: str) -> None:
    """Whatever they are, the module is one import, its definitions and nothing that runs."""
    code = render(
        model(
            entry("Lambda", "keras.layers", name=name, function=name, arguments={name: name}),
            entry(name, None, f"p>{name}", name=name, size=name),
        ),
        (), f"{name.replace(chr(0), '')}.keras",
    )  # fmt: skip
    tree = ast.parse(code)
    allowed = (ast.Expr, ast.Import, ast.FunctionDef, ast.ClassDef, ast.Assign)
    assert all(isinstance(node, allowed) for node in tree.body)
    assert [a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names] == [
        "keras"
    ]
    assert not [n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]


def custom_file(path: Path) -> Path:
    """A model with a Lambda of a named function, as Keras 2 stores it."""
    dense = makeh5.layer("Dense", "d1", [["x", 0, 0]], units=2, use_bias=True)
    code = {
        "function": "twice",
        "function_type": "function",
        "module": "mine",
        "arguments": {"k": 2},
    }
    twice = makeh5.layer("Lambda", "twice", [["d1", 0, 0]], **code)
    architecture = makeh5.model(
        "m", [makeh5.source(), dense, twice], [["x", 0, 0]], [["twice", 0, 0]]
    )
    return makeh5.write(path, architecture, {"x": [], "d1": makeh5.dense(), "twice": []})


def test_the_command(cli: Cli, tmp_path: Path) -> None:
    """Written beside the output; the same again is no error, another file of that name is refused."""
    custom_file(tmp_path / "old.h5")
    assert cli("fix", "old.h5", "--stub", "mine.py").returncode == 2
    done = cli("fix", "old.h5", "--keras", "3", "--stub", "mine.py")
    assert done.returncode == 0, done.stderr
    code = (tmp_path / "mine.py").read_text()
    assert "def twice(x, k=2):" in code
    assert "old.unnested.keras" in code
    assert cli("fix", "old.h5", "--keras", "3", "--stub", "mine.py").returncode == 0
    (tmp_path / "mine.py").write_text("mine = 1\n")
    (tmp_path / "old.unnested.keras").unlink()
    done = cli("fix", "old.h5", "--keras", "3", "--stub", "mine.py")
    assert (done.returncode, "mine.py" in done.stderr) == (2, True)
    assert not (tmp_path / "old.unnested.keras").exists()
    assert (tmp_path / "mine.py").read_text() == "mine = 1\n"


@pytest.mark.skipif(
    find_spec("keras") is None or find_spec("tensorflow") is None, reason="needs Keras 3"
)
def test_once_complete_it_loads(tmp_path: Path) -> None:
    """The body written, `load()` gives the model."""
    output, stub = tmp_path / "new.keras", tmp_path / "mine.py"
    result = unnest.fix(custom_file(tmp_path / "old.h5"), output, keras="3", stub=stub)
    assert result.error is None
    code = stub.read_text().replace(
        'raise NotImplementedError("write what twice computes")', "return k * x"
    )
    names: dict[str, Any] = {}
    exec(compile(code, str(stub), "exec"), names)  # noqa: S102 - the module that is under test
    assert names["load"]().layers[-1].name == "twice"
