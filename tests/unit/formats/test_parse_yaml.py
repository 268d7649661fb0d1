"""`to_yaml()` of Keras 1 and 2: read as the JSON that the same model's `to_json()` gives, and nothing is built."""

from __future__ import annotations

import itertools
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import unnest
from tests import cost
from tests.corpus.unpacked import FIXTURES
from unnest.errors import Unreadable
from unnest.formats.parse_yaml import parse

PATHS = sorted(FIXTURES.glob("*/*/model.yaml"))
CASES = [pytest.param(p, id=str(p.parent.relative_to(FIXTURES))) for p in PATHS]


def test_there_are_fixtures() -> None:
    """Of every Keras that wrote YAML and can be had."""
    assert {p.parent.parent.name for p in PATHS} >= {
        "k122",
        "py27k122",
        "k209",
        "k224",
        "py27k224",
        "k231",
    }


@pytest.mark.parametrize("path", CASES)
def test_genuine(path: Path, tmp_path: Path) -> None:
    """The template's own JSON comes out, under a name that says JSON."""
    told = json.loads(path.with_name("case.json").read_text())["expected"]
    seen = unnest.inspect(path)
    assert (seen.error, seen.verdict, seen.container, seen.contents) == (
        None,
        "parallel",
        "json",
        "architecture",
    )
    assert [w.towers for w in seen.wrappers] == [w["towers"] for w in told["wrappers"]]
    shutil.copy(path, tmp_path / "m.yaml")
    done = unnest.fix(tmp_path / "m.yaml")
    assert (done.error, done.action, done.output) == (
        None,
        "fixed",
        str(tmp_path / "m.unnested.json"),
    )
    found, wanted = json.loads((tmp_path / "m.unnested.json").read_text()), base_json(path)
    assert found == wanted


def base_json(path: Path) -> Any:
    """Return the template's own to_json(), with the versions that to_yaml() writes too."""
    return json.loads(path.with_name("base.json").read_text())


@pytest.mark.parametrize("path", CASES)
def test_clean(path: Path, tmp_path: Path) -> None:
    """Left alone; asked for JSON, it is converted to what to_json() gave."""
    shutil.copy(path.with_name("base.yaml"), tmp_path / "m.yml")
    assert unnest.fix(tmp_path / "m.yml").action == "unchanged"
    done = unnest.fix(tmp_path / "m.yml", tmp_path / "m.json")
    assert (done.error, done.action) == (None, "converted")
    assert json.loads((tmp_path / "m.json").read_text()) == base_json(path)
    again = unnest.fix(tmp_path / "m.yml", to="json")
    assert (again.action, again.output) == ("converted", str(tmp_path / "m.unnested.json"))


def test_in_place_is_refused(tmp_path: Path) -> None:
    """JSON does not take the place of YAML, nor its name."""
    path = PATHS[0]
    shutil.copy(path, tmp_path / "m.yaml")
    done = unnest.fix(tmp_path / "m.yaml", in_place=True)
    assert done.error is not None
    assert (done.action, done.error.code) == ("refused", "cannot-write")
    assert (tmp_path / "m.yaml").read_bytes() == path.read_bytes()


def test_the_architecture_of_weights(tmp_path: Path) -> None:
    """YAML is as good as JSON beside weights."""
    (folder,) = FIXTURES.glob("k122/kuza-multiio-x3-pjson")
    import yaml

    as_yaml = tmp_path / "model.yaml"
    as_yaml.write_text(yaml.safe_dump(json.loads((folder / "model.json").read_text())))
    for name, architecture in (("a.h5", as_yaml), ("b.h5", folder / "model.json")):
        assert (
            unnest.fix(folder / "weights.h5", tmp_path / name, architecture=architecture).error
            is None
        )
    assert (tmp_path / "a.h5").read_bytes() == (tmp_path / "b.h5").read_bytes()


NUMBER = (
    "!!python/object/apply:numpy.core.multiarray.scalar [!!python/object/apply:numpy.dtype "
    "{args: [%s, 0, 1], state: !!python/tuple [3, '%s', null]}, !!binary %s]"
)


