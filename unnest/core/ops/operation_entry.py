"""The entry of an operation in the registry: its arguments, its NumPy function, and rules beside those of its kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeAlias

import numpy as np

from unnest.core.model import Json, Shape, Unknown
from unnest.core.ops.call import Value
from unnest.core.ops.element_dtype_and_checks import Array
from unnest.core.ops.operation_kinds import Kind

CONTENTS = ("x", "xs", "updates")
"""The arguments whose contents an operation hands on; all others say which, where to, or how many."""


IDLE_ARGUMENTS = frozenset(
    {"name", "out_type", "validate_indices", "output_type", "partition_strategy"}
)
"""Arguments that do not change what is put where; the last is of a table in several parts."""


ShapeRule: TypeAlias = "Callable[..., Shape]"
"""Arguments by parameter, as the NumPy function has them, a `Sized` for each tensor -> the shape of the result."""


AxesRule: TypeAlias = "Callable[..., tuple[list[str], str]]"
"""The numbers of axes of a product's tensors (None for one that is not known), its other arguments by parameter -> the
letters of each tensor's axes, and of the result's (`product_axes`)."""


Kernel: TypeAlias = "Callable[..., Array | list[Array]]"


class Theano(Enum):
    """Arguments for which a function of `K` computes the same on Theano: not every file names its backend."""

    SAME = "for all numbers"
    USUALLY = (
        "for floats of usual size: "
        "files of Keras 1, which do not tell their backend, are read with this assumption"
    )
    USUALLY_OF_ONE = "for floats of usual size, where it is called with one argument"


@dataclass(eq=False, slots=True, repr=False)
class Operation:
    """One operation.

    Attributes:
        name: plain name, the first of its entry.
        parameters: names of its arguments in order; `("*x",)` if all arguments, however many, are operands.
        kind: what it does to tensors in general.
        compute: function on arrays of numbered elements or of plain numbers; None if only the kind is known.
        aliases: what dialects call an argument -> the parameter.

        default_axis: the axis of an operation along axes where the call names none; None for all axes.
        number_function: the NumPy function that plain numbers are computed with, of the kinds MAP and ELEMENTWISE.
        keeps_shape: whether the result has the shape of the first tensor.
        shape_rule: the rule for the result's shape, where that of the kind does not hold.
        axes_rule: of a product, which axes are summed over.
        reorders_rows, mixes_rows: of layers and stored code (OPAQUE), whether rows come out in another order, or
            computed from other rows.

        keras3_class: the class of Keras 3's operation, if it is one; "" otherwise.
        keras3_config: what that class's constructor takes beside the call's arguments.
        python_operator: the operator of Python that computes it.
        theano: where the functions of Keras's backend among its names compute the same on Theano.
        takes_booleans: whether its tensors are of booleans.
        same_on_integers: whether Keras 3 computes the same on tensors of whole numbers, and gives their dtype.
        floats_alone: whether TensorFlow takes tensors of floats alone, of which Keras 3 computes the same.
        result_dtype: the dtype of its result, where that is not the tensors'; "" otherwise.
        function_name: the function that computes its nodes, where none of TensorFlow's has the operation's name.

    """

    name: str
    parameters: tuple[str, ...]
    kind: Kind
    compute: Kernel | None = None
    aliases: Mapping[str, str] = field(default_factory=dict)
    default_axis: int | None = None
    number_function: Callable[..., Any] | None = None
    keeps_shape: bool = False
    shape_rule: ShapeRule | None = None
    axes_rule: AxesRule | None = None
    reorders_rows: bool = False
    mixes_rows: bool = False
    keras3_class: str = ""
    keras3_config: Mapping[str, Json] = field(default_factory=dict)
    python_operator: str = ""
    theano: Theano | None = None
    takes_booleans: bool = False
    same_on_integers: bool = False
    floats_alone: bool = False
    result_dtype: str = ""
    function_name: str = ""

    @property
    def adds(self) -> bool:
        """True for additions, which join rows that each operand holds between zeros."""
        return self.number_function is np.add

    @property
    def chooses_by_mask(self) -> bool:
        """True if the first tensor says which of the others a number is taken from."""
        return self.parameters[:1] == ("mask",)

    @property
    def names_shape(self) -> bool:
        """True if it gives its tensors a shape that the call names."""
        return "shape" in self.parameters and self.kind in (Kind.MOVE, Kind.REPEAT, Kind.SCATTER)

    @property
    def takes_all(self) -> bool:
        """True if all arguments, by whatever name, are operands in order."""
        return self.parameters[:1] == ("*x",)

    def position(self, parameter: str) -> int | None:
        """Return the index of a parameter; None if the operation does not have it."""
        return self.parameters.index(parameter) if parameter in self.parameters else None

    def bind(self, args: Sequence[Value], kwargs: Mapping[str, Value]) -> dict[str, Value]:
        """Return the arguments by parameter.

        Raises:
            Unknown: If an argument is given that the operation does not take, and that is not empty.

        """
        if self.takes_all:
            return {
                "x": [*args, *(value for key, value in kwargs.items() if key not in IDLE_ARGUMENTS)]
            }
        bound = dict(zip(self.parameters, args, strict=False))
        for key, value in kwargs.items():
            if key in IDLE_ARGUMENTS:
                continue
            parameter = self.aliases.get(key, key)
            if parameter in self.parameters and parameter not in bound:
                bound[parameter] = value
            elif not _is_empty(value):  # an argument that would change what the function does
                raise Unknown(f"the argument {key} of {self.name}")
        if len(args) > len(self.parameters):
            raise Unknown(f"{self.name} with more arguments than it takes")
        return bound


def _is_empty(value: Value) -> bool:
    return value is None or (not isinstance(value, np.ndarray) and value in (0, False, "", [], {}))
