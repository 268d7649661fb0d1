"""A cached report equals one that is worked out anew: reports do not depend on what came before."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import unnest
from tests import makeh5
from tests.corpus.unpacked import FIXTURES
from unnest import open_and_plan
from unnest.budget import (
    Budget,
    Cost,
    OverBudget,
    charge_again,
    charge_memory,
    charge_steps,
    check_memory,
    limited,
    measure_cost,
)
from unnest.build_report.in_memory_report_cache import ReportCache
from unnest.core.model import Json
from unnest.core.plan import Choices
from unnest.core.wrappers.stored_code import traced_rows
from unnest.inspection import inspect_local
from unnest.options import FACTS
from unnest.report.load_line import ENDINGS
from unnest.report.result import Report

SOME_FILES = sorted(FIXTURES.rglob("*.h5"))[::9]


def look(path: Path, known: ReportCache | None, *classes: str, trust: bool = False) -> Report:
    """As a batch does it."""
    choices = Choices(slice_layers=frozenset(classes))
    return inspect_local(
        str(path), architecture=None, choices=choices, trust=trust, parts=FACTS, known=known
    )


@pytest.fixture
def worked_out(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths of the models that were planned."""
    paths: list[str] = []
    planned = open_and_plan.plan_source

    def counted(source: object, *args: object) -> object:
        paths.append(source.path)  # type: ignore[attr-defined] # of any Source
        return planned(source, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(open_and_plan, "plan_source", counted)
    return paths


@pytest.mark.parametrize("ending", [*ENDINGS, ".hdf", ".KERAS"])
def test_told_again_as_it_would_be_worked_out(
    ending: str, tmp_path: Path, worked_out: list[str]
) -> None:
    """Under a name with quotes and a name of the model in it, too, and of each ending for itself."""
    known, again = ReportCache(), set[str | None]()
    files = SOME_FILES if ending in ENDINGS else SOME_FILES[::4]  # the others spell one of these
    for n, path in enumerate(files):
        first, second = (
            tmp_path / f"{n}{ending}",
            tmp_path / f"it's-{n} load_model('model.h5'){ending}",
        )
        shutil.copy(path, first)
        shutil.copy(path, second)
        alone, before = unnest.inspect(second), unnest.inspect(path)
        assert look(path, known) == before
        assert look(first, known) == unnest.inspect(first)
        assert look(second, known) == alone
        if worked_out.count(str(second)) > 1:
            again.add(alone.container)
    assert again <= {"weights_h5"}, "their reader does not say what the content is"


def with_other_weights(path: Path, target: Path) -> Path:
    """The checkpoint of a later epoch."""
    shutil.copy(path, target)
    with h5py.File(target, "r+") as file:
        names: list[str] = []
        file.visit(names.append)
        for name in names:
            if isinstance(file[name], h5py.Dataset):
                file[name][...] = np.full(file[name].shape, 3, file[name].dtype)
    return target


def test_a_later_epoch_is_not_worked_out_again(tmp_path: Path, worked_out: list[str]) -> None:
    known = ReportCache()
    first = makeh5.parallel_file(tmp_path / "a.h5")
    later = with_other_weights(first, tmp_path / "b.h5")
    assert first.read_bytes() != later.read_bytes()
    look(first, known)
    assert look(later, known).verdict == "parallel"
    assert worked_out == [str(first)]


def edited(change: Callable[[dict[str, object]], object]) -> Callable[[h5py.File], None]:
    """The file with its architecture changed."""

    def edit(file: h5py.File) -> None:
        config = json.loads(file.attrs["model_config"])
        change(config)
        file.attrs["model_config"] = json.dumps(config).encode()

    return edit


def with_merge_axis(value: object) -> Callable[[h5py.File], None]:
    """Return an edit that sets the merge's axis, also to a value that Python calls equal to it."""
    return edited(lambda c: c["config"]["layers"][-1]["config"].update(axis=value))  # type: ignore[index]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(with_merge_axis(0.0), id="0.0 for 0"),
        pytest.param(with_merge_axis(value=False), id="false for 0"),
        pytest.param(with_merge_axis(1), id="another axis"),
        pytest.param(lambda f: f.attrs.__setitem__("keras_version", b"3.1.0"), id="version"),
        pytest.param(lambda f: f.attrs.__setitem__("backend", b"theano"), id="backend"),
        pytest.param(lambda f: f.attrs.__delitem__("model_config"), id="weights alone"),
        pytest.param(
            lambda f: f.attrs.__setitem__("training_config", b'{"loss": "mine"}'), id="training"
        ),
        pytest.param(lambda f: f.create_dataset("more", data=[1.0]), id="something beside"),
        pytest.param(
            lambda f: f.create_group("optimizer_weights").attrs.create("weight_names", []),
            id="optimizer",
        ),
    ],
)
def test_any_other_content_is_worked_out(
    change: Callable[[h5py.File], None], tmp_path: Path, worked_out: list[str]
) -> None:
    known = ReportCache()
    first, other = makeh5.parallel_file(tmp_path / "a.h5"), makeh5.parallel_file(tmp_path / "b.h5")
    with h5py.File(other, "r+") as file:
        change(file)
    look(first, known)
    worked_out.clear()
    report = look(other, known)
    assert report.error or worked_out == [str(other)]
    assert report == unnest.inspect(other)