#: As Python 2 wrote one whose bytes are those of a text.
TEXT_NUMBER = NUMBER.replace("!!binary %s", '"%s"')
LIST_WRAPPER = (
    "!!python/object/new:tensorflow.python.training.tracking.data_structures._ListWrapper"
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: " + TEXT_NUMBER % ("i8", "<", r"H\0\0\0\0\0\0\0"), {"a": 72}),
        ("a: " + TEXT_NUMBER % ("i4", "<", r"H\0\0\0"), {"a": 72}),
        (
            f"a: {LIST_WRAPPER} {{listitems: [3], state: {{_storage: [3], _self_trainable: true}}}}",
            {"a": [3]},
        ),
        (f"a: {LIST_WRAPPER} {{listitems: [!!python/tuple [1, 2]], state: {{}}}}", {"a": [[1, 2]]}),
        (f"a: {LIST_WRAPPER} {{state: {{_storage: []}}}}", {"a": []}),
        ("a: !!python/tuple [1, [2]]", {"a": [1, [2]]}),
        ("a: !!python/unicode 'caf\u00e9'", {"a": "caf\u00e9"}),
        (f"a: {NUMBER % ('i8', '<', 'DAAAAAAAAAA=')}", {"a": 12}),
        (f"a: {NUMBER % ('i4', '>', 'AAAADA==')}", {"a": 12}),
        (f"a: {NUMBER % ('f4', '<', 'AADAPw==')}", {"a": 1.5}),
        ("a: {0: 1.0e-07, true: null}", {"a": {"0": 1e-07, "true": None}}),
        ("a: &x [1]\nb: *x", {"a": [1], "b": [1]}),
        (
            "a: !!python/object/apply:tensorflow.python.training.tracking.data_structures.ListWrapper\n- [3]",
            {"a": [3]},
        ),
        ("a: !!python/object/apply:builtins.dict\n- {i: 0}", {"a": {"i": 0}}),
    ],
)
def test_how_keras_spelled_plain_values(text: str, value: Any) -> None:
    """As JSON has them."""
    assert parse(text, "f") == value


def each_holds_the_last_nine_times(form: str, count: int) -> str:
    """`b: &b [*a, *a, ...]`, `c: &c [*b, *b, ...]` and so on."""
    names = "abcdefghijklm"
    return "".join(
        f"{b}: &{b} {form % ','.join([f'*{a}'] * 9)}\n"
        for a, b in itertools.pairwise(names[: count + 1])
    )


