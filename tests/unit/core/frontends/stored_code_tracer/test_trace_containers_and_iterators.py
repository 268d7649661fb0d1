"""Lists are taken apart, and grow where no other call sees them."""

from __future__ import annotations

from tests.unit.core.frontends.code_of import inputs, result, stored
from unnest.core.frontends.stored_code_tracer.trace_stored_code import follow


def test_results_whose_number_is_not_known_are_taken_apart() -> None:
    first, second = result("values, indices = tf.nn.top_k(x, 2)", "return [values, indices]")
    assert (first.shape if first.arrays else None, first.ref == second.ref) == (None, False)


def test_lists_that_other_calls_see_stay_as_they_are() -> None:
    def answer(*lines: str) -> object:
        return follow(stored(*lines), {}, lambda _: inputs(2), [2], lambda trace: len(trace.steps))

    assert answer("return x + [x[0]]") is not None
    assert answer("x.append(x[0])", "return x") is None
