"""Stored code as operations: the same in every Python, equal to what the code computes, and never a guess."""

from __future__ import annotations

import base64
import marshal
import random
import re
from collections.abc import Mapping
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.core.keras3.lambdas import compiled, numpy_reference
from tests.unit.core.keras3.lambdas.compiled import (
    PYTHONS,
    before_36,
    functions,
    inputs_of,
    module,
    traced,
    translation,
)
from tests.unit.core.wrappers.one_layer import code_lambda
from unnest.core.keras3.lambdas.translate_lambda import (
    LambdaCall,
    Translation,
    Untranslatable,
    translate,
)
from unnest.core.keras3_op_node import Input, OpNode
from unnest.core.model import Json
from unnest.core.ops.keras3_nodes.function_registry import known_functions

SOURCES = module("sources")
TRANSLATABLE = SOURCES.TENSORS + SOURCES.LISTS + SOURCES.generated(1, compiled.GENERATED)


def code_of(source: str, python: str = "3.8") -> Json:
    return functions()[python][source][:3]


def translated(source: str, python: str = "3.8", inputs: int | None = None) -> Translation:
    result = translation(code_of(source, python), inputs_of(source) if inputs is None else inputs)
    assert isinstance(result, Translation), (source, result)
    return result


class TestNinePythons:
    """Genuine functions, compiled and run by each."""

    @pytest.mark.parametrize("python", PYTHONS)
    def test_the_expression_is_what_the_code_computes_there(self, python: str) -> None:
        for source in TRANSLATABLE:
            result = translated(source, python)
            assert python in result.pythons, source
            assert traced(result.expression, inputs_of(source)) == functions()[python][source][3], (
                source
            )

    def test_the_operations_are_the_same_in_all(self) -> None:
        for source in TRANSLATABLE:
            if "b / c" not in source:  # of integers: Python 2 divides them otherwise
                assert len({repr(translated(source, python).outputs) for python in PYTHONS}) == 1, (
                    source
                )

    @pytest.mark.parametrize("python", PYTHONS)
    def test_modules_that_the_function_imports_are_known(self, python: str) -> None:
        for source in SOURCES.IMPORTING:
            result = translated(source, python)
            assert (result.expression, result.taken) == ("tf.abs(x)", {})

    def test_those_of_3_5_are_read_as_3_5(self) -> None:
        read = 0
        for source in TRANSLATABLE:
            code, defaults, closure, _ = functions()["3.6"][source]
            wide = before_36(code)
            if wide is None:
                continue
            result = translation([wide, defaults, closure], inputs_of(source))
            assert isinstance(result, Translation), source
            assert result.pythons == ("3.5",)
            assert repr(result.outputs) == repr(translated(source, "3.6").outputs), source
            read += 1
        assert read > 100

    def test_the_operations_compute_what_the_source_computes(self) -> None:
        x = np.random.default_rng(3).uniform(0.1, 1.9, (3, 2, 3, 4)).astype("float32")
        for source in TRANSLATABLE:
            inputs = list(x)[: inputs_of(source)]
            function = module("in_python").function(source)
            function.__globals__.update(numpy_reference.names())
            copies = [each.copy() for each in inputs]  # NumPy's `-=` changes what it is given
            expected = function(copies if len(copies) > 1 else copies[0])
            result = translated(source, "3.11")
            outputs = expected if isinstance(expected, list | tuple) else [expected]
            for output, theirs in zip(result.outputs, outputs, strict=True):
                ours = numpy_reference.computed(output, inputs)
                np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=2e-5, err_msg=source)

    @pytest.mark.parametrize("python", PYTHONS)
    def test_nothing_else_is_guessed(self, python: str) -> None:
        only_here = SOURCES.ONLY_3 if python != "2.7" else ["lambda x: `x`"]
        for source in [*SOURCES.REFUSED, *only_here]:
            if source in functions()[python]:
                assert isinstance(translation(code_of(source, python)), Untranslatable), (
                    python,
                    source,
                )

    @pytest.mark.parametrize(
        ("source", "expression"),
        [
            ("lambda x: x / 2 + 7 / 2", "x / 2 + 7 // 2"),
            ("lambda x: x * (3 / 2)", "x * (3 // 2)"),
            ("lambda (a, b, c): a - b * c", "x[0] - x[1] * x[2]"),
        ],
    )
    def test_only_in_python_2(self, source: str, expression: str) -> None:
        result = translated(source, "2.7")
        assert result.expression == expression
        assert traced(expression, inputs_of(source)) == functions()["2.7"][source][3]

    @pytest.mark.parametrize("python", PYTHONS)
    def test_a_changed_byte_changes_the_expression_or_ends_it(self, python: str) -> None:
        """All mutants that were ever read as an expression, with what they really did in that Python."""
        read = 0
        for source, code, trace in compiled.mutants()[python]:
            _, defaults, closure, _ = functions()[python][source]
            result = translation([code, defaults, closure], inputs_of(source))
            if isinstance(result, Translation) and python in result.pythons:
                read += 1
                assert traced(result.expression, inputs_of(source)) == trace, (
                    source,
                    result.expression,
                )
        assert read > len(compiled.mutants()[python]) / 2


