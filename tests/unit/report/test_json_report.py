"""The JSON report against the schema that is shipped with it."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest

import unnest
from tests.attacks.hostile import ATTACKS
from unnest.report.json_report import SCHEMA_VERSION, document, render
from unnest.report.result import Report

SCHEMA = json.loads(files("unnest.report").joinpath("schema.json").read_text())


def test_the_schema_is_one() -> None:
    """And is of the version that is written."""
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["properties"]["schema_version"]["const"] == SCHEMA_VERSION


@pytest.mark.parametrize("work", [unnest.inspect, unnest.fix])
def test_reports_keep_to_it(
    work: Callable[[Path], unnest.Report], bad: Path, clean: Path, tmp_path: Path
) -> None:
    """Good files, bad files, none at all."""
    paths = [bad, clean, tmp_path / "missing.h5"]
    for name in ("torn", "soft_link", "stub"):
        paths.append(tmp_path / f"{name}.h5")
        ATTACKS[name][0](paths[-1])
    text = render([work(path) for path in paths])
    jsonschema.validate(json.loads(text), SCHEMA, jsonschema.Draft202012Validator)
    assert json.loads(render([])) == document([])


@pytest.mark.parametrize(
    "broken",
    [
        {"verdict": "fine"},
        {"error": None, "verdict": "unreadable"},
        {"wrappers": [{}]},
        {"container": "tar"},
        {"findings": [{"code": "x"}]},
    ],
)
def test_the_schema_bites(broken: dict[str, object], bad: Path) -> None:
    """A schema that accepts everything checks nothing."""
    made = document([unnest.inspect(bad)])
    made["files"][0] |= broken
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(json.loads(json.dumps(made)), SCHEMA, jsonschema.Draft202012Validator)


def test_a_fix_without_its_keys_is_none(bad: Path) -> None:
    """An action calls for an output."""
    made = document([unnest.fix(bad, dry_run=True)])
    assert made["files"][0]["action"] == "would-fix"
    assert made["summary"]["actions"] == {"would-fix": 1}
    assert set(SCHEMA["$defs"]["fixed"]["required"]) <= set(made["files"][0])


def test_half_a_surrogate_pair_is_spelt_out() -> None:
    """A name that is not UTF-8; strict readers of JSON refuse the escape of one."""
    text = render([Report(path="bad\udcff.h5", verdict="clean", loads_in=("with your a\ud800",))])
    entry = json.loads(text)["files"][0]
    assert (entry["path"], entry["loads_in"]) == ("bad\\udcff.h5", ["with your a\\ud800"])
    json.dumps(entry, ensure_ascii=False).encode("utf-8")
