"""Parts of the tests: a quick one of every package, in minutes, and the rest.

`pytest` and `pytest FOLDER` run the quick part, `pytest --part rest` all else, `pytest --part all` both. Where a file,
a test, `-k` or `-m` is given, nothing is left out. Of tests that are many of one kind the quick part has one in so
many, always the same ones; what no line of `ONE_IN` names is quick.

`--part most` is for the tests that train with TensorFlow, of which a third are of a few kinds: all but those, of which
it has one in so many (`ONE_IN_MOST`). `.ci/run` runs it by `nox -s keras`, and `nox -s keras_all` runs all.
"""

from __future__ import annotations

from collections.abc import Mapping
from zlib import crc32

#: Beginnings of node ids: one test in so many is quick, 0: none. The longest beginning counts. By what tests cost:
#: the quick part takes some 5 minutes of processor time.
ONE_IN: Mapping[str, int] = {
    "tests/attacks/test_costly.py": 24,
    "tests/attacks/test_hostile_containers.py": 5,
    "tests/attacks/test_hostile_h5.py": 3,
    "tests/attacks/test_names.py": 10,
    "tests/corpus/": 10,
    "tests/corpus/test_near_misses.py": 1,
    "tests/corpus/test_store.py": 1,
    "tests/faults/": 8,
    "tests/files/": 5,
    "tests/genuine/": 5,
    "tests/keras/": 8,
    "tests/mutants/": 0,
    "tests/property/": 3,
    "tests/test_benchmarks.py": 0,
    "tests/test_cli.py": 5,
    "tests/test_docs.py::test_console_blocks": 8,
    "tests/test_golden.py::test_the_same_is_said": 24,
    "tests/test_jobs.py": 5,
    "tests/test_parts.py::test_what_runs": 0,
    "tests/test_pictures.py": 4,
    "tests/test_remote.py": 4,
    "tests/unit/build_report/test_in_memory_report_cache.py": 6,
    "tests/unit/core/keras3/lambdas/test_translate_lambda.py::TestNinePythons::test_a_changed_byte": 4,
    "tests/unit/core/keras3/test_layer_cases.py": 6,
    "tests/unit/core/keras3/test_people.py": 3,
    "tests/unit/core/test_json_tree.py": 2,
    "tests/unit/core/wrappers/search/test_batch_trials.py": 3,
    "tests/unit/core/wrappers/test_mutants.py::test_what_does_not_give_the_batch_back_is_no_wrapper": 16,
    "tests/unit/core/wrappers/test_work.py": 4,
    "tests/unit/core/wrappers/test_work.py::test_a_serving_graph_of_a_hundred_thousand_operations": 0,
    "tests/unit/formats/hdf5/test_fast_reader.py::test_genuine_files_read_the_same": 6,
    "tests/unit/formats/test_detect_container.py::test_text_in_the_place": 6,
    "tests/unit/formats/test_parse_yaml.py": 3,
}

#: The same for `--part most`: kinds of tests that took 15 seconds of the processor or more each.
ONE_IN_MOST: Mapping[str, int] = {
    "tests/keras/test_keras_checkpoint.py::test_an_h5_file_that": 3,
    "tests/keras/test_keras_checkpoint.py::test_layers": 3,
    "tests/keras/test_keras_fix.py::test_our_own_files": 2,
    "tests/keras/test_keras_load_weights.py::test_a_sample_of_the_corpus": 4,
    "tests/keras/test_keras_load_weights_tf_keras.py::test_the_next_step": 4,
    "tests/keras/test_keras_recurrent.py::test_a_loop_is_traced_once": 2,
    "tests/keras/test_keras_recurrent.py::test_gradients_are_the_plain_models": 3,
    "tests/keras/test_keras_recurrent.py::test_loops_of_towers_stay_functions": 2,
    "tests/keras/test_keras_recurrent.py::test_towers_draw_their_own_dropout": 4,
    "tests/keras/test_keras_refrozen.py::test_predicts_the_same": 6,
    "tests/keras/test_keras_statistics.py::": 3,
    "tests/keras/test_keras_towers.py::test_predictions": 3,
    "tests/keras/test_keras_towers.py::test_twenty_steps_train_as_the_plain_model": 3,
    "tests/keras/test_keras_usages.py::test_saved_models": 4,
    "tests/keras/test_keras_weaknesses.py::test_verify_loads_none_of_it": 3,
    "tests/keras/test_keras_weights_state.py::test_the_next_step": 4,
    "tests/keras/test_lambdas.py::test_as_tensorflow_and_keras_2": 4,
    "tests/keras/test_lambdas_genuine.py::test_as_recorded": 3,
}


PARTS = ("quick", "rest", "most", "all")


def is_in(part: str, node: str) -> bool:
    """Return whether a test is in a part, by its node id."""
    if part in ("quick", "rest"):
        return _is_chosen(node, ONE_IN) is (part == "quick")
    return part == "all" or _is_chosen(node, ONE_IN_MOST)


def _is_chosen(node: str, one_in: Mapping[str, int]) -> bool:
    beginning = max((b for b in one_in if node.startswith(b)), key=len, default="")
    share = one_in.get(beginning, 1)
    return share > 0 and crc32(node.encode()) % share == 0


def names_tests(argument: str) -> bool:
    """Return whether an argument of pytest is a file or a test, and no folder."""
    return "::" in argument or argument.endswith(".py")