class TestReasons:
    """The report's reasons for a Lambda that stays one."""

    @pytest.mark.parametrize(
        ("source", "reason"),
        [
            ("lambda x: foo(x)", "`foo`, a name whose value is not stored"),
            ("lambda x: K.unknown(x)", "a call of `K.unknown`"),
            ("lambda x: x == 1", "`==`"),
            ("lambda x: x * (x > 0)", "arithmetic on bool"),
            ("lambda x, y: x + y", "an argument whose value is not stored"),
            ("lambda x: (x, 1)", "a result that is no tensor"),
            ("lambda x: K.mean(x, axs=1)", "`axs=` of `K.mean`"),
            ("def f(x):\n    y = [1]\n    y.append(2)\n    return x + y", "`.append` of a list"),
        ],
    )
    @pytest.mark.parametrize("python", PYTHONS)
    def test_are_the_same_in_all_pythons(self, python: str, source: str, reason: str) -> None:
        result = translation(code_of(source, python))
        assert isinstance(result, Untranslatable)
        assert result.reason == reason

    @pytest.mark.parametrize("python", PYTHONS)
    def test_an_argument_of_keras_that_nothing_reads(self, python: str) -> None:
        """Not the reason for a Lambda to stay."""
        result = translation(code_of("lambda x, mask=None: x", python))
        assert isinstance(result, Translation)

    @pytest.mark.parametrize(
        ("function", "expression"),
        [
            (lambda x, mask=None: x * 2, "x * 2"),  # noqa: ARG005 - nothing reads it, as is asked here
            (lambda x, mask: x * 2, "x * 2"),  # noqa: ARG005 - likewise
            (lambda x, training=True: x * 2, "x * 2"),  # noqa: ARG005 - likewise
            (lambda x, mask=None: x * mask, None),
            (lambda x, mask=None: x if mask is None else x * 2, None),
            (lambda x, mask=None: [x, mask][0], None),
            (lambda x, training=None: [x + k for k in [1] if training], None),
            (lambda mask: mask * 2, None),
        ],
    )  # fmt: skip
    def test_an_argument_of_keras_that_code_may_read(
        self, function: FunctionType, expression: str | None
    ) -> None:
        """It shows when the code is run without the argument."""
        text = base64.b64encode(marshal.dumps(function.__code__)).decode()
        result = translation([text, [*(function.__defaults__ or ())] or None, None])
        found = result.expression if isinstance(result, Translation) else None
        assert found == expression

    def test_tell_what_could_be_read(self) -> None:
        result = translation(code_of("lambda x: x + [1, 2][:1] * 3"))
        assert result == Untranslatable("`*` on a list and an integer", (), ("1", "2", "3"), "x")
        partly = translation(code_of("lambda x: x * foo"))
        assert isinstance(partly, Untranslatable)
        assert (partly.names, partly.expression) == (("foo",), "x")


MEAN = "lambda x: K.mean(x, axis=1)"
SCALE = "lambda x, a=2.0, b=[1, 2, 3, 4]: x * a + b"
CLOSURE = "(lambda a, b: lambda x: x * a - b)(3, 0.25)"


