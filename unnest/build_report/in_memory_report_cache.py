"""Cache of reports, in the memory of this process: of a folder of alike checkpoints only the first is worked out.

A report follows from the content of a source (`Source.content`, compared exactly and by its types), from the caller's
choices, and from the path's name and suffix. A cached report is used only if all that is the same, and if the budget of
this file would have lasted for the work, which is charged again. So a report does not depend on what came before it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import replace
from threading import Lock
from typing import NamedTuple

from unnest.budget import Answers, Cost, charge_again, measure_cost
from unnest.build_report.fields_from_plan import default_output_name
from unnest.core.plan import Choices
from unnest.formats.container_interface import Source
from unnest.options import ReportParts
from unnest.report.load_line import ending_of, with_path_moved
from unnest.report.result import Report

#: Bytes, about, that the cache takes at most. A small model has 5,000 to 20,000, so that it holds a thousand of them.
MAX_CACHE_BYTES = 16 << 20
#: Bytes that Python itself takes for a report, and for a tensor.
REPORT_BYTES, TENSOR_BYTES = 2048, 256


class _CachedReport(NamedTuple):
    report: Report
    #: The name of the output that the report announces.
    output_name: str
    cost: Cost
    size: int


class ReportCache:
    """The reports of the last models: at most MAX_CACHE_BYTES together."""

    def __init__(self) -> None:
        self._known: OrderedDict[Hashable, _CachedReport] = OrderedDict()
        self._size = 0
        #: Results of `memoize_across_files`, which the budgets of all files share.
        self.answers = Answers()
        self._lock = Lock()

    def report(
        self, source: Source, choices: Choices, work_out: Callable[[], Report], parts: ReportParts
    ) -> Report:
        """Return the report of a source with these choices and parts, from the cache or by `work_out`.

        No architecture was given for it.
        """
        content = source.content
        if content is None:
            return work_out()
        key = source.container, content, choices, parts, ending_of(source.path)
        with self._lock:
            known = self._known.get(key)
            if known is not None:
                self._known.move_to_end(key)
        if known is not None and charge_again(known.cost):
            fix_would = known.report.fix_would
            if fix_would is not None:
                fix_would = fix_would.replace(known.output_name, default_output_name(source), 1)
            return replace(_for_path(known.report, source.path), fix_would=fix_would)
        report, cost = measure_cost(work_out)
        self._keep(
            key,
            _CachedReport(
                _for_path(report, source.path), default_output_name(source), cost, _size_of(source)
            ),
        )
        return report

    def _keep(self, key: Hashable, known: _CachedReport) -> None:
        with self._lock:
            before = self._known.pop(key, None)
            self._known[key] = known
            self._size += known.size - (before.size if before is not None else 0)
            while self._size > MAX_CACHE_BYTES:
                self._size -= self._known.popitem(last=False)[1].size


def _size_of(source: Source) -> int:
    """Return about how many bytes the content takes in memory."""
    tensors = source.tensors
    names = sum(len(t.name) + len(t.ref) for t in tensors) + sum(
        len(g.name) for g in source.stored.groups
    )
    return REPORT_BYTES + TENSOR_BYTES * len(tensors) + names + source.json_size


def _for_path(report: Report, path: str) -> Report:
    """Return the report for another file of the same content, sharing nothing mutable."""
    load = None if report.load is None else with_path_moved(report.load, report.path, path)
    return replace(report, path=path, load=load, does_not_load_in=dict(report.does_not_load_in))
