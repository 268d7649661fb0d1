"""Names of an operation stand at its entry: no other module of the core keeps lists of them.

Counted are lists, sets, keys and texts that name several operations, and comparisons with a name. A module that makes
one node or one call uses a name, and defines nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache

import pytest

from tests.unit.core.one_home import check_home, names_listed, text_of, texts_of
from unnest.core.keras_facts.keras3_op_modules import MODULE_BY_CLASS
from unnest.core.layers.catalog import layer_record
from unnest.core.ops.call import plain_name
from unnest.core.ops.keras3_nodes.function_registry import known_functions
from unnest.core.ops.registry import BY_NODE_OP, OPERATIONS

#: Names that are as often a key of JSON, a dtype, a layer's argument or a word as an operation.
WORDS = frozenset(
    {
        "shape",
        "size",
        "rank",
        "constant",
        "float",
        "int",
        "len",
        "identity",
        "merge",
        "takes",
        "mixes",
        "slice",
    }
)

NODES_OF_GRAPHS = "how nodes of TensorFlow's graph say what functions say otherwise"
WORDS_OF_CODE = (
    "the words in names of layers, and in code that cannot be followed, are a sign and no meaning"
)
MODES = "modes of Keras 1's Merge and of Bidirectional, and layers that combine"
ACTIVATIONS = "names of Keras's activation functions"

#: Modules that name operations beside the registry -> why.
EXCEPTIONS = {
    "keras_facts/keras3_op_modules.py": "the modules of Keras 3's classes, which every converted model needs",
    "frontends/library_calls_as_op_calls.py": "functions whose arguments libraries spell otherwise",
    "wrappers/layer_graph/augmentation_heads.py": "heads that split the joined batch again",
    "wrappers/claims/check_merge_code.py": WORDS_OF_CODE,
    "wrappers/claims/check_slice_claims_by_code.py": WORDS_OF_CODE,
    "wrappers/layer_graph/layer_batch_roles.py": WORDS_OF_CODE,
    "wrappers/stored_code/code_names_and_numbers.py": WORDS_OF_CODE,
    "wrappers/wrapper_in_weight_names.py": WORDS_OF_CODE,
    "wrappers/search/operation_slice_towers.py": "an even split, and steps without a say",
    "wrappers/layer_graph/layer_tensor_graph.py": MODES,
    "wrappers/serving_graph/describe_serving_wrapper.py": NODES_OF_GRAPHS,
    "wrappers/serving_graph/serving_tensor_graph.py": NODES_OF_GRAPHS,
    "keras3/operations/graph_nodes_as_function_calls.py": NODES_OF_GRAPHS,
    "keras3/operations/translate_stored_function_call.py": NODES_OF_GRAPHS,
    "keras3/lambdas/names_and_calls.py": "methods of NumPy's arrays",
    "keras3/lambdas/translate_lambda.py": "the arithmetic that the layer Rescaling is",
    "keras3/layers/convert_thresholded_relu_and_merge.py": MODES,
    "keras3/masks/outputs_at_masked_steps.py": MODES,
    "keras3/training/convert_optimizer_state.py": "tensor transforms of the same names",
    "keras3/training/convert_compile_settings.py": "losses",
    "keras_facts/loading_in_keras_3.py": MODES,
    "keras_facts/custom_functions_in_configs.py": ACTIVATIONS,
    "layers/record.py": MODES,
    "layers/shape_rules.py": MODES,
    "layers/weight_rules.py": "a score of Attention",
    "weight_transfer/equivalent_expressions.py": ACTIVATIONS,
    "weight_transfer/model_expressions.py": ACTIVATIONS,
    "weight_transfer/load_into_model.py": ACTIVATIONS,
    "weight_transfer/convert_weights.py": ACTIVATIONS,
    "weight_transfer/tf_keras_weights_by_way_of_keras3.py": "steps between the weights of two models",
}


@cache
def is_name(text: str) -> bool:
    """True for an operation, as TensorFlow, Keras or the core spell it; not for a layer of that name."""
    if text in WORDS or layer_record(text).exported or text.startswith("__"):
        return False
    spelled = (
        re.fullmatch(r"\w+", text) is not None
        and text == text.lower()
        and plain_name(text) in OPERATIONS
    )
    return spelled or text in BY_NODE_OP or text in known_functions() or text in MODULE_BY_CLASS


def names_in(tree: ast.AST) -> Iterator[str]:
    """Yield the names of operations that a module lists, or compares with."""
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        yield from several(texts_of(node))
        if isinstance(node, ast.Compare):
            yield from filter(is_name, map(text_of, (node.left, *node.comparators)))
        elif isinstance(node, ast.MatchValue):
            yield from filter(is_name, [text_of(node.value)])
        elif (
            isinstance(node, ast.Constant)
            and id(node) not in docstrings
            and len(words := text_of(node).split()) > 2
        ):
            yield from several(words)


def several(texts: list[str]) -> list[str]:
    """The names among texts, if they are two and half of them."""
    found = [each for each in texts if is_name(each)]
    return (
        found if len(found) > 1 and 2 * len(found) >= len([each for each in texts if each]) else []
    )


@pytest.fixture(scope="module")
def listed() -> Mapping[str, list[str]]:
    """Names that each module of the core lists: read when a test asks, as reading takes seconds."""
    return names_listed("ops", names_in)


def test_operations_are_named_at_their_entries(listed: Mapping[str, list[str]]) -> None:
    check_home(listed, EXCEPTIONS)


@pytest.mark.parametrize("module", EXCEPTIONS)
def test_an_exception_is_one(listed: Mapping[str, list[str]], module: str) -> None:
    assert listed[module]


def test_what_would_be_found() -> None:
    source = 'TABLE = {"relu": 1, "tanh": 2}\nJOINS = ("ConcatV2", "Pack")\nCLASSES = "LogicalAnd LogicalOr Cumsum"\n'
    assert {*names_in(ast.parse(source))} == {
        "relu",
        "tanh",
        "ConcatV2",
        "Pack",
        "LogicalAnd",
        "LogicalOr",
        "Cumsum",
    }
    assert [*names_in(ast.parse('if what.name == "squeeze": pass'))] == ["squeeze"]
    source = '"""relu tanh elu"""\nKEYS = {"shape": 1, "size": 2}\nLAYERS = ["Add", "Concatenate"]'
    assert [*names_in(ast.parse(source))] == []