class TestConfigs:
    """The forms of a layer's config."""

    def expression(self, function: Json, **config: Json) -> str:
        result = translation(function, 1, **config)
        return result.expression if isinstance(result, Translation) else result.reason

    def test_the_forms_in_which_code_is_stored(self) -> None:
        code = str(functions()["3.6"][MEAN][0])
        raw = base64.b64decode(code).decode("raw_unicode_escape")
        lines = re.sub("(.{60})", r"\1\n", code)
        new: Json = {
            "class_name": "__lambda__",
            "config": {"code": code, "defaults": None, "closure": None},
        }
        forms: list[Json] = [[code, None, None], [lines, None, None], [raw, None, None], new]
        assert [self.expression(form) for form in forms] == ["K.mean(x, axis=1)"] * 4

    def test_defaults_arguments_and_closures_are_constants(self) -> None:
        code, defaults, _ = functions()["3.6"][SCALE][:3]
        assert self.expression([code, defaults, None]) == "x * 2.0 + [1, 2, 3, 4]"
        assert (
            self.expression([code, defaults, None], arguments={"a": 0.5})
            == "x * 0.5 + [1, 2, 3, 4]"
        )
        assert self.expression([code, None, None]) == "an argument whose value is not stored"
        assert (
            self.expression([code, defaults, None], arguments={"c": 1})
            == "an argument of the layer that the function does not take"
        )
        code, _, closure = functions()["3.12"][CLOSURE][:3]
        assert self.expression([code, None, closure]) == "x * 3 - 0.25"
        assert self.expression([code, None, None]) == "`a`, whose value is not stored"

    def test_a_stored_list_may_have_been_an_array(self) -> None:
        code, _, closure = functions()["3.6"]["(lambda s: lambda x: K.mean(x, axis=s[0]))([1, 2])"][
            :3
        ]
        assert self.expression([code, None, closure]) == "K.mean(x, axis=1)"
        code = functions()["3.6"][SCALE][0]
        array: Json = {"type": "ndarray", "value": [1.0, 2.0, 3.0, 4.0]}
        assert self.expression([code, [2.0, array], None]) == "x * 2.0 + array(...)"

    @pytest.mark.parametrize(
        "dtype",
        ["float16", "float64", {"class_name": "Policy", "config": {"name": "mixed_float16"}}],
    )
    def test_another_dtype_is_another_function(self, dtype: Json) -> None:
        assert (
            self.expression(code_of(MEAN), dtype=dtype)
            == "it computes in another dtype than float32"
        )
        policy: Json = {"class_name": "Policy", "config": {"name": "float32"}}
        assert self.expression(code_of(MEAN), dtype=policy) == "K.mean(x, axis=1)"

    def test_a_mask_of_its_own(self) -> None:
        assert self.expression(code_of(MEAN), mask=[1]) == "it computes a mask of its own"

    @pytest.mark.parametrize(
        ("config", "expression"),
        [
            (
                {"function": "l2_normalize", "module": "keras.backend", "arguments": {"axis": 1}},
                "l2_normalize(x, axis=1)",
            ),
            ({"function": "relu", "module": "tensorflow.python.keras.activations"}, "relu(x)"),
            (
                {"function": "relu", "module": "__main__"},
                "`relu`, a function that is stored by name",
            ),
            ({"function": "relu"}, "`relu`, a function that is stored by name"),
        ],
    )
    def test_functions_by_name_only_where_the_module_is_stored(
        self, config: dict[str, Json], expression: str
    ) -> None:
        assert self.expression(**config, function_type="function") == expression

    def test_what_is_no_function(self) -> None:
        broken: list[Json] = [
            None,
            3,
            [],
            [None, None, None],
            ["bm90IGNvZGU=", None, None],
            {"class_name": "x"},
            ["", 1, 2],
        ]
        assert all(isinstance(translation(function), Untranslatable) for function in broken)


