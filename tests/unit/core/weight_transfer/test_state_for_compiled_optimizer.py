"""An optimizer's class by its name and those of its variables."""

from __future__ import annotations

import pytest

from unnest.core.weight_transfer.state_for_compiled_optimizer import class_in


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (("adam",), "Adam"), (("adam_3",), "Adam"), (("SGD",), "SGD"),
        (("loss_scale_optimizer",), "LossScaleOptimizer"),
        (("training/Adam/conv/kernel/m:0",), "Adam"), (("Adadelta/accum_grad/dense/kernel",), "Adadelta"),
        (("mine",), None), ((), None),
    ],
)  # fmt: skip
def test_class_in_names(names: tuple[str, ...], kind: str | None) -> None:
    assert class_in(names) == kind
