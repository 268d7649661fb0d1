"""Functions of libraries as operations: what dialects spell differently."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from unnest.core.frontends.library_calls_as_op_calls import library_call
from unnest.core.frontends.python_values import Name
from unnest.core.frontends.stored_code_tracer.tracer_base import static_shape
from unnest.core.interpreters.trace import TracedTensor
from unnest.core.model import Ref, Unknown
from unnest.core.ops.call import OpCall

X = TracedTensor(Ref("", 0, 0), (np.zeros((6, 4)),))


@pytest.mark.parametrize(
    ("path", "args", "kwargs", "call"),
    [
        ("tensorflow.strided_slice", [X, [0], [2]], {}, OpCall("stridedslice", [X, [0], [2]], {})),
        ("tensorflow.to_int32", [X], {}, OpCall("cast", [X, "int32"], {})),
        (
            "tensorflow.cast",
            [X, Name("tensorflow.float16")],
            {},
            OpCall("cast", [X, "float16"], {}),
        ),
        (
            "tensorflow.cast",
            [X],
            {"dtype": Name("tensorflow.bool")},
            OpCall("cast", [X], {"dtype": "bool"}),
        ),
        ("keras.backend.concatenate", [[X]], {}, OpCall("concatenate", [[X]], {"axis": -1})),
        ("keras.backend.concatenate", [[X], 0], {}, OpCall("concatenate", [[X], 0], {})),
        ("numpy.concatenate", [[X]], {}, OpCall("concatenate", [[X]], {})),
        ("tensorflow.concat", [0, [X]], {}, OpCall("concat", [[X], 0], {})),
        ("tensorflow.concat", [[X], 0], {}, OpCall("concat", [[X], 0], {})),
        ("tensorflow.split", [0, 2, X], {}, OpCall("split", [X, 2, 0], {})),
        ("tensorflow.split", [X, 2, 0], {}, OpCall("split", [X, 2, 0], {})),
        ("keras.ops.split", [X, [2, 4]], {}, OpCall("k3split", [X, [2, 4]], {})),
        ("keras.backend.slice", [X, [0], [2]], {}, OpCall("slice", [X, [0], [2]], {})),
        ("keras.backend.repeat", [X, 3], {}, OpCall("repeatvector", [X, 3], {})),
        ("tensorflow.repeat", [X, 3, 0], {}, OpCall("repeat", [X, 3, 0], {})),
    ],
)
def test_calls(path: str, args: list[Any], kwargs: dict[str, Any], call: OpCall) -> None:
    assert library_call(path, args, kwargs) == call


def test_the_static_shape_does_not_hold_the_number_of_rows() -> None:
    assert static_shape(X) == (None, 4)
    with pytest.raises(Unknown):
        static_shape(TracedTensor(Ref("", 0, 0), (np.zeros(()),)))