HOSTILE = {
    "yaml-object": [
        "a: !!python/object/apply:os.system [echo]",
        "a: !!python/object/new:os.system [echo]",
        "a: !!python/object:os.path {}",
        "a: !!python/name:os.system",
        "a: !!python/module:os",
        "a: !!python/object/apply:builtins.eval ['1']",
        "a: !!python/object/apply:builtins.list [[1], [2]]",
        "a: !!python/object/apply:tensorflow.python.ops.io_ops.read_file [x]",
        "a: !!timestamp 2001-01-01",
        "a: !!set {b, c}",
        f"a: {'1:' * 100000}1",
        # The forms that are known, around something else.
        f"a: {LIST_WRAPPER} [3]",
        f"a: {LIST_WRAPPER} text",
        f"a: {LIST_WRAPPER} {{listitems: [3]}}",
        f"a: {LIST_WRAPPER} {{listitems: {{x: 3}}, state: {{}}}}",
        f"a: {LIST_WRAPPER} {{listitems: [3], state: {{_storage: [4]}}}}",
        f"a: {LIST_WRAPPER} {{listitems: [3], state: {{}}, args: [1]}}",
        f"a: {LIST_WRAPPER} {{listitems: [!!python/object/apply:os.system [echo]], state: {{}}}}",
        f"a: {LIST_WRAPPER} {{listitems: [], state: {{x: !!python/name:os.system }}}}",
        f"a: {LIST_WRAPPER.replace('new', 'apply')} {{listitems: [3], state: {{}}}}",
        f"a: {LIST_WRAPPER.replace('tensorflow.', 'tensorflow_')} {{listitems: [3], state: {{}}}}",
        f"a: {LIST_WRAPPER.replace('_ListWrapper', '_DictWrapper')} {{listitems: [3], state: {{}}}}",
        "a: !!python/object/apply:builtins.dict\n- [[i, 0]]",
        f"a: {NUMBER % ('V8', '<', 'AAAA')}",
        f"a: {NUMBER % ('O8', '|', 'DAAAAAAAAAA=')}",
        f"a: {NUMBER % ('i8', '<', 'DAAAAA==')}",
        f"a: {NUMBER % ('i8', '<', 'DAAAAAAAAAAA')}",
        f"a: {NUMBER % ('i8', '!', 'DAAAAAAAAAA=')}",
        f"a: {TEXT_NUMBER % ('i8', '<', 'H')}",
        f"a: {NUMBER.replace('i8', '%s') % ('[i8]', '<', 'DAAAAAAAAAA=')}",
        "a: !!python/object/apply:numpy.core.multiarray.scalar [[<, q], 12345678]",
        "a: !!python/object/apply:numpy.core.multiarray.scalar [1]",
        "a: !!python/object/apply:numpy.core.multiarray.scalar text",
        "a: !!python/object/apply:numpy.dtype [i8]",
        "a: !!python/object/apply:numpy.dtype {args: [], state: []}",
        "a: !!python/object/apply:numpy.dtype {args: 8, state: 8}",
    ],
    "yaml-too-large": [
        "a: &x [*x]",
        "a: " + "[" * 100_000,
        "a: &a [x,x,x,x,x,x,x,x,x]\n" + each_holds_the_last_nine_times("[%s]", 12),
        "a: &a {x: 1, y: 2}\n" + each_holds_the_last_nine_times("{<<: [%s]}", 9),
        f"a: &a {'x' * 60_000}\nb: [{','.join(['*a'] * 3000)}]",
    ],
    "bad-yaml": ["a: [1", "a: *nothing", "a: 1\n---\nb: 2", "a: !!binary AAAA", "a: \x01", "a: !!int x",
                 "a: !!bool x", "a: !!float x", "a: !!python/object/apply:numpy.dtype {args: [i8], state: [3, <]}"],
}  # fmt: skip
ATTACKS = [
    pytest.param(code, text, id=f"{code}-{k}")
    for code, texts in HOSTILE.items()
    for k, text in enumerate(texts)
]


@pytest.mark.parametrize(("code", "text"), ATTACKS)
def test_hostile(code: str, text: str) -> None:
    """Refused in one line, before anything was built or unfolded."""
    with pytest.raises(Unreadable) as caught:
        parse(text, "f")
    assert caught.value.code == code
    assert "\n" not in caught.value.message


@pytest.mark.parametrize(
    ("text", "is_damaged"), [("a: [1", True), ("a: !!int x", False), ("a: !!binary AAAA", False)]
)
def test_only_what_is_no_yaml_is_damaged(text: str, *, is_damaged: bool) -> None:
    """A value that no model has is refused in our words, not in those of an inner exception."""
    with pytest.raises(Unreadable) as caught:
        parse(text, "f")
    assert ("the file is damaged" in caught.value.message) is is_damaged
    assert is_damaged or caught.value.message == (
        "f is YAML, but holds values that no model has; save the architecture again"
    )


def test_hostile_costs_little(tmp_path: Path) -> None:
    """All of them together, in a process of its own."""
    for k, text in enumerate(t for texts in HOSTILE.values() for t in texts):
        path = tmp_path / f"{k}.yaml"
        path.write_text("class_name: Model\nconfig:\n  " + text.replace("\n", "\n  "))
    done, seconds, megabytes = cost.run("inspect", str(tmp_path), cwd=tmp_path)
    assert "Traceback" not in done.stderr
    assert seconds < 20
    assert megabytes < 300


def test_a_long_text_costs_little(tmp_path: Path) -> None:
    """Millions of small values that no model has are over the budget of a file of their size."""
    path = tmp_path / "long.yaml"
    path.write_text("class_name: Model\nconfig:\n  zz:\n" + "  - {a: 1, b: [1, 2, 3]}\n" * 200_000)
    done, seconds, megabytes = cost.run("inspect", str(path), cwd=tmp_path)
    assert "asks for more" in done.stderr
    assert seconds < 10
    assert megabytes < 300


TEXTS = st.text(max_size=9)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)


@given(VALUES)
def test_what_a_dumper_writes_is_read(value: Any) -> None:
    """Any JSON value, comes back as it was."""
    import yaml

    assert parse(yaml.safe_dump(value), "f") == value
