"""Two parts of the tests: a quick one of every package, in minutes, and the rest.

`pytest` and `pytest FOLDER` run the quick part, `pytest --part rest` all else, `pytest --part all` both. Where a file,
a test, `-k` or `-m` is given, nothing is left out. Of tests that are many of one kind the quick part has one in so
many, always the same ones; what no line of `ONE_IN` names is quick.
"""

from __future__ import annotations

from collections.abc import Mapping
from zlib import crc32

#: Beginnings of node ids: one test in so many is quick, 0: none. The longest beginning counts. By what tests cost:
#: the quick part takes some 6 minutes of processor time.
ONE_IN: Mapping[str, int] = {
    "tests/attacks/test_costly.py": 12,
    "tests/attacks/test_hostile_containers.py": 5,
    "tests/attacks/test_hostile_h5.py": 3,
    "tests/attacks/test_names.py": 5,
    "tests/corpus/": 10,
    "tests/corpus/test_near_misses.py": 1,
    "tests/corpus/test_store.py": 1,
    "tests/faults/": 8,
    "tests/files/": 3,
    "tests/genuine/": 5,
    "tests/keras/": 8,
    "tests/mutants/": 0,
    "tests/property/": 3,
    "tests/test_benchmarks.py": 0,
    "tests/test_cli.py": 3,
    "tests/test_docs.py::test_console_blocks": 8,
    "tests/test_golden.py::test_the_same_is_said": 16,
    "tests/test_jobs.py": 3,
    "tests/test_pictures.py": 4,
    "tests/test_remote.py": 4,
    "tests/unit/core/keras3/test_layer_cases.py": 6,
    "tests/unit/core/keras3/test_people.py": 3,
    "tests/unit/core/wrappers/test_mutants.py::test_what_does_not_give_the_batch_back_is_no_wrapper": 8,
    "tests/unit/core/wrappers/test_batch_trials.py": 3,
    "tests/unit/core/wrappers/test_work.py": 4,
    "tests/unit/core/wrappers/test_work.py::test_a_serving_graph_of_a_hundred_thousand_operations": 0,
    "tests/unit/core/test_json_tree.py": 2,
    "tests/unit/formats/test_yaml_text.py": 3,
    "tests/unit/test_in_memory_report_cache.py": 6,
}


def is_quick(node: str) -> bool:
    """Return whether a test is in the quick part, by its node id."""
    beginning = max((b for b in ONE_IN if node.startswith(b)), key=len, default="")
    share = ONE_IN.get(beginning, 1)
    return share > 0 and crc32(node.encode()) % share == 0


def names_tests(argument: str) -> bool:
    """Return whether an argument of pytest is a file or a test, and no folder."""
    return "::" in argument or argument.endswith(".py")