class TestDialects:
    """The library whose function is called."""

    def result(self, source: str, **called: Any) -> str:
        result = translate({"function": code_of(source)}, LambdaCall(**called))
        return result.expression if isinstance(result, Translation) else result.reason

    def test_of_several_backends(self) -> None:
        assert self.result(MEAN, backend="theano") == "K.mean(x, axis=1)"
        assert (
            self.result("lambda x: K.l2_normalize(x, axis=1)", backend="tensorflow")
            == "K.l2_normalize(x, axis=1)"
        )
        reason = "`K.l2_normalize`, which depends on the backend"
        assert self.result("lambda x: K.l2_normalize(x, axis=1)", backend="theano") == reason
        assert self.result("lambda x: K.l2_normalize(x, axis=1)") == reason
        for version, answer in [("2.15.0", "K.softmax(x)"), ("2.3.1", None), ("3.4.1", None)]:
            made = self.result("lambda x: K.softmax(x)", keras_version=version)
            assert (made == answer) == (answer is not None)  # 2.4 to 2.15 ran in TensorFlow alone
        assert self.result("lambda x: x[1:]", backend="cntk") == "its backend is CNTK"

    def test_of_keras_3_only_what_never_changed(self) -> None:
        assert self.result(MEAN, keras_version="3.4.1", backend="tensorflow") == "K.mean(x, axis=1)"
        source = "lambda x: K.hard_sigmoid(x) + K.relu(x - 0.5)"
        assert (
            self.result(source, keras_version="3.4.1", backend="tensorflow")
            == "`K.hard_sigmoid` of Keras 3"
        )

    def test_what_names_are_taken_for(self) -> None:
        source = "lambda x: x * np.pi / math.sqrt(2.0)"
        assert translated(source).taken == {"np": "numpy", "math": "math"}
        assert translated("lambda x: abs(x - 1)").taken == {"abs": "the builtin"}
        assert translated("lambda x: x / 127.5 - 1").taken == {}
        assert translated(MEAN).taken == {"K": "keras.backend"}

    @pytest.mark.parametrize("dtype", ["int32", "uint8", "float16", "bool", "string"])
    def test_arithmetic_wants_floats(self, dtype: str) -> None:
        assert self.result("lambda x: x / 127.5 - 1", dtypes=[dtype]) == f"arithmetic on {dtype}"
        assert self.result("lambda x: x[1:]", dtypes=[dtype]) == "x[1:]"


class TestRescaling:
    """The layer that people wrote as a Lambda most."""

    @pytest.mark.parametrize(
        ("source", "scale", "offset"),
        [("lambda x: x / 127.5 - 1", 1 / 127.5, -1), ("lambda x: x * 0.5 + 2", 0.5, 2)],
    )
    def test_is_written_where_it_is_one(self, source: str, scale: float, offset: float) -> None:
        config: dict[str, Json] = {"scale": scale, "offset": offset, "dtype": "float32"}
        assert translated(source).outputs == (
            OpNode("keras.layers", "Rescaling", config, (Input(0),)),
        )

    @pytest.mark.parametrize(
        "source", ["lambda x: 1 - x", "lambda x: (x - 127.5) / 127.5", "lambda x: x - [1, 2, 3, 4]"]
    )
    def test_is_not_where_it_would_round_or_broadcast_otherwise(self, source: str) -> None:
        (output,) = translated(source).outputs
        assert isinstance(output, OpNode)
        assert output.class_name != "Rescaling"

    @pytest.mark.parametrize("dtype", ["int32", "int64"])
    @pytest.mark.parametrize(
        ("function", "name"), [(lambda x: x + 1, "Add"), (lambda x: x * 3, "Multiply")]
    )
    def test_is_not_written_for_whole_numbers(self, function: Any, name: str, dtype: str) -> None:
        """Hashed ids beyond 24 bits would lose their last bits in the layer's float32."""
        layer, _ = code_lambda(function)
        result = translate(layer.settings, LambdaCall(dtypes=[dtype]))
        assert isinstance(result, Translation)
        (output,) = result.outputs
        assert isinstance(output, OpNode)
        assert (output.module, output.class_name) == ("keras.src.ops.numpy", name)

    def test_is_not_written_where_a_mask_may_come_in(self) -> None:
        """A Lambda stops masks, a Rescaling of today passes them on."""
        result = translate(
            {"function": code_of("lambda x: x / 127.5 - 1")}, LambdaCall(masked=True)
        )
        assert isinstance(result, Translation)
        one = OpNode("keras.src.ops.numpy", "Divide", {}, (Input(0), 127.5))
        assert result.outputs == (OpNode("keras.src.ops.numpy", "Subtract", {}, (one, 1)),)

    def test_the_input_itself_becomes_a_new_tensor(self) -> None:
        assert translated("lambda x: x").outputs == (
            OpNode("keras.src.ops.numpy", "Multiply", {}, (Input(0), 1)),
        )


