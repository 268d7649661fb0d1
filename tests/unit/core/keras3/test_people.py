"""Models as people wrote them, by Keras 1.2.2, 2.2.4 and tf.keras 2.15: carried whole, but for what is said here."""

from __future__ import annotations

from pathlib import Path

import pytest

import unnest
from tests.layer_cases import PEOPLE, cases, stacks

REFUSED: set[tuple[str, str]] = set()

#: Model -> what its author has to give to the loader.
OWN_CODE = {
    "attention_layer": "AttentionLayer", "capsule": "Capsule", "cyclegan": "InstanceNormalization",
    "efficientnet": "FixedDropout", "hard_swish": "hard_swish", "mask_rcnn_head": "BatchNorm",
    "own_attention": "Attention", "own_group_normalization": "GroupNormalization",
    "own_layer_normalization": "LayerNormalization", "position_embedding": "PositionEmbedding",
}  # fmt: skip
#: The same of Keras 2.2.4, which had no such functions: today's of that name are not taken.
OWN_THEN = {"custom_gelu": "gelu", "custom_mish": "mish"}
#: Lambdas that stay: no arithmetic, or not known to be.
KEPT = {"lambda_dimension", "preprocess_app"}
#: The same of Keras 2.2.4: which pixel centres it had is unknown.
KEPT_THEN = {"self_driving_resize2"}


@pytest.mark.parametrize("stack", stacks(PEOPLE))
def test_outcomes(stack: str, tmp_path: Path) -> None:
    """The line that loads names all that is to be given, and nothing else."""
    models = list(cases(stack, PEOPLE))
    assert len(models) >= 10
    then = stack == "k224"
    for case in models:
        name = case.name.removeprefix("people-")
        path = case.extract(tmp_path)
        result = unnest.fix(path, path.with_name("today.keras"), keras="3")
        assert (result.error is not None) is ((stack, name) in REFUSED), (name, result.error)
        if result.error is not None:
            continue
        codes = {f.code for f in result.findings}
        own = OWN_CODE.get(name) or (OWN_THEN.get(name) if then else None)
        kept = name in KEPT or (then and name in KEPT_THEN)
        assert ("custom-objects" in codes, "lambda-kept" in codes) == (
            own is not None or kept,
            kept,
        ), name
        assert result.load is not None
        assert ("custom_objects=" in result.load) is (own is not None or kept), result.load
        assert own is None or f"custom_objects={{{own!r}: {own}}}" in result.load