def test_other_shapes_and_types_are_worked_out(tmp_path: Path, worked_out: list[str]) -> None:
    known = ReportCache()
    first = makeh5.parallel_file(tmp_path / "a.h5")
    look(first, known)
    changes: list[Callable[[Any], Any]] = [
        lambda v: v[:1],
        lambda v: v.astype("f8"),
        lambda v: v.reshape(-1),
    ]
    for n, change in enumerate(changes):
        path = tmp_path / f"{n}.h5"
        shutil.copy(first, path)
        with h5py.File(path, "r+") as file:
            names: list[str] = []
            file.visit(names.append)
            name = next(
                name
                for name in names
                if isinstance(file[name], h5py.Dataset) and file[name].ndim > 1
            )
            values = change(file[name][...])
            del file[name]
            file[name] = values
        worked_out.clear()
        assert look(path, known) == unnest.inspect(path)
        assert worked_out == [str(path)] * 2


def test_other_choices_are_worked_out(tmp_path: Path, worked_out: list[str]) -> None:
    known = ReportCache()
    path = makeh5.parallel_file(tmp_path / "a.h5")
    look(path, known)
    look(path, known, "Mine")
    assert len(worked_out) == 2


def test_who_changes_a_report_changes_no_other(tmp_path: Path) -> None:
    known = ReportCache()
    path = makeh5.parallel_file(tmp_path / "a.h5")
    sound = unnest.inspect(path)
    for _ in range(3):
        report = look(path, known)
        assert report == sound
        report.does_not_load_in["Keras 3"] = "changed"  # type: ignore[index] # by a careless caller


def test_a_budget_that_would_not_last_is_refused_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer from a trusted file does not let an untrusted one exceed its budget."""
    known = ReportCache()
    path = makeh5.parallel_file(tmp_path / "a.h5")
    look(path, known, trust=True)
    monkeypatch.setattr(
        open_and_plan,
        "budget_of",
        lambda path, *, trust: Budget(path, 1000, 1 << 24),  # noqa: ARG005 - called with it by name
    )
    alone = look(path, None)
    assert alone.error is not None
    assert alone.error.code == "over-budget"
    assert look(path, known) == alone


def test_the_same_is_spent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, known, budgets = makeh5.parallel_file(tmp_path / "a.h5"), ReportCache(), []

    def counted_budget(path: str, *, trust: bool) -> Budget:
        budgets.append(Budget.of(path, 1, trust=trust))
        return budgets[-1]

    monkeypatch.setattr(open_and_plan, "budget_of", counted_budget)
    for _ in range(2):
        look(path, known)
    assert (budgets[0].steps, budgets[0].memory) == (budgets[1].steps, budgets[1].memory)


def test_the_same_is_spent_of_what_other_models_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two models with the same stored code: it is followed once, and each pays for it."""
    budgets: list[Budget] = []

    def counted_budget(path: str, *, trust: bool) -> Budget:
        budgets.append(Budget.of(path, 1, trust=trust))
        return budgets[-1]

    monkeypatch.setattr(open_and_plan, "budget_of", counted_budget)
    path, other = makeh5.parallel_file(tmp_path / "a.h5"), makeh5.parallel_file(tmp_path / "b.h5")
    with h5py.File(other, "r+") as file:
        config = json.loads(file.attrs["model_config"])
        file.attrs["model_config"] = json.dumps({**config, "numbered": 1})
    followed: list[object] = []
    run = traced_rows.rows_of_code

    def counted(function: Json, *args: Any, **more: Any) -> Any:
        followed.append(function)
        return run(function, *args, **more)

    monkeypatch.setattr(traced_rows, "rows_of_code", counted)
    known = ReportCache()
    look(path, known)
    first = len(followed)
    assert first > 0
    look(other, known)
    assert len(followed) == first
    look(other, None)
    assert len(followed) == 2 * first
    assert (budgets[1].steps, budgets[1].memory) == (budgets[2].steps, budgets[2].memory)


def test_memory_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, worked_out: list[str]
) -> None:
    """The oldest goes; one that is too large alone is not kept."""
    known = ReportCache()
    path = makeh5.parallel_file(tmp_path / "a.h5")
    monkeypatch.setattr("unnest.build_report.in_memory_report_cache.MAX_CACHE_BYTES", 1000)
    for _ in range(2):
        look(path, known)
    assert len(worked_out) == 2


def work() -> str:
    """Some steps, memory for good, and more for a moment."""
    charge_steps(5)
    charge_memory(10)
    check_memory(30)
    return "done"


def test_what_work_takes() -> None:
    with limited(Budget("m.h5", 100, 100)):
        assert measure_cost(work) == ("done", Cost(5, 10, 40))
    assert measure_cost(work) == ("done", Cost(0, 0, 0))


@pytest.mark.parametrize(("steps", "memory"), [(5, 40), (4, 40), (5, 39), (9, 99)])
def test_is_spent_again_where_the_work_would_be_done(steps: int, memory: int) -> None:
    with limited(Budget("m.h5", steps, memory)) as worked:
        try:
            work()
        except OverBudget:
            lasts = False
        else:
            lasts = True
    with limited(Budget("m.h5", steps, memory)) as again:
        assert charge_again(Cost(5, 10, 40)) is lasts
        assert not lasts or (again.steps, again.memory, again.least) == (
            worked.steps,
            worked.memory,
            worked.least,
        )


def test_a_report_is_the_sum_of_what_is_compared(tmp_path: Path) -> None:
    """Of the same content under another name only the path, the load line and the output's name differ."""
    path = makeh5.parallel_file(tmp_path / "a.h5")
    other = tmp_path / "b.h5"
    shutil.copy(path, other)
    one, two = unnest.inspect(path), unnest.inspect(other)
    assert replace(two, path=one.path, load=one.load, fix_would=one.fix_would) == one