class TestImages:
    """Functions of one name that computed different things."""

    RESIZE = "lambda x: tf.image.resize(x, (8, 9))"

    @pytest.mark.parametrize(
        ("version", "understood"),
        [
            ("2.4.0-tf", True),
            ("2.15.0", True),
            ("2.2.4-tf", False),
            ("2.1.6-tf", False),
            ("2.2.4", False),
            ("2.3.1", False),
        ],
    )
    def test_resizing_depends_on_tensorflow(self, version: str, understood: bool) -> None:
        result = translate({"function": code_of(self.RESIZE)}, LambdaCall(keras_version=version))
        assert isinstance(result, Translation) == understood


class TestHostile:
    """Bytes that no compiler wrote: understood or refused, never more."""

    @pytest.mark.parametrize("python", PYTHONS)
    def test_any_bytes_changed(self, python: str) -> None:
        dice = random.Random(python)  # noqa: S311 - no secret
        known = functions()[python]
        for source in dice.choices(sorted(known), k=300):
            data = bytearray(base64.b64decode(known[source][0]))
            for _ in range(dice.randint(1, 3)):
                data[dice.randrange(len(data))] = dice.randrange(256)
            result = translation([base64.b64encode(data).decode(), *known[source][1:3]])
            assert isinstance(result, Translation | Untranslatable)

    @given(st.binary(max_size=60), st.sampled_from(PYTHONS))
    def test_any_instructions(self, instructions: bytes, python: str) -> None:
        result = translation([with_instructions(python, instructions), None, None])
        assert isinstance(result, Translation | Untranslatable)

    @pytest.mark.parametrize(
        "instructions",
        [
            bytes([0x90, 0xFF] * 20 + [0x64, 0xFF, 0x53, 0]),  # EXTENDED_ARG
            bytes([0x64, 200, 0x53, 0]),  # a constant that is not there
            bytes([0x7C, 9, 0x53, 0]),  # a local that is not there
            bytes([0x53, 0]),  # an empty stack
            bytes([0x7C, 0, 0x66, 0xFF, 0x53, 0]),  # a tuple of more than there is
            bytes([0x7C, 0]),  # no end
            bytes([0x7C]),  # half an instruction
            b"",
        ],
    )
    def test_instructions_that_no_compiler_writes(self, instructions: bytes) -> None:
        result = translation([with_instructions("3.6", instructions), None, None])
        assert isinstance(result, Untranslatable)
        assert result.reason == "its code is of no known Python"

    def test_an_expression_that_doubles(self) -> None:
        double = bytes([0x7C, 0, 0x7C, 0, 0x17, 0, 0x7D, 0])  # x = x + x
        result = translation(
            [with_instructions("3.6", double * 60 + bytes([0x7C, 0, 0x53, 0])), None, None]
        )
        assert isinstance(result, Untranslatable)
        assert result.reason in {"the expression is too long", "the expression is too large"}

    def test_a_list_that_doubles(self) -> None:
        double = bytes([0x7C, 0, 0x7C, 0, 0x66, 2, 0x7D, 0])  # x = (x, x)
        result = translation(
            [with_instructions("3.6", double * 60 + bytes([0x7C, 0, 0x53, 0])), None, None]
        )
        assert isinstance(result, Untranslatable)
        assert result.reason == "a long list"

    def test_work_is_bounded(self) -> None:
        copies = bytes([0x7C, 0] * 200 + [0x66, 200, 0x7D, 0])  # x = (x,) * 200
        again = bytes([0x7C, 0, 0x01, 0])
        result = translation(
            [
                with_instructions("3.6", copies + again * 2000 + bytes([0x7C, 0, 0x53, 0])),
                None,
                None,
            ]
        )
        assert isinstance(result, Untranslatable)

    def test_numbers_that_grow(self) -> None:
        power = bytes([0x64, 1, 0x64, 1, 0x13, 0] + [0x64, 1, 0x13, 0] * 30 + [0x53, 0])
        assert isinstance(
            translation([with_instructions("3.6", power), None, None]), Untranslatable
        )


