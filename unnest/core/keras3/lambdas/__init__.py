"""Lambdas without their Python: stored byte code, read as data, becomes operations of Keras 3, or stays what it is."""

from unnest.core.keras3.lambdas.translate_lambda import (
    LambdaCall,
    Translation,
    Untranslatable,
    translate,
)

__all__ = ["LambdaCall", "Translation", "Untranslatable", "translate"]
