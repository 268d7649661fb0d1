"""Operations are steps of the trace; what Python is given leaves it."""

from __future__ import annotations

from tests.unit.core.frontends.code_of import traced
from unnest.core.interpreters.trace import TracedTensor


def test_tensors_and_the_steps_behind_them() -> None:
    trace = traced("n = tf.shape(x)[0]", "y = x[:n] * 2", "return tf.reshape(x, [-1])")
    assert trace is not None
    assert isinstance(trace.result, TracedTensor)
    assert trace.result.shape == (24,)
    assert [step.call.name for step in trace.steps] == [
        "",
        "shape",
        "getitem",
        "getitem",
        "multiply",
        "reshape",
    ]
    assert [step.call.name for step in trace.steps_needed_for(trace.result.ref)] == ["", "reshape"]


def test_a_number_that_python_is_given_leaves_the_trace() -> None:
    in_it, out_of_it = (
        traced("return x[: tf.shape(x)[0] // 2]"),
        traced("return x[: int(tf.shape(x)[0]) // 2]"),
    )
    assert in_it is not None
    assert out_of_it is not None
    assert (in_it.leaves_trace, out_of_it.leaves_trace) == (False, True)