def with_instructions(python: str, instructions: bytes) -> str:
    """`lambda x: x / 127.5 - 1` with other instructions."""
    data = base64.b64decode(functions()[python]["lambda x: x / 127.5 - 1"][0])
    known: Mapping[str, int] = {"2.7": 0x7C, "3.13": 0x95, "3.14": 0x80}
    first = known.get(python, 0x97 if python in {"3.11", "3.12"} else 0x7C)
    start = data.index(bytes([first]), 20)
    size = int.from_bytes(data[start - 4 : start], "little")
    length = len(instructions).to_bytes(4, "little")
    return base64.b64encode(
        data[: start - 4] + length + instructions + data[start + size :]
    ).decode()


def test_the_document_names_every_function() -> None:
    text = (Path(__file__).parents[5] / "docs" / "lambda-functions.md").read_text()
    rows = dict(re.findall(r"^\| `?([\w.]+)`? \| (`.*`) \|$", text, re.MULTILINE))
    named = {
        name if family == "Python" else f"{family}.{name}"
        for family, cell in rows.items()
        if family == "Python" or any(known.startswith(f"{family}.") for known in known_functions())
        for name in re.findall(r"`(\w+)`", cell)
    }
    assert named == set(known_functions())


@pytest.mark.parametrize("nested", [5_000, 40])
def test_stored_values_nest_as_deep_as_anybody_likes(nested: int) -> None:
    deep: Json = 0.5
    for _ in range(nested):
        deep = [deep]
    result = translate(
        {
            "function": code_of("lambda x, a=2.0, b=[1, 2, 3, 4]: x * a + b"),
            "arguments": {"a": deep},
        },
        LambdaCall(),
    )
    assert result == Untranslatable("lists in lists")


def test_an_expression_is_no_deeper_than_python_recurses() -> None:
    """`x + 1 + 1 ...`: translated up to a length, then told; never an error of Python's."""

    def sum_of(terms: int) -> Translation | Untranslatable:
        return translate({"function": _stored("f = lambda x: x" + " + 1" * terms)}, LambdaCall())

    assert isinstance(sum_of(100), Translation)
    for terms in (200, 400):
        result = sum_of(terms)
        assert isinstance(result, Untranslatable)
        assert result.reason in {"the expression is too large", "the expression is too long"}


def _stored(source: str) -> list[str | None]:
    """A function as today's Python stores it."""
    code = compile(source, "f", "exec").co_consts[0]
    return [base64.b64encode(marshal.dumps(code)).decode(), None, None]


@pytest.mark.parametrize(
    ("imports", "call"),
    [
        ("import tensorflow", "tensorflow.abs"),
        ("import tensorflow as tf", "tf.abs"),
        ("import keras.backend as K", "K.abs"),
        ("from keras import backend as K", "K.abs"),
        ("from tensorflow.keras import backend as K", "K.abs"),
        ("from keras.backend import tf as ktf", "ktf.abs"),
        ("from keras.backend import abs", "abs"),
        ("import numpy as np, tensorflow as tf", "tf.abs"),
    ],
)
def test_imports_inside_of_a_function(imports: str, call: str) -> None:
    """They say whose function it is: nothing is taken for anything."""
    function = _stored(f"def f(x):\n    {imports}\n    return {call}(x)")
    result = translate({"function": function}, LambdaCall(backend="tensorflow"))
    assert isinstance(result, Translation)
    assert (repr(result.outputs), result.taken) == (
        repr(translated("lambda x: abs(x)", inputs=1).outputs),
        {},
    )


@pytest.mark.parametrize(
    "imports", ["import scipy as tf", "from .mine import tf", "from tensorflow import x1 as tf"]
)
def test_imports_of_anything_else_are_not_followed(imports: str) -> None:
    code = f"def f(x):\n    {imports}\n    return tf.abs(x)"
    assert isinstance(
        translate({"function": _stored(code)}, LambdaCall(backend="tensorflow")), Untranslatable
    )
